"""A plain footnote: all that is known, in the order in which a reader looks for it."""

from atlas_search.output.styles.dates import day_first
from atlas_search.output.styles.names import in_order
from atlas_search.output.styles.style import Style, named, place
from atlas_search.output.styles.work import Work
from atlas_search.output.styles.written import ended, italic, joined

LABELS = {"page": "p.", "column": "col."}


def _reference(work: Work) -> str:
    where = place(work.pin, LABELS) or (f"“{work.heading}”" if work.heading else "")
    said = joined(
        ", ",
        in_order(work.authors),
        named(italic(work.title), work.report),
        work.speaker,
        work.body,
        day_first(work.dating),
        where,
    )
    # a full stop behind an address would be read as part of it
    return f"{said}, {work.url}" if work.url else ended(said)


PLAIN = Style("Plain footnote", _reference)
