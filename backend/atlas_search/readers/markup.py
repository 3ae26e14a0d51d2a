"""Turning a tree of (X)HTML blocks into plain text with sections."""

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

from atlas_search.core.domain import Segment

if TYPE_CHECKING:
    from lxml import etree


LONGEST = 60
"""Characters of a heading that is repeated in each row."""


LONGEST_SPAN = 200
"""Characters of a cell that is repeated in each row and column that it spans."""

MOST_COLUMNS = 100
"""That one cell spans: a file could say millions."""


def write_row(cells: Sequence[str], header: Sequence[str] = ()) -> str:
    """A row as one line, `Port: Northport | Depth: 9 m`.

    Without a `header`, or with one of another number of columns (as above merged cells), only the
    cells, joined by ` | `. With one the empty cells are left out.
    """
    if len(cells) != len(header):
        return " | ".join(cells).strip()
    pairs = zip(header, cells, strict=True)
    return " | ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)


def header_of(cells: Sequence[str]) -> tuple[str, ...]:
    """The headings of columns that a row holds; none if they are too few or too long to repeat."""
    if sum(map(bool, cells)) < 2 or max(map(len, cells)) > LONGEST:
        return ()
    return tuple(cell.rstrip(": ") for cell in cells)


_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_ROWS = frozenset({"tr", "row"})
_CELLS = frozenset({"td", "th", "cell"})
_BREAKS = frozenset({"br", "lb"})
_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form head header hgroup hr html item legend li list main menu nav ol "
    "p pre quote search section summary table tbody tfoot thead ul".split()
) | (_HEADINGS.keys() | _ROWS | _CELLS)
_HIDDEN = frozenset(
    "annotation annotation-xml audio button canvas datalist iframe nav noscript rp rt script "
    "select style svg template textarea title video".split()
)
PERMALINKS = frozenset("¶ § # 🔗 ∞ ⚓ \uf0c1".split())
"""Signs that a heading or a paragraph shows as the link to itself."""

_MAX_TITLE = 200
# What a browser does not show: controls, soft hyphen, zero-width space, byte order mark. Those
# of Latin-1 are letters of Windows-1252 that were mislabelled, and the HTML standard reads them so.
_PLAIN: dict[int, str | None] = {
    **dict.fromkeys([*range(9), *range(0x0E, 0x20), 0x7F, 0xAD, 0x200B, 0xFEFF], None),
    **{code: bytes([code]).decode("cp1252", "ignore") for code in range(0x80, 0xA0)},
    **dict.fromkeys([0x0B, 0x0C, 0xA0, 0x2028, 0x2029], " "),
}


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading at an offset of a text; `level` 1 is the outermost. No `title` ends a section."""

    start: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class Flat:
    """The text of a tree, and its headings."""

    text: str
    headings: tuple[Heading, ...]

    @property
    def segments(self) -> tuple[Segment, ...]:
        """One segment a heading, from its first letter on."""
        return sections(self.headings)


def flatten(root: "etree._Element") -> Flat:
    """Every visible paragraph below `root`, a blank line between them.

    Takes HTML, XHTML and the output of trafilatura. White space is collapsed as a browser would,
    a `br` is a line end, `pre` keeps its lines, and a table's row is one paragraph unless a cell
    holds several: its cells joined by ` | `, each behind the heading of its column if the table
    has such a row. An `hgroup` is one heading of several lines. What pages show around or over a
    text is left out: scripts, forms, navigation, links of a place to itself, readings of Chinese
    characters. Any depth will do.
    """
    flow = _Flow()
    flow.open(root)
    opened = [(root, iter(root))]
    while opened:
        element, children = opened[-1]
        child = next(children, None)
        if child is None:
            opened.pop()
            flow.close(element)
            flow.add(element.tail if opened else "")
        elif _is_visible(child):
            flow.open(child)
            opened.append((child, iter(child)))
        else:
            flow.skip(child)
    flow.end_paragraph()  # a root that is no block, such as `font`, ends none itself
    return _flat(flow.paragraphs)


def sections(headings: Iterable[Heading]) -> tuple[Segment, ...]:
    """A segment for each heading, its section the path of the headings above it.

    `headings` are in the order in which they nest, the segments in order of `start`; of several
    at one offset the last names the section.
    """
    above: list[Heading] = []
    segments: dict[int, Segment] = {}
    for heading in headings:
        while above and above[-1].level >= heading.level:
            above.pop()
        if heading.title:
            above.append(heading)
        path = " > ".join(title.title[:_MAX_TITLE] for title in above)
        segments[heading.start] = Segment(heading.start, path)
    return tuple(segments[start] for start in sorted(segments))


def plain(text: str) -> str:
    """`text` without invisible and control characters; only `\\n` ends a line."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_PLAIN)


def tag_of(element: "etree._Element") -> str:
    """The name of an element without its namespace; empty for a comment or the like."""
    return element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else ""


def attribute(element: "etree._Element", name: str) -> str:
    """The value of an attribute that has a namespace, whatever it is; empty if there is none."""
    return next((value for key, value in element.items() if key.endswith(f"}}{name}")), "")


def words(element: "etree._Element") -> str:
    """All text of an element, on one line."""
    return " ".join(plain("".join(element.itertext())).split())


@dataclass(slots=True)
class _Paragraph:
    text: str
    level: int


@dataclass(slots=True)
class _Row:
    """An open row: the paragraph with which each cell begins, the columns and rows that it spans,
    and whether all are headings."""

    starts: list[int] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    heads: bool = True


@dataclass(slots=True)
class _Table:
    """An open table: the headings of its columns, and whether a `thead` is being read.

    `below` are the texts that go on in the next rows, by their column, and in how many; `was_head`
    says that the row before held headings.
    """

    header: tuple[str, ...] = ()
    in_head: bool = False
    below: dict[int, tuple[str, int]] = field(default_factory=dict)
    was_head: bool = False

    def in_columns(
        self, texts: Sequence[str], spans: Sequence[tuple[int, int]]
    ) -> list[tuple[str, bool]]:
        """The texts of a row by columns, those of cells that go on from above among them.

        Not the first of the columns that one spans are marked so.
        """
        cells: list[tuple[str, bool]] = []
        below: dict[int, tuple[str, int]] = {}
        waiting = zip(texts, spans, strict=True)
        while True:
            column = len(cells)
            if column in self.below:
                (text, rows), columns = self.below[column], 1
            elif (cell := next(waiting, None)) is not None:
                text, (columns, rows) = cell
            else:
                break
            again = text if len(text) <= LONGEST_SPAN else ""
            cells += [(text, True), *[(again, False)] * (columns - 1)]
            if rows > 1:
                below |= dict.fromkeys(range(column, column + columns), (again, rows - 1))
        self.below = below
        return cells


@dataclass(slots=True)
class _Flow:
    """The paragraphs so far and the one being read; `level` is that of the heading being read.

    `grouped` counts the open groups of headings, whose parts are lines of one paragraph.
    """

    paragraphs: list[_Paragraph] = field(default_factory=list)
    inline: list[str] = field(default_factory=list)
    level: int = 0
    grouped: int = 0
    preserved: int = 0
    rows: list[_Row] = field(default_factory=list)
    tables: list[_Table] = field(default_factory=lambda: [_Table()])

    def open(self, element: "etree._Element") -> None:
        tag = tag_of(element)
        if tag in _BREAKS:
            self.inline.append("\n")
        elif tag in _BLOCKS and not self.grouped:
            self.end_paragraph()
            self.level = _level(element) or self.level
            self.grouped += tag == "hgroup" and self.level > 0
            self.preserved += tag == "pre"
            self._open_table(element, tag)
        self.add(element.text)

    def close(self, element: "etree._Element") -> None:
        tag = tag_of(element)
        if self.grouped and tag != "hgroup":
            self.inline.append("\n" * (tag in _BLOCKS))
        elif tag in _BLOCKS:
            self.grouped = 0
            self.end_paragraph()
            self.level = 0 if _level(element) else self.level
            self.preserved -= tag == "pre"
            self._close_table(tag)

    def skip(self, element: "etree._Element") -> None:
        from lxml import etree

        if element.tag is etree.Entity:
            self.add(html.unescape(element.text))
        elif tag_of(element) in _BLOCKS:
            self.end_paragraph()
        self.add(element.tail)

    def add(self, text: str | None) -> None:
        if text:
            text = plain(text)
            self.inline.append(text if self.preserved else re.sub(r"[ \t\n]+", " ", text))

    def _open_table(self, element: "etree._Element", tag: str) -> None:
        if tag == "table":
            self.tables.append(_Table())
        elif tag == "thead":
            self.tables[-1].in_head = True
        elif tag in _ROWS:
            self.rows.append(_Row())
        elif tag in _CELLS and self.rows:
            row = self.rows[-1]
            row.starts.append(len(self.paragraphs))
            row.spans.append((span(element, "colspan"), span(element, "rowspan")))
            # trafilatura writes `<cell role="head">`
            row.heads = row.heads and (tag == "th" or element.get("role") == "head")

    def _close_table(self, tag: str) -> None:
        if tag == "table":
            self.tables.pop()
        elif tag == "thead":
            self.tables[-1].in_head = False
        elif tag in _ROWS:
            self._join_cells(self.rows.pop())

    def end_paragraph(self) -> None:
        """Also ends a heading: an `h2` that nobody closed does not swallow the document."""
        text = "".join(self.inline)
        self.inline.clear()
        lines = text.split("\n")
        if not self.preserved:
            lines = [re.sub(" +", " ", line).lstrip() for line in lines]
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in lines)).strip("\n")
        if text:
            self.paragraphs.append(_Paragraph(text, self.level))
            self.level = 0

    def _join_cells(self, row: _Row) -> None:
        starts, table = row.starts, self.tables[-1]
        ends = [*starts[1:], len(self.paragraphs)]
        cells = [self.paragraphs[a:b] for a, b in zip(starts, ends, strict=False)]
        texts = [" ".join(cell[0].text.split()) if len(cell) == 1 else "" for cell in cells]
        filled = [*filter(None, texts), *(text for text, _ in table.below.values() if text)]
        columns = table.in_columns(texts, row.spans)
        is_apart = any(len(cell) > 1 or (cell and cell[0].level) for cell in cells)
        if not any(cells) or is_apart or len(filled) < 2:
            return
        is_head = row.heads or table.in_head
        header = () if is_head else table.header
        in_all = [text if is_first or is_head else "" for text, is_first in columns]
        once = [text for text, is_first in columns if is_first]
        written = write_row(in_all, header) if len(in_all) == len(header) else write_row(once)
        self.paragraphs[starts[0] :] = [_Paragraph(written, 0)]
        if is_head:
            own = header_of(in_all)
            both = zip(table.header, own, strict=False)
            is_second = table.was_head and len(own) == len(table.header)
            names = (" ".join(filter(None, dict.fromkeys(pair))) for pair in both)
            table.header = tuple(names) if is_second else own
        table.was_head = is_head


def span(cell: "etree._Element", name: str) -> int:
    """The columns or rows that a cell spans, 1 where it does not say."""
    stated = cell.get(name, "")
    return max(1, min(int(stated), MOST_COLUMNS)) if re.fullmatch("[0-9]{1,9}", stated) else 1


def _level(element: "etree._Element") -> int:
    """1 to 6 for a heading, 0 for anything else; trafilatura writes `<head rend="h2">`.

    A group has the level of its highest heading.
    """
    tag = tag_of(element)
    if tag == "hgroup":
        return min(filter(None, map(_level, element)), default=0)
    return _HEADINGS.get(element.get("rend", "h2"), 2) if tag == "head" else _HEADINGS.get(tag, 0)


def _is_visible(element: "etree._Element") -> bool:
    tag = tag_of(element)
    if not tag or tag in _HIDDEN or element.get("hidden") is not None:
        return False
    if tag == "head" and tag_of(element.getparent()) == "html":
        return False
    if tag == "a" and (element.text or "").strip() in PERMALINKS:
        return len(element) > 0 or "#" not in element.get("href", "")
    style = element.get("style")
    return style is None or "display:none" not in style.replace(" ", "").lower()


def _flat(paragraphs: Sequence[_Paragraph]) -> Flat:
    starts = accumulate((len(paragraph.text) + 2 for paragraph in paragraphs), initial=0)
    return Flat(
        "\n\n".join(paragraph.text for paragraph in paragraphs),
        tuple(
            Heading(start, paragraph.level, " ".join(paragraph.text.split()))
            for start, paragraph in zip(starts, paragraphs, strict=False)
            if paragraph.level
        ),
    )
