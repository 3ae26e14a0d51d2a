"""OSCOLA: Oxford University Standard for the Citation of Legal Authorities, 4th ed."""

import re
from dataclasses import replace

from atlas_search.output.styles.dates import day_first
from atlas_search.output.styles.names import in_order
from atlas_search.output.styles.style import Style, place
from atlas_search.output.styles.work import Work
from atlas_search.output.styles.written import bracketed, ended, italic, joined

LABELS = {"page": "", "column": "col"}
HOUSES = {"house of commons": "HC", "house of lords": "HL"}
_NEUTRAL = re.compile(r"\[\d{4}\] (?:UK|EW)[A-Za-z ]+ \d+(?: \(\w+\))?\Z")


def _reference(work: Work) -> str:
    pin = place(work.pin, LABELS)
    match work.kind:
        case "case":
            return ended(_case(work))
        case "statute":
            # 2.4.2: Human Rights Act 1998, s 15(1)(b)
            return ended(joined(", ", work.title, pin))
        case "debate":
            # 3.4.1: HC Deb 3 February 1977, vol 389, col 973
            house = HOUSES.get(work.body.lower(), work.body)
            held = joined(" ", house, "Deb", day_first(work.dating))
            return ended(joined(" ", joined(", ", held, pin), bracketed(work.speaker)))
        case "book":
            # 3.2.1: Timothy Endicott, Administrative Law (OUP 2009) 12
            issued = bracketed(joined(" ", work.body, work.year))
            book = joined(" ", italic(work.title), issued, pin)
            return ended(joined(", ", in_order(work.authors), book))
    # 3.4.8: Sarah Cole, ‘Virtual Friend’ (Naked Law, 1 May 2009) <http://…> accessed 19 May 2009
    issued = bracketed(joined(", ", work.body, day_first(work.dating)))
    seen = f"<{work.url}> accessed {_day(work)}" if work.url else ""
    text = joined(" ", f"‘{work.title}’", issued, pin, seen)
    return ended(joined(", ", in_order(work.authors), text))


def _case(work: Work) -> str:
    """2.1.1: Corr v IBC Vehicles Ltd [2008] UKHL 13, [2008] 1 AC 884 [42]."""
    title = italic(without_stops(work.title))
    labels = LABELS | {"para": "["}
    pin = place(work.pin, labels)
    if not work.report:
        # 2.1.6: Stubbs v Sayer (CA, 8 November 1990)
        decided = bracketed(joined(", ", work.body, day_first(work.dating)))
        return joined(" ", title, decided, pin)
    behind = "" if not pin else f" {pin}" if pin.startswith("[") else f", {pin}"
    ordered = replace(work, report=_neutral_first(work.report))
    return f"{title} {without_stops(ordered.reported(behind))}"


def _neutral_first(report: str) -> str:
    """The neutral citation comes before that of a report (2.1.1)."""
    parts = report.split(", ")
    return ", ".join(sorted(parts, key=lambda part: _NEUTRAL.match(part) is None))


def without_stops(text: str) -> str:
    """Abbreviations have no full stops (1.3.1): `Roe v Wade`, `410 US 113`."""
    return re.sub(r"(?<=[^\W\d_])\.(?=\s|,|\)|\Z|[A-Z])", "", text)


def _day(work: Work) -> str:
    return f"{work.today.day} {work.today:%B %Y}"


OSCOLA = Style("OSCOLA", _reference)
