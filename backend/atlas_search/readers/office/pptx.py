"""Reading presentations (.pptx): one document a file, one page a slide.

The parts are read as XML: python-pptx passes over what stands in diagrams and in shapes of newer
versions, and cannot open files of the strict kind.
"""

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from zipfile import ZipFile

from lxml import etree

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.archive import BadArchive, open_archive, xml_part
from atlas_search.readers.docx import (
    EXPLICIT,
    Paragraph,
    Text,
    properties,
    row_paragraphs,
    words_in,
)
from atlas_search.readers.markup import (
    LONGEST_SPAN,
    MOST_COLUMNS,
    Heading,
    header_of,
    plain,
    sections,
    tag_of,
)
from atlas_search.readers.print import labels_of_pages
from atlas_search.readers.raised import raised
from atlas_search.readers.titles import title_of_file

NOTES = "Speaker notes"
_TITLES = ("title", "ctrTitle")
_REPEATED = ("dt", "ftr", "hdr", "sldNum", "sldImg")
"""Placeholders of what stands on every slide."""

Related = Mapping[str, tuple[str, str]]
"""The kind and the name of each part that a part refers to, by the id it is referred to with."""


@dataclass(frozen=True)
class PptxReader:
    """Reads presentations. A page is a slide, a section its title with its text.

    The text comes in the order of the shapes, which is that of screen readers, the title first.
    Tables are read row by row; what the speaker notes say follows in a section of its own. Dates,
    footers and numbers that stand on every slide are not read, and neither are comments.
    """

    suffixes: ClassVar[frozenset[str]] = frozenset({".pptx"})
    options: ClassVar[Mapping[str, object]] = {"version": 1}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """The one document of the file; its XML states its own encoding."""
        try:
            with open_archive(path, "a PowerPoint") as archive:
                yield _read(archive)
        except BadArchive as error:
            yield Skipped(str(error))


def pptx_reader() -> PptxReader:
    """Build a collection from PowerPoint files: a page is a slide, with its notes."""
    return PptxReader()


def _read(archive: ZipFile) -> Read:
    package = dict(related(archive, "").values())
    name = package.get("officeDocument", "ppt/presentation.xml")
    presentation, parts = xml_part(archive, name), related(archive, name)
    listed = [parts[id_] for id_ in map(_reference, presentation.iter("{*}sldId")) if id_ in parts]
    text, left_out = Text(), Counter[str]()
    # a file could name one slide a million times
    for page, (_, slide) in enumerate(dict.fromkeys(listed)):
        text.write([Paragraph(EXPLICIT)] * (page > 0))
        _write(text, list(_slide(archive, slide, left_out)))
    if not text.length:
        return Skipped("it holds no text")
    core = package.get("core-properties", "")
    metadata = properties(xml_part(archive, core)) if core in archive.namelist() else {}
    first = presentation.get("firstSlideNum", "")
    number = int(first) if first.isdecimal() and len(first) < 6 else 1
    return Draft(
        text="".join(text.pieces),
        title=title_of_file(metadata.get("title", "")),
        metadata=metadata,
        pages=tuple(text.pages),
        printed_pages=labels_of_pages([str(number + n) for n in range(len(text.pages))]),
        segments=sections(text.headings),
        remark=", ".join(
            f"{'' if n else 'left out: '}{what} ({count})"
            for n, (what, count) in enumerate(sorted(left_out.items()))
        ),
        speeches_known=True,
    )


def related(archive: ZipFile, name: str) -> Related:
    """The parts that the part `name` refers to; those of the whole package for an empty name."""
    folder, base = posixpath.split(name)
    relations = posixpath.join(folder, "_rels", f"{base}.rels")
    if relations not in archive.namelist():
        return {}
    return {
        each.get("Id", ""): (
            each.get("Type", "").rpartition("/")[2],
            posixpath.normpath(posixpath.join("/", folder, each.get("Target", ""))).lstrip("/"),
        )
        for each in xml_part(archive, relations)
        if tag_of(each) == "relationship" and each.get("TargetMode") != "External"
    }


def _reference(element: etree._Element, name: str = "id") -> str:
    """The id of a part that an element refers to: its attribute with a namespace."""
    return next((value for key, value in element.items() if key.endswith(f"}}{name}")), "")


def _write(text: Text, paragraphs: Sequence[Paragraph]) -> None:
    """Write a slide. One without a title ends the section of the slide before."""
    if any(paragraph.words for paragraph in paragraphs):
        text.headings.append(Heading(text.length + 2 * bool(text.length), 1, ""))
    text.write(paragraphs)


def _slide(archive: ZipFile, name: str, left_out: Counter[str]) -> Iterator[Paragraph]:
    """The paragraphs of a slide: its title, what stands on it, and the notes of the speaker."""
    root, parts = xml_part(archive, name), related(archive, name)
    shapes = [shape for tree in root.iter("{*}spTree") for shape in _shapes(tree)]
    titles = [shape for shape in shapes if _placeholder(shape) in _TITLES]
    title = words_in([each for shape in titles for each in _paragraphs(shape)])
    yield Paragraph(title, level=1)
    for shape in shapes:
        if shape not in titles and _placeholder(shape) not in _REPEATED:
            yield from _shape(archive, shape, parts, left_out)
    for kind, target in parts.values():
        if kind == "notesSlide":
            notes = [
                paragraph
                for shape in xml_part(archive, target).iter("{*}sp")
                if _placeholder(shape) not in _REPEATED
                for paragraph in _paragraphs(shape)
            ]
            if words_in(notes):
                yield Paragraph(NOTES, level=2)
                yield from notes


def _shapes(tree: etree._Element) -> Iterator[etree._Element]:
    """All shapes in their order, also those in groups; of two forms of one the newer."""
    for element in tree:
        tag = tag_of(element)
        if tag in ("grpsp", "choice"):
            yield from _shapes(element)
        elif tag == "alternatecontent":
            yield from _shapes(element.findall("{*}Choice")[:1])
        elif tag in ("sp", "graphicframe"):
            yield element


def _placeholder(shape: etree._Element) -> str:
    """The kind of a placeholder; empty for what the author put there."""
    return next((mark.get("type", "") for mark in shape.iterfind("{*}nvSpPr/{*}nvPr/{*}ph")), "")


def _shape(
    archive: ZipFile, shape: etree._Element, parts: Related, left_out: Counter[str]
) -> Iterator[Paragraph]:
    yield from _paragraphs(shape)
    for inner in shape.iterfind("{*}graphic/{*}graphicData/*"):
        tag = tag_of(inner)
        if tag == "tbl":
            yield from _table(inner)
        elif tag == "relids":  # of a diagram
            _, data = parts.get(_reference(inner, "dm"), ("", ""))
            if data in archive.namelist():
                yield from map(_paragraph, xml_part(archive, data).iterfind("{*}ptLst//{*}p"))
        else:
            left_out["charts" if tag == "chart" else "embedded objects"] += 1


def _table(table: etree._Element) -> Iterator[Paragraph]:
    header: tuple[str, ...] = ()
    above: list[list[Paragraph]] = []
    heads = [each.get("firstRow", "0") for each in table.iterfind("{*}tblPr")]
    for number, row in enumerate(table.iterfind("{*}tr")):
        is_header = number == 0 and heads in (["1"], ["true"])
        cells: list[list[Paragraph]] = []
        for cell in row.iterfind("{*}tc"):
            if cell.get("vMerge") in ("1", "true") and len(above) > len(cells):
                words = words_in(above[len(cells)])
                cells.append([Paragraph(words)] if len(words) <= LONGEST_SPAN else [])
            else:
                cells.append(list(_paragraphs(cell)))
        above = cells
        merged = [cell.get("hMerge") in ("1", "true") for cell in row.iterfind("{*}tc")]
        shown = [c for c, is_more in zip(cells, merged, strict=True) if header or not is_more]
        yield from row_paragraphs(shown, () if is_header else header)
        if is_header:
            names: list[str] = []
            for cell, is_more in zip(cells[:MOST_COLUMNS], merged, strict=False):
                names.append(names[-1] if is_more and names else words_in(cell))
            header = header_of(names)


def _paragraphs(shape: etree._Element) -> Iterator[Paragraph]:
    return map(_paragraph, shape.iterfind("{*}txBody/{*}p"))


def _paragraph(paragraph: etree._Element) -> Paragraph:
    text = ""
    for element in paragraph:
        tag = tag_of(element)
        if tag == "br":
            text += "\n"
        elif tag in ("r", "fld", "m"):  # `m` is a formula
            words = plain("".join(piece.text or "" for piece in element.iter("{*}t")))
            is_raised = any(
                re.match("[1-9]", mark.get("baseline", "")) for mark in element.iterfind("{*}rPr")
            )
            text += raised(words, text) if is_raised else words
    return Paragraph(text)
