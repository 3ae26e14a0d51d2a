"""Bluebook, in the form of court documents: The Bluebook, 21st ed., rules B10-B18, 10, 12-15, 18.

Titles are italic, as the Bluepages have them, and not in small capitals.
"""

import re

from atlas_search.output.styles.dates import month_first_short
from atlas_search.output.styles.names import in_order
from atlas_search.output.styles.style import Style, named, place
from atlas_search.output.styles.work import Work
from atlas_search.output.styles.written import bracketed, ended, italic, joined

LABELS = {
    "page": "",
    "column": "col.",
    "s": "§",
    "para": "¶",
    "art": "art.",
    "reg": "reg.",
    "r": "r.",
    "cl": "cl.",
    "sch": "sched.",
}


def _reference(work: Work) -> str:
    pin = place(work.pin, LABELS)
    match work.kind:
        case "case" if work.report:
            # B10.1: Brown v. Board of Education, 347 U.S. 483, 495 (1954)
            return ended(named(_name(work), work.reported(f", {pin}" if pin else "")))
        case "case":
            decided = bracketed(joined(" ", work.body, month_first_short(work.dating)))
            return ended(joined(", ", joined(" ", _name(work), decided), pin))
        case "statute":
            # T2: Privacy Act 2020, § 10(1) (N.Z.)
            country = bracketed(_COUNTRIES.get(work.jurisdiction, work.jurisdiction))
            return ended(joined(" ", joined(", ", work.title, pin), country))
        case "book":
            # B15.1: Richard Kluger, Simple Justice 12 (Knopf 1976)
            issued = bracketed(joined(" ", work.body, work.year))
            book = joined(" ", italic(work.title), pin, issued)
            return ended(joined(", ", in_order(work.authors), book))
    # B18.1: Author, Title, Site (Jan. 1, 2020), https://…
    who = work.speaker or in_order(work.authors)
    at = f"at {pin}" if pin and work.kind == "document" else pin
    title = joined(", ", who, italic(work.title), work.body)
    issued = bracketed(month_first_short(work.dating))
    return ended(joined(", ", joined(" ", title, issued), at, work.url))


def _name(work: Work) -> str:
    return italic(re.sub(r" v (?=\S)", " v. ", work.title))


_COUNTRIES = {"New Zealand": "N.Z.", "United Kingdom": "UK", "Canada": "Can.", "Ireland": "Ir."}

BLUEBOOK = Style("Bluebook", _reference)
