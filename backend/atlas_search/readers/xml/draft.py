"""From a composed text to a draft."""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass

from lxml import etree

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.page_labels import labels_of_pages
from atlas_search.readers.xml.pages import Mark, counted_labels, counted_pages, printed_pages
from atlas_search.readers.xml.writer import Composed

NO_TEXT = "it holds no text"
_LINE_BREAKS = ("lb", "br", "break")
PAGES, COLUMNS = "pages", "columns"


def draft(
    composed: Composed,
    metadata: Mapping[str, object],
    *,
    title: str = "",
    key: str = "",
    breaks: str = PAGES,
    remarks: Iterable[str] = (),
    speeches_known: bool = True,
) -> Read:
    """The draft of a document whose breaks begin `breaks`; Skipped if it has no text.

    Empty metadata are left out; `speakers`, and `pages_are` if that is not pages, are added.
    `speeches_known` is as in Draft.
    """
    if not composed.text:
        return Skipped(NO_TEXT, key)
    numbering = _numbering(composed.marks, breaks)
    speakers = distinct(segment.speaker for segment in composed.segments)
    unit = breaks if numbering.is_printed and breaks != PAGES else ""
    found = {**metadata, "speakers": speakers, "pages_are": unit}
    return Draft(
        composed.text,
        title,
        key,
        {name: value for name, value in found.items() if value not in ("", [], None)},
        numbering.pages,
        composed.segments,
        "; ".join(filter(None, [*remarks, numbering.remark])),
        labels_of_pages(numbering.labels),
        speeches_known=speeches_known,
    )


def starts_of(unit: str) -> str:
    """Breaks of which only those are known at which a speech or a heading begins."""
    return f"{unit} where speeches begin"


def distinct(values: Iterable[str]) -> list[str]:
    """Each text once and none empty, in the order of its first occurrence."""
    return list(dict.fromkeys(filter(None, values)))


def text_of(element: etree._Element | None) -> str:
    """All text inside `element` on one line, broken lines joined by blanks; empty for None."""
    if element is None:
        return ""
    if next(element.iter(*_LINE_BREAKS), None) is not None:
        element = deepcopy(element)
        for found in element.iter(*_LINE_BREAKS):
            found.tail = f" {found.tail or ''}"
    return " ".join("".join(element.itertext()).split())


def unique_keys(keys: Sequence[str]) -> list[str]:
    """`keys`, repeated ones with a number: `a`, `a-2`. An empty one becomes its place from 1."""
    counts: dict[str, int] = {}
    for place, key in enumerate(keys, start=1):
        base = name = key or str(place)
        while name in counts:
            counts[base] += 1
            name = f"{base}-{counts[base]}"
        counts[name] = 1
    return list(counts)


@dataclass(frozen=True, slots=True)
class _Numbering:
    """The pages of a document, whether by their printed numbers, and what is amiss with those.

    `labels` are what is printed on each, or none.
    """

    pages: tuple[int, ...]
    labels: tuple[str, ...] = ()
    is_printed: bool = False
    remark: str = ""


def _numbering(marks: Sequence[Mark], breaks: str) -> _Numbering:
    are_breaks = breaks in (PAGES, COLUMNS)
    marks = marks if are_breaks else _changes(marks)
    if not any(label for label, _ in marks):
        return _Numbering(counted_pages(marks) if are_breaks else (0,))
    printed = printed_pages(marks)
    odd = printed.out_of_order
    wrong = f"{', '.join(odd[:3])}{' ...' if len(odd) > 3 else ''}"
    if printed.pages:
        remark = f"page numbers out of order are kept as labels: {wrong}"
        return _Numbering(printed.pages, printed.labels, True, remark if wrong else "")
    if are_breaks:
        remark = (
            "pages are counted from 1, as their numbers are out of order and kept as labels: "
            f"{wrong}"
        )
        return _Numbering(counted_pages(marks), counted_labels(marks), remark=remark)
    return _Numbering((0,), remark=f"no page numbers: the {breaks} are out of order: {wrong}")


def _changes(marks: Sequence[Mark]) -> list[Mark]:
    """Only the marks with another label than the one before."""
    before = ["", *(label for label, _ in marks)]
    return [mark for mark, label in zip(marks, before, strict=False) if mark[0] != label]
