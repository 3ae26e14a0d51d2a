"""APA: Publication Manual, 7th ed., chapters 8 to 10; legal works 11.1-11.8.

The place stands in the text, in brackets behind the quotation.
"""

from atlas_search.output.styles.dates import year_first
from atlas_search.output.styles.names import families, with_initials
from atlas_search.output.styles.style import Style, named, place
from atlas_search.output.styles.work import Work
from atlas_search.output.styles.written import bracketed, ended, italic, joined

LABELS = {"page": "p.", "column": "col.", "s": "s.", "para": "para.", "art": "art.", "reg": "reg."}


def _reference(work: Work) -> str:
    # no full stop behind an address (9.36)
    return joined(" ", _entry(work), work.url)


def _entry(work: Work) -> str:
    match work.kind:
        case "case" if work.report:
            # 11.4: Obergefell v. Hodges, 576 U.S. 644 (2015); not italic in the list
            return ended(named(work.title, work.report))
        case "case":
            return ended(
                joined(" ", work.title, bracketed(joined(" ", work.body, work.year or "n.d.")))
            )
        case "statute":
            return ended(joined(" ", work.title, bracketed(work.jurisdiction)))
    who = [work.speaker] if work.kind == "debate" and work.speaker else work.authors
    author, date = with_initials(who), bracketed(_date(work))
    if not author:
        # 9.12: without an author the title takes its place
        return joined(" ", f"{ended(italic(work.title))} {date}.", _publisher(work))
    return joined(" ", f"{ended(author)} {date}.", ended(italic(work.title)), _publisher(work))


def _in_text(work: Work) -> str:
    who = work.speaker if work.kind == "debate" else families(work.authors)
    # the title of an act holds its year
    year = "" if work.kind == "statute" and work.year in work.title else work.year or "n.d."
    title = work.title if work.kind == "statute" else italic(work.title)
    return bracketed(joined(", ", who or title, year, place(work.pin, LABELS)))


def _date(work: Work) -> str:
    return (work.year if work.kind == "book" else year_first(work.dating)) or "n.d."


def _publisher(work: Work) -> str:
    return ended(work.body) if work.body else ""


APA = Style("APA", _reference, _in_text)
