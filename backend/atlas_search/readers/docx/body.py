"""From the tree of a Word document to its paragraphs, with page breaks in them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from operator import or_

from lxml import etree

from atlas_search.readers.docx.numbering import W
from atlas_search.readers.docx.styles import Style, Styles
from atlas_search.readers.markup import plain
from atlas_search.readers.table_rows import header_of, write_row

EXPLICIT = "\f"
"""A page break that the author made."""

RENDERED = "\v"
"""A page break where Word broke the page when it last saved the file."""

_CONTAINERS = frozenset({"sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"})
_LEFT_OUT = frozenset({"del", "moveFrom", "pPr", "rPr", "rt", "Fallback"})
_AS_TEXT = {
    "tab": " ",
    "ptab": " ",
    "cr": "\n",
    "noBreakHyphen": "-",
    "lastRenderedPageBreak": RENDERED,
}
_WORD = re.compile(rf"[^\s{EXPLICIT}{RENDERED}]")
_NOTES = {"footnoteReference": "footnote", "endnoteReference": "endnote"}


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph, or a row of a table. `text` has page breaks in it; `level` 0 is no heading."""

    text: str
    level: int = 0

    @property
    def words(self) -> str:
        """The text without page breaks."""
        return re.sub(f"[{EXPLICIT}{RENDERED}]", "", self.text).strip()


@dataclass(slots=True)
class Body:
    """Reads paragraphs in document order, and keeps what it meets on the way.

    `notes` are kind and id of the notes referred to, with their numbers: the first is marked `[1]`.
    A note that is referred to again keeps its number: a file could ask for a long one at each word.
    `left_out` counts what plain text has no place for. With `counts` automatic numbers are written.
    """

    styles: Styles
    notes: dict[tuple[str, str], int] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    counts: bool = True

    def paragraphs(self, container: etree._Element) -> Iterator[Paragraph]:
        """Every paragraph below `container`. Recursive: the parser refuses 256 levels."""
        for block in container:
            tag = _tag(block)
            if tag == "p":
                yield from self._paragraph(block)
            elif tag == "tbl":
                yield from self._table(block)
            elif tag in _CONTAINERS:
                yield from self.paragraphs(block)

    def _paragraph(self, element: etree._Element) -> Iterator[Paragraph]:
        style = self.styles.of(element.find(f"{W}pPr"))
        boxes: list[etree._Element] = []
        text = "".join(self._inline(element, boxes))
        if style.is_numbered:
            text = self._numbered(text, style)
        paragraph = Paragraph(f"{EXPLICIT}{text}" if style.new_page else text, style.level)
        yield paragraph
        for box in boxes:
            yield from self.paragraphs(box)

    def _numbered(self, text: str, style: Style) -> str:
        """The text behind its number, which stands after the page breaks at its beginning."""
        number = self.styles.numbering.number(style.list, style.depth) if self.counts else ""
        first = _WORD.search(text)
        if first is None:
            self.styles.numbering.doubt(style.list)
            return text
        self.left_out["automatic numbers"] += not number
        if not number:
            return text
        return f"{text[: first.start()]}{number} {text[first.start() :]}"

    def _inline(self, paragraph: etree._Element, boxes: list[etree._Element]) -> Iterator[str]:
        """The pieces of its text. What stands in text boxes is put into `boxes`."""
        opened = [iter(paragraph)]
        while opened:
            element = next(opened[-1], None)
            if element is None:
                opened.pop()
            elif (tag := _tag(element)) == "t":
                yield plain(element.text or "")
            elif tag == "txbxContent":
                boxes.append(element)
            elif tag and tag not in _LEFT_OUT:
                yield self._mark(element, tag)
                opened.append(iter(element))

    def _mark(self, element: etree._Element, tag: str) -> str:
        if tag == "br":
            return EXPLICIT if element.get(f"{W}type") == "page" else "\n"
        if tag in _NOTES:
            note = _NOTES[tag], element.get(f"{W}id", "")
            return f"[{self.notes.setdefault(note, len(self.notes) + 1)}]"
        self.left_out["symbols of special fonts"] += tag == "sym"
        return _AS_TEXT.get(tag, "")

    def _table(self, table: etree._Element) -> Iterator[Paragraph]:
        header: tuple[str, ...] = ()
        for number, row in enumerate(_below(table, "tr")):
            is_header = _is_header(row, first=number == 0)
            cells = _drop_repeats([list(self.paragraphs(cell)) for cell in _below(row, "tc")])
            yield from _row(cells, () if is_header else header)
            if is_header:
                header = header_of([_words(cell) for cell in cells])


def _row(cells: Sequence[list[Paragraph]], header: Sequence[str]) -> Iterator[Paragraph]:
    """One paragraph, unless a cell holds several."""
    filled = [sum(bool(paragraph.words) for paragraph in cell) for cell in cells]
    if max(filled, default=0) > 1 or sum(filled) < 2:
        for cell in cells:
            yield from cell
        return
    breaks = sum(paragraph.text.count(RENDERED) for cell in cells for paragraph in cell)
    yield Paragraph(RENDERED * breaks + write_row([_words(cell) for cell in cells], header))


def _words(cell: Sequence[Paragraph]) -> str:
    return " ".join(" ".join(paragraph.words for paragraph in cell).split())


def _is_header(row: etree._Element, *, first: bool) -> bool:
    """Whether Word repeats the row on each page, or all words of the first row are bold."""
    if row.find(f"{W}trPr/{W}tblHeader") is not None:
        return True
    runs = [run for run in row.iter(f"{W}r") if "".join(run.itertext()).strip()]
    return first and bool(runs) and all(_is_bold(run) for run in runs)


def _is_bold(run: etree._Element) -> bool:
    bold = run.find(f"{W}rPr/{W}b")
    return bold is not None and bold.get(f"{W}val", "true") not in {"0", "false", "off"}


def _drop_repeats(cells: Sequence[list[Paragraph]]) -> list[list[Paragraph]]:
    """Word may mark one page break in every cell of a row; it is kept in the first of them."""
    breaking = [any(RENDERED in paragraph.text for paragraph in cell) for cell in cells]
    return [
        [replace(paragraph, text=paragraph.text.replace(RENDERED, "")) for paragraph in cell]
        if had_break
        else cell
        for cell, had_break in zip(cells, accumulate(breaking, or_, initial=False), strict=False)
    ]


def _below(element: etree._Element, tag: str) -> Iterator[etree._Element]:
    """The children with that tag, also those in content controls and tracked insertions."""
    for child in element:
        if _tag(child) == tag:
            yield child
        elif _tag(child) in _CONTAINERS:
            yield from _below(child, tag)


def _tag(element: etree._Element) -> str:
    """The name without its namespace; empty for a comment."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
