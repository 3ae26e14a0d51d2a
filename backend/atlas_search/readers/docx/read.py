"""Reading Word files (.docx): one document a file."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from lxml import etree

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.archive import BadArchive, is_damage, open_archive, xml_parser
from atlas_search.readers.docx.body import Body, Paragraph
from atlas_search.readers.docx.numbering import W
from atlas_search.readers.docx.strict import is_strict, usual_kind
from atlas_search.readers.docx.styles import styles_of
from atlas_search.readers.docx.text import Text
from atlas_search.readers.markup import Heading, sections, tag_of, words
from atlas_search.readers.titles import title_of_file

if TYPE_CHECKING:
    from docx.document import Document
    from docx.opc.package import OpcPackage
    from docx.opc.part import Part

_OLE = bytes.fromhex("D0CF11E0A1B11AE1")
_RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
_CORE = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"
_FIELDS = {
    "title": "title",
    "creator": "author",
    "keywords": "tags",
    "subject": "subject",
    "language": "language",
    "created": "created",
    "modified": "modified",
}
_TAKEN_BACK = tuple(f".//{W}pPr/{W}rPr/{W}{mark}" for mark in ("del", "moveFrom"))
_UNSET = {"Word Document", "python-docx"}
_DAY = re.compile("[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?")
_PAGE = 10_000  # characters; no printed page holds more


@dataclass(frozen=True)
class DocxReader:
    """Reads Word files as Word shows them with all changes accepted.

    Pages are those of Word's last rendering, which it stores in the file; the author's own page
    breaks count too. Sections come from the styles `Title` and `Heading 1` to `9`. Footnotes and
    endnotes stand at the end, on the last page and in a section `Notes`; `[1]` marks their place
    in the text. Headers, footers and comments are not read. Automatic numbers are
    computed (decimal, letters, roman), unless tracked changes take paragraphs back.
    """

    suffixes: ClassVar[frozenset[str]] = frozenset({".docx"})
    options: ClassVar[Mapping[str, object]] = {"version": 5}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """The one document of the file; its XML states its own encoding."""
        yield _read(path)


def docx_reader() -> DocxReader:
    """Build a collection from Word files; pages are those of Word's last rendering."""
    return DocxReader()


def _read(path: Path) -> Read:
    if _is_ole(path):
        return Skipped(_ole_reason(path))
    try:
        return _draft(_open(path))
    except BadArchive as error:
        return Skipped(str(error))


def _open(path: Path) -> "Document":
    # 100 ms to import, which a command that reads no Word file should not wait for
    import docx

    with open_archive(path, "a Word") as archive:
        usual = usual_kind(archive) if is_strict(archive) else None
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
    metadata = _metadata(document)
    return Draft(
        text="".join(text.pieces),
        title=title_of_file(metadata.get("title", "")),
        metadata=metadata,
        pages=tuple(text.pages),
        segments=sections(text.headings),
        remark=_remark(body, text),
    )


def _is_countable(document: etree._Element) -> bool:
    """Whether Word counts the paragraphs that are read: not if the end of one is taken back, or
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
    found = {
        (kind, note.get(f"{W}id", "")): note
        for kind in ("footnote", "endnote")
        for note in _related_part(document.part, f"{_RELATED}{kind}s").iter(f"{W}{kind}")
    }
    for reference, number in tuple(body.notes.items()):
        note = found.get(reference)
        lines = [p.words for p in body.paragraphs(note) if p.words] if note is not None else []
        body.left_out["notes that the file lacks"] += not lines
        for place, paragraph in enumerate(lines):
            yield Paragraph(paragraph if place else f"[{number}] {paragraph}")


def _metadata(document: "Document") -> dict[str, str]:
    """The core properties. Python-docx would make up those of a file that has none."""
    root = _related_part(document.part.package, _CORE)
    found = {_FIELDS[tag]: words(child) for child in root if (tag := tag_of(child)) in _FIELDS}
    for name in ("created", "modified"):
        day = _DAY.match(found.get(name, ""))
        found[name] = day[0] if day else ""
    return {name: value for name, value in found.items() if value and value not in _UNSET}


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


def _is_ole(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_OLE)) == _OLE


def _ole_reason(path: Path) -> str:
    if "EncryptedPackage".encode("utf-16-le") in path.read_bytes():
        return "it is encrypted; remove the password in Word and save it anew"
    return "it is a Word file of the old kind (.doc); save it as .docx in Word or LibreOffice"
