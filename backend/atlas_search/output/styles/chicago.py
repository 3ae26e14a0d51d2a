"""Chicago, notes: The Chicago Manual of Style, 17th ed., chapter 14 (legal works 14.269-14.305)."""

from atlas_search.output.styles.dates import month_first
from atlas_search.output.styles.names import in_order
from atlas_search.output.styles.style import Style, named, place
from atlas_search.output.styles.work import Work
from atlas_search.output.styles.written import bracketed, ended, italic, joined

LABELS = {"page": "", "column": "col.", "s": "s.", "para": "para.", "art": "art.", "reg": "reg."}


def _reference(work: Work) -> str:
    pin = place(work.pin, LABELS)
    match work.kind:
        case "case" if work.report:
            # 14.276, 14.298: Miranda v. Arizona, 384 U.S. 436, 444 (1966)
            return ended(named(italic(work.title), work.reported(f", {pin}" if pin else "")))
        case "case":
            decided = bracketed(joined(", ", work.body, month_first(work.dating)))
            return ended(joined(", ", joined(" ", italic(work.title), decided), pin, work.url))
        case "statute":
            return ended(joined(", ", work.title, work.report, pin))
        case "book":
            # 14.23: Zadie Smith, Swing Time (Penguin Press, 2016), 315
            issued = bracketed(joined(", ", work.body, work.year))
            book = joined(" ", italic(work.title), issued)
            return ended(joined(", ", in_order(work.authors), book, pin, work.url))
    who = work.speaker or in_order(work.authors)
    # the comma stands before the closing quotation mark (6.9)
    behind = joined(", ", work.body, month_first(work.dating), pin, work.url)
    title = f"“{work.title},” {behind}" if behind else f"“{ended(work.title)}”"
    return ended(joined(", ", who, title))


CHICAGO = Style("Chicago (notes)", _reference)
