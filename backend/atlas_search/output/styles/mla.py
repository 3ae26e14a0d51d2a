"""MLA: MLA Handbook, 9th ed., chapter 5; the place stands in the text (6.1-6.30).

Government bodies are authors of what courts and parliaments issue (5.17-5.20).
"""

from atlas_search.output.styles.dates import day_first_short
from atlas_search.output.styles.names import families, family_first
from atlas_search.output.styles.style import Style, place
from atlas_search.output.styles.work import Work
from atlas_search.output.styles.written import bracketed, ended, italic, joined

LABELS = {
    "page": "",
    "column": "col.",
    "§": "sec.",
    "s": "sec.",
    "para": "par.",
    "art": "art.",
    "reg": "reg.",
    "sch": "sched.",
}


def _reference(work: Work) -> str:
    official = work.kind in ("case", "statute", "debate")
    author = work.body if official and work.kind != "debate" else ""
    who = author or work.speaker or family_first(work.authors)
    date = work.year if work.kind == "book" else day_first_short(work.dating)
    issued = joined(", ", "" if author else work.body, date, work.report, _address(work.url))
    return joined(
        " ", ended(who) if who else "", ended(_title(work)), ended(issued) if issued else ""
    )


def _title(work: Work) -> str:
    """A work that stands alone is italic, a text of a collection in quotation marks."""
    alone = work.kind in ("case", "statute", "book")
    return italic(work.title) if alone else f"“{ended(work.title)}”"


def _in_text(work: Work) -> str:
    who = work.speaker or families(work.authors, "and")
    alone = work.kind in ("case", "statute", "book")
    name = who or (italic(work.title) if alone else f"“{work.title}”")
    pin = place(work.pin, LABELS)
    # a page follows without a comma (6.16), any other place behind one (6.20)
    numbered = work.pin is not None and work.pin.kind == "page"
    return bracketed(joined(" " if numbered else ", ", name, pin))


def _address(url: str) -> str:
    """Without `https://` (5.95)."""
    return url.partition("://")[2]


MLA = Style("MLA", _reference, _in_text)
