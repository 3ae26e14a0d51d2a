"""Reading Word files (.docx): one document a file."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from itertools import accumulate
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from zipfile import ZipFile

from lxml import etree

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.archive import BadArchive, is_damage, open_archive, part, xml_parser
from atlas_search.readers.docx_styles import ParagraphStyle, Styles, W, is_on, styles_of
from atlas_search.readers.markup import (
    LONGEST_SPAN,
    MOST_COLUMNS,
    Heading,
    header_of,
    plain,
    sections,
    tag_of,
    words,
    write_row,
)
from atlas_search.readers.metadata import doi_in
from atlas_search.readers.print import raised
from atlas_search.readers.titles import title_of_file

if TYPE_CHECKING:
    from docx.document import Document
    from docx.opc.package import OpcPackage
    from docx.opc.part import Part


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

    def _numbered(self, text: str, style: ParagraphStyle) -> str:
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
        before = ""
        opened = [iter(paragraph)]
        while opened:
            element = next(opened[-1], None)
            if element is None:
                opened.pop()
            elif (tag := _tag(element)) == "t":
                text = plain(element.text or "")
                yield (text := raised(text, before) if _is_raised(element) else text)
                before = text or before
            elif tag == "txbxContent":
                boxes.append(element)
            elif tag and tag not in _LEFT_OUT:
                yield (mark := self._mark(element, tag))
                before = mark or before
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
        above: list[list[Paragraph]] = []
        for number, row in enumerate(_below(table, "tr")):
            is_header = _is_header(row, first=number == 0)
            own = list(_below(row, "tc"))
            read = _drop_repeats([list(self.paragraphs(cell)) for cell in own])
            cells = above = _in_columns(own, read, above)
            shown = [cell for cell in cells if cell or (header and not is_header)]
            yield from _row(shown, () if is_header else header)
            if is_header:
                names: list[str] = []
                for cell in cells:
                    names.append(_words(cell) if cell else names[-1])
                header = header_of(names)


def _in_columns(
    cells: Sequence[etree._Element],
    read: Sequence[list[Paragraph]],
    above: Sequence[list[Paragraph]],
) -> list[list[Paragraph]]:
    """Return what is read of a row's cells by columns: what goes on from above stands in this one
    too, and there is nothing in the further columns that a cell spans."""
    columns: list[list[Paragraph]] = []
    for cell, own in zip(cells, read, strict=True):
        merge = cell.find(f"{W}tcPr/{W}vMerge")
        if merge is not None and merge.get(f"{W}val") != "restart" and len(above) > len(columns):
            words = _words(above[len(columns)])
            own = [*own, Paragraph(words if len(words) <= LONGEST_SPAN else "")]
        span = cell.find(f"{W}tcPr/{W}gridSpan")
        stated = "" if span is None else span.get(f"{W}val", "")
        columns += [own, *[[]] * (min(int(stated), MOST_COLUMNS) - 1 if stated.isdecimal() else 0)]
    return columns


def _is_raised(text: etree._Element) -> bool:
    mark = text.find(f"../{W}rPr/{W}vertAlign")
    return mark is not None and mark.get(f"{W}val") == "superscript"


def _row(cells: Sequence[list[Paragraph]], header: Sequence[str]) -> Iterator[Paragraph]:
    """A row of a table as one paragraph, unless a cell holds several."""
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
    """Say if Word repeats the row on each page, or all words of the first row are bold."""
    if row.find(f"{W}trPr/{W}tblHeader") is not None:
        return True
    runs = [run for run in row.iter(f"{W}r") if "".join(run.itertext()).strip()]
    return first and bool(runs) and all(is_on(run.find(f"{W}rPr/{W}b")) for run in runs)


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


_RELATIONS = "_rels/.rels"
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
_USUAL = rb"http://schemas.openxmlformats.org/\1/2006/"
"""The elements are the same, in other namespaces (ISO/IEC 29500-1 and 29500-4)."""


def usual_kind(archive: ZipFile) -> BytesIO | None:
    """Return a file of the strict kind with the usual namespaces; None for any other.

    Raises BadArchive.
    """
    if _RELATIONS not in archive.namelist() or not _STRICT.search(part(archive, _RELATIONS)):
        return None
    usual = BytesIO()
    with ZipFile(usual, "w") as copy:
        for name in archive.namelist():
            content = part(archive, name)
            if name.endswith((".xml", ".rels")):
                content = _STRICT.sub(_USUAL, content)
            copy.writestr(name, content)
    usual.seek(0)
    return usual


_BREAKS = f"[{EXPLICIT}{RENDERED}]"


@dataclass(slots=True)
class Text:
    """The text written so far.

    `breaks` are page breaks since the last word, `awaited` those of them that Word marks once
    more where the next words begin.
    """

    pieces: list[str] = field(default_factory=list)
    length: int = 0
    pages: list[int] = field(default_factory=lambda: [0])
    headings: list[Heading] = field(default_factory=list)
    breaks: int = 0
    awaited: int = 0
    rendered: bool = False

    def write(self, paragraphs: Iterable[Paragraph]) -> None:
        """Add paragraphs, a blank line between them. A break at the very end begins no page."""
        for paragraph in paragraphs:
            opened = False
            for piece in re.split(f"({_BREAKS})", _tidy(paragraph.text)):
                if piece in (EXPLICIT, RENDERED):
                    self._break(piece)
                elif piece:
                    if not opened:
                        self._open(paragraph)
                    opened = True
                    self._add(piece)

    def _break(self, mark: str) -> None:
        self.rendered |= mark == RENDERED
        if mark == RENDERED and self.awaited:
            self.awaited -= 1
        else:
            self.breaks += 1
            self.awaited += mark == EXPLICIT

    def _open(self, paragraph: Paragraph) -> None:
        if self.length:
            self.pieces.append("\n\n")
            self.length += 2
        if paragraph.level:
            title = " ".join(paragraph.words.split())
            self.headings.append(Heading(self.length, paragraph.level, title))

    def _add(self, piece: str) -> None:
        self.pages += [self.length] * self.breaks
        self.breaks = self.awaited = 0
        self.pieces.append(piece)
        self.length += len(piece)


def _tidy(text: str) -> str:
    """`text` without blanks around its lines; a page begins with a letter, not with a blank."""
    text = re.sub(rf"({_BREAKS}+)(\s+)", r"\2\1", text) if re.search(_BREAKS, text) else text
    text = "\n".join(line.strip(" ") for line in text.split("\n")).strip("\n")
    text = re.sub(rf"(?<![ \n])[ \n]+({_BREAKS}+)$", r"\1", text)
    return re.sub(r"\n{3,}", "\n\n", text)


_RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
_CORE = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"
_FIELDS = {
    "title": "title",
    "creator": "author",
    "keywords": "tags",
    "subject": "subject",
    "identifier": "doi",
    "language": "language",
    "created": "created",
    "modified": "modified",
}
_TAKEN_BACK = tuple(f".//{W}pPr/{W}rPr/{W}{mark}" for mark in ("del", "moveFrom"))
_UNSET = {"Word Document", "PowerPoint Presentation", "python-docx", "openpyxl"}
_DAY = re.compile("[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?")
_PAGE = 10_000  # characters; no printed page holds more


@dataclass(frozen=True)
class DocxReader:
    """Build a collection from Word files; pages are those of Word's last rendering."""

    suffixes: ClassVar[frozenset[str]] = frozenset({".docx"})
    options: ClassVar[Mapping[str, object]] = {"version": 7}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """Read a file as Word shows it with all changes accepted.

        Pages are those of Word's last rendering, which it stores in the file; the author's own page
        breaks count too. Sections come from the styles `Title` and `Heading 1` to `9`. Footnotes
        and endnotes stand at the end, on the last page and in a section `Notes`; `[1]` marks their
        place in the text. Headers, footers and comments are not read. Automatic numbers are
        computed (decimal, letters, roman), unless tracked changes take paragraphs back.
        """
        try:
            yield _draft(_open(path))
        except BadArchive as error:
            yield Skipped(str(error))


def _open(path: Path) -> "Document":
    # 100 ms to import, which a command that reads no Word file should not wait for
    import docx

    with open_archive(path, "a Word") as archive:
        usual = usual_kind(archive)
    try:
        return docx.Document(usual or str(path))
    except Exception as error:  # python-docx raises whatever it trips over
        if isinstance(error, OSError) and not is_damage(error):
            raise
        what = " ".join(str(error).split()) or type(error).__name__
        raise BadArchive(
            f"python-docx cannot open it ({what}); open it in Word and save it as .docx anew"
        ) from error


def _draft(document: "Document") -> Read:
    part = document.part
    styles = _related_part(part, f"{_RELATED}styles"), _related_part(part, f"{_RELATED}numbering")
    body = Body(styles_of(*styles))
    text = Text()
    body.counts = _is_countable(document.element)
    for container in document.element.iterchildren(f"{W}body"):
        text.write(body.paragraphs(container))
    if not text.length:
        return Skipped("it holds no text")
    _write_notes(text, document, body)
    # python-docx would make up the properties of a file that has none
    metadata = properties(_related_part(document.part.package, _CORE))
    return Draft(
        text="".join(text.pieces),
        title=title_of_file(metadata.get("title", "")),
        metadata=metadata,
        pages=tuple(text.pages),
        segments=sections(text.headings),
        remark=_remark(body, text),
    )


def _is_countable(document: etree._Element) -> bool:
    """Say if Word counts the paragraphs that are read: not if the end of one is taken back, or
    fields of another kind count with them."""
    fields = (field.text or "" for field in document.iter(f"{W}instrText"))
    marks = (document.find(mark) for mark in _TAKEN_BACK)
    return not any("LISTNUM" in field for field in fields) and all(m is None for m in marks)


def _write_notes(text: Text, document: "Document", body: Body) -> None:
    body.counts = False  # Word counts them apart
    start = text.length + len("\n\n")
    text.breaks = 0  # of a break at the very end
    text.write(_notes(document, body))
    if text.length > start:
        text.headings.append(Heading(start, 1, "Notes"))


def _notes(document: "Document", body: Body) -> Iterator[Paragraph]:
    """The notes that the text refers to, in that order, the first paragraph of each numbered."""
    notes = {
        (kind, note.get(f"{W}id", "")): note
        for kind in ("footnote", "endnote")
        for note in _related_part(document.part, f"{_RELATED}{kind}s").iter(f"{W}{kind}")
    }
    for reference, number in tuple(body.notes.items()):
        note = notes.get(reference)
        lines = [p.words for p in body.paragraphs(note) if p.words] if note is not None else []
        body.left_out["notes that the file lacks"] += not lines
        for place, paragraph in enumerate(lines):
            yield Paragraph(paragraph if place else f"[{number}] {paragraph}")


def properties(root: etree._Element) -> dict[str, str]:
    """The core properties of an Office file as metadata."""
    fields = {_FIELDS[tag]: words(child) for child in root if (tag := tag_of(child)) in _FIELDS}
    fields["doi"] = doi_in(fields.get("doi", ""))
    for name in ("created", "modified"):
        day = _DAY.match(fields.get(name, ""))
        fields[name] = day[0] if day else ""
    return {name: value for name, value in fields.items() if value and value not in _UNSET}


def _related_part(source: "Part | OpcPackage", kind: str) -> etree._Element:
    """The tree of a part by its kind of relationship; empty if there is none."""
    try:
        return etree.fromstring(source.part_related_by(kind).blob, xml_parser())
    except (KeyError, ValueError):
        return etree.Element("none")
    except etree.XMLSyntaxError as error:
        what = kind.rpartition("/")[2]
        raise BadArchive(
            f"its {what} are damaged: {error.msg}; open it in Word and save it anew"
        ) from error


def _remark(body: Body, text: Text) -> str:
    counts = sorted(body.left_out.items())
    left_out = ", ".join(f"{what} ({count})" for what, count in counts if count)
    remarks = [f"left out: {left_out}"] if left_out else []
    if not text.rendered and text.length > _PAGE * len(text.pages):
        remarks.append("it does not say where pages begin: open it in Word and save it anew")
    return "; ".join(remarks)
