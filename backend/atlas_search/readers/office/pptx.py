"""Reading presentations (.pptx): one document a file, one page a slide.

The parts are read as XML: python-pptx passes over what stands in diagrams and in shapes of newer
versions, and cannot open files of the strict kind.
"""

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar
from zipfile import ZipFile

from lxml import etree

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.archive import BadArchive, open_archive, xml_part
from atlas_search.readers.docx import properties
from atlas_search.readers.markup import Flat, Heading, attribute, flatten, sections, tag_of, words
from atlas_search.readers.print import labels_of_pages
from atlas_search.readers.raised import write_raised
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
    package = dict(_related(archive, "").values())
    name = package.get("officeDocument", "ppt/presentation.xml")
    presentation, parts = xml_part(archive, name), _related(archive, name)
    slides = [parts.get(attribute(each, "id"), ("", "")) for each in presentation.iter("{*}sldId")]
    texts, starts, length = list[str](), list[int](), 0
    headings, left_out = list[Heading](), Counter[str]()
    for _, slide in dict.fromkeys(slides):  # a file could name one a million times
        flat = flatten(_slide(archive, slide, left_out)) if slide else Flat("", ())
        starts.append(length)
        if flat.text:  # one without a title ends the section of the slide before
            headings.append(Heading(length, 1, ""))
            headings += [replace(each, start=length + each.start) for each in flat.headings]
            texts.append(flat.text)
            length += len(flat.text) + 2
    if not texts:
        return Skipped("it holds no text")
    text = "\n\n".join(texts)
    core = package.get("core-properties", "")
    metadata = properties(xml_part(archive, core)) if core in archive.namelist() else {}
    first = presentation.get("firstSlideNum", "1")
    number = int(first) if re.fullmatch("[0-9]{1,5}", first) else 1
    what = ", ".join(f"{name} ({count})" for name, count in sorted(left_out.items()))
    return Draft(
        text=text,
        title=title_of_file(metadata.get("title", "")),
        metadata=metadata,
        pages=tuple(min(start, len(text)) for start in starts),
        printed_pages=labels_of_pages([str(number + n) for n in range(len(starts))]),
        segments=sections(headings),
        remark=f"left out: {what}" if what else "",
        speeches_known=True,
    )


def _related(archive: ZipFile, name: str) -> Related:
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


def _slide(archive: ZipFile, name: str, left_out: Counter[str]) -> etree._Element:
    """A slide as HTML: its title, what stands on it, and the notes of the speaker."""
    body, parts = etree.Element("body"), _related(archive, name)
    title = etree.SubElement(body, "h1")
    for shape in xml_part(archive, name).iter("{*}sp", "{*}graphicData"):
        if any(tag_of(each) == "fallback" for each in shape.iterancestors()):
            continue  # the same in an older form
        if tag_of(shape) == "graphicdata":
            body.extend(_graphic(archive, shape, parts, left_out))
        elif _placeholder(shape) in _TITLES:
            title.text = " ".join(filter(None, (title.text, *map(words, _text(shape)))))
        elif _placeholder(shape) not in _REPEATED:
            body.extend(_text(shape))
    notes = (xml_part(archive, target) for kind, target in parts.values() if kind == "notesSlide")
    shapes = (shape for each in notes for shape in each.iter("{*}sp"))
    texts = [p for s in shapes if _placeholder(s) not in _REPEATED for p in _text(s) if words(p)]
    if texts:
        etree.SubElement(body, "h2").text = NOTES
        body.extend(texts)
    write_raised(body)
    return body


def _placeholder(shape: etree._Element) -> str:
    """The kind of a placeholder; empty for what the author put there."""
    return next((mark.get("type", "") for mark in shape.iterfind("{*}nvSpPr/{*}nvPr/{*}ph")), "")


def _graphic(
    archive: ZipFile, graphic: etree._Element, parts: Related, left_out: Counter[str]
) -> Iterator[etree._Element]:
    for inner in graphic:
        tag = tag_of(inner)
        _, data = parts.get(attribute(inner, "dm"), ("", ""))
        if tag == "tbl":
            yield _table(inner)
        elif data in archive.namelist():  # of a diagram
            yield from map(_paragraph, xml_part(archive, data).iterfind("{*}ptLst//{*}p"))
        else:
            left_out["charts" if tag == "chart" else "embedded objects"] += 1


def _table(table: etree._Element) -> etree._Element:
    html = etree.Element("table")
    heads = [each.get("firstRow") for each in table.iterfind("{*}tblPr")]
    for row in table.iterfind("{*}tr"):
        line = etree.SubElement(html, "tr")
        is_head = len(html) == 1 and heads in (["1"], ["true"])
        for cell in row.iterfind("{*}tc"):
            if not any(cell.get(name) in ("1", "true") for name in ("hMerge", "vMerge")):
                spans = {"colspan": cell.get("gridSpan", "1"), "rowspan": cell.get("rowSpan", "1")}
                etree.SubElement(line, "th" if is_head else "td", spans).extend(_text(cell))
    return html


def _text(shape: etree._Element) -> Iterator[etree._Element]:
    return map(_paragraph, shape.iterfind("{*}txBody/{*}p"))


def _paragraph(paragraph: etree._Element) -> etree._Element:
    html = etree.Element("p")
    for element in paragraph:
        is_number = element.get("type") == "slidenum"
        if tag_of(element) == "br":
            etree.SubElement(html, "br")
        elif tag_of(element) in ("r", "fld", "m") and not is_number:  # `m` is a formula
            marks = element.iterfind("{*}rPr")
            is_raised = any(re.match("[1-9]", mark.get("baseline", "")) for mark in marks)
            run = etree.SubElement(html, "sup" if is_raised else "span")
            run.text = "".join(piece.text or "" for piece in element.iter("{*}t"))
    return html
