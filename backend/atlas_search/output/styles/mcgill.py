"""McGill: Canadian Guide to Uniform Legal Citation, 9th ed., rules 1-6 of the English part."""

from atlas_search.output.styles.dates import day_first
from atlas_search.output.styles.names import in_order
from atlas_search.output.styles.oscola import without_stops
from atlas_search.output.styles.style import Style, place
from atlas_search.output.styles.work import Work
from atlas_search.output.styles.written import bracketed, ended, italic, joined

LABELS = {"page": "", "column": "col"}
BY_AT = ("page", "column", "para")


def _reference(work: Work) -> str:
    match work.kind:
        case "case" if work.report:
            # 3.2: R v Latimer, 2001 SCC 1 at para 27; 7.3: 347 US 483 at 495 (1954)
            report = without_stops(work.reported(_behind(work)))
            return ended(f"{italic(without_stops(work.title))}, {report}")
        case "case":
            # 3.13: Title (date), court
            decided = bracketed(day_first(work.dating))
            name = joined(" ", italic(without_stops(work.title)), decided)
            return ended(joined(", ", name, work.body) + _behind(work))
        case "statute":
            # 2.1: title in italics; 5.2 (NZ)
            country = bracketed(_COUNTRIES.get(work.jurisdiction, work.jurisdiction))
            return ended(joined(" ", italic(work.title), country) + _behind(work))
        case "debate":
            # 4.1.1: House of Commons Debates, 32-1 (4 May 1981) at 9281 (Hon Mark MacGuigan)
            held = joined(" ", italic(joined(" ", work.body, "Debates")), _day(work))
            return ended(joined(" ", held + _behind(work), bracketed(work.speaker)))
        case "book":
            # 6.2: Author, Title (Publisher, year) at 12
            issued = bracketed(joined(", ", work.body, work.year))
            book = joined(" ", italic(work.title), issued) + _behind(work)
            return ended(joined(", ", in_order(work.authors), book))
    # 6.19: Author, “Title” (1 May 2009) at 3, online: <https://…>
    text = joined(" ", f"“{work.title}”", _day(work)) + _behind(work)
    online = f"online: <{work.url}>" if work.url else ""
    return ended(joined(", ", in_order(work.authors), text, work.body, online))


def _behind(work: Work) -> str:
    """` at 12`, ` at para 27`; a section behind a comma."""
    pin = place(work.pin, LABELS)
    if work.pin is None:
        return ""
    return f" at {pin}" if work.pin.kind in BY_AT else f", {pin}"


def _day(work: Work) -> str:
    return bracketed(day_first(work.dating))


_COUNTRIES = {
    "New Zealand": "NZ",
    "United Kingdom": "UK",
    "Australia": "Austl",
}

MCGILL = Style("McGill", _reference)
