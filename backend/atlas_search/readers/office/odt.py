"""Reading OpenDocument texts (.odt), as LibreOffice writes them: one document a file.

The text is turned into elements of HTML in place, and read as those are. odfdo would load the same
tree, and has no rows under their heads, pages or notes apart.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from zipfile import ZipFile

from lxml import etree

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.archive import BadArchive, open_archive, part, xml_part
from atlas_search.readers.epub import chapter_of
from atlas_search.readers.markup import Heading, attribute, flatten, sections, tag_of, words
from atlas_search.readers.raised import empty, write_raised

_HTML = {
    "list": "ul",
    "list-item": "li",
    "list-header": "li",
    "table-header-rows": "thead",
    "table-row": "tr",
    "table-cell": "td",
    "line-break": "br",
    "text-box": "div",
    "ruby-text": "rt",
    "title": "span",
}
_LEFT_OUT = frozenset(
    "tracked-changes annotation covered-table-cell desc object binary-data forms "
    "table-of-content-source illustration-index-source table-index-source object-index-source "
    "user-index-source alphabetical-index-source bibliography-source event-listeners".split()
)
_HEADS = "Table_20_Heading"
"""The style of paragraphs that LibreOffice gives the heads of a table."""

_FIELDS = {
    "title": "title",
    "initial-creator": "author",
    "creator": "author",
    "creation-date": "created",
    "date": "modified",
    "subject": "subject",
    "language": "language",
    "keyword": "tags",
}
_DAYS = ("created", "modified")


@dataclass(frozen=True)
class OdtReader:
    """Reads OpenDocument texts as they are with all changes accepted.

    Sections are headings. Pages are those of the last layout, if the file has them, and the
    author's own breaks. Footnotes and endnotes stand at the end, in a section `Notes`; `[1]` marks
    their place. Headers, footers and comments are not read.
    """

    suffixes: ClassVar[frozenset[str]] = frozenset({".odt"})
    options: ClassVar[Mapping[str, object]] = {"version": 1}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """The one document of the file; its XML states its own encoding."""
        try:
            with open_archive(path, "an OpenDocument") as archive:
                yield _draft(archive)
        except BadArchive as error:
            yield Skipped(str(error))


def odt_reader() -> OdtReader:
    """Build a collection from OpenDocument texts, as LibreOffice writes them."""
    return OdtReader()


def _draft(archive: ZipFile) -> Read:
    manifest = "META-INF/manifest.xml"
    if manifest in archive.namelist() and b":encryption-data" in part(archive, manifest):
        return Skipped("it is encrypted; get a copy without a password")
    content = xml_part(archive, "content.xml")
    body = next(content.iterfind("{*}body/{*}text"), None)
    if body is None:
        return Skipped("it is another kind of OpenDocument file; save it as a text (.odt)")
    left_out = Counter[str]()
    notes = _to_html(body, _Styles(content), left_out)
    write_raised(body)
    chapter = chapter_of(body, {})
    text, headings = chapter.flat.text, list(chapter.flat.headings)
    if notes_text := "\n\n".join(filter(None, (flatten(note).text for note in notes))):
        headings.append(Heading(len(text) + 2, 1, "Notes"))
    metadata = _metadata(archive)
    return Draft(
        text="\n\n".join(filter(None, [text, notes_text])),
        title=str(metadata.get("title", "")),
        metadata=metadata,
        pages=(0, *(start for start, _ in chapter.breaks if 0 < start < len(text))),
        segments=sections(headings),
        remark=", ".join(f"left out: {what} ({count})" for what, count in left_out.items()),
    )


class _Styles:
    """The names of styles that say something of the text: all else is its looks."""

    def __init__(self, content: etree._Element) -> None:
        styles = {attribute(style, "name"): style for style in content.iter("{*}style")}
        self.heads = {_HEADS} | {
            n for n, s in styles.items() if attribute(s, "parent-style-name") == _HEADS
        }
        self.breaks = {
            name
            for name, style in styles.items()
            if attribute(style, "master-page-name")
            or any(attribute(each, "break-before") == "page" for each in style)
        }
        self.raised = {
            name
            for name, style in styles.items()
            if any(attribute(each, "text-position").startswith("super") for each in style)
        }
        self.numbered = {
            attribute(style, "name")
            for style in content.iter("{*}list-style")
            if any(attribute(level, "num-format") for level in style)
        }


def _to_html(body: etree._Element, styles: _Styles, left_out: Counter[str]) -> list[etree._Element]:
    """Turn the elements into those of HTML; returns the notes in their order, without them."""
    notes: list[etree._Element] = []
    for element in list(body.iter(etree.Element)):
        tag, style = tag_of(element), attribute(element, "style-name")
        is_label = tag == "title" and "svg" in element.tag  # of a picture
        element.tag = _HTML.get(tag, tag)
        if is_label or tag in _LEFT_OUT:
            element.clear(keep_tail=True)
        elif tag in ("s", "tab", "number"):
            element.text = f"{element.text or ''} "
        elif tag == "h":
            level = attribute(element, "outline-level")
            element.tag = f"h{min(int(level), 6)}" if level.isdecimal() and level != "0" else "p"
        elif tag == "note":
            note = next(iter(element.iterfind("{*}note-body")), None)
            empty(element)
            element.text = f"[{len(notes) + 1}]"
            if note is not None:
                notes.append(note)
                first = next(note.iter("{*}p"), note)
                first.text = f"[{len(notes)}] {first.text or ''}"
        elif tag == "span" and style in styles.raised:
            element.tag = "sup"
        elif tag == "soft-page-break":
            element.set("role", "doc-pagebreak")
        elif tag == "table-cell":
            element.set("colspan", attribute(element, "number-columns-spanned"))
            element.set("rowspan", attribute(element, "number-rows-spanned"))
            inner = [attribute(each, "style-name") for each in element]
            element.tag = "th" if inner and styles.heads.issuperset(inner) else "td"
        elif tag == "list":
            left_out["automatic numbers"] += style in styles.numbered
        if tag in ("p", "h") and style in styles.breaks:
            element.insert(0, etree.Element("span", role="doc-pagebreak"))
            element[0].tail, element.text = element.text, None
    left_out += Counter()
    return notes


def _metadata(archive: ZipFile) -> dict[str, object]:
    fields: dict[str, list[str]] = {}
    if "meta.xml" in archive.namelist():
        for element in xml_part(archive, "meta.xml").iter("{*}*"):
            if (value := words(element)) and (name := _FIELDS.get(tag_of(element))):
                fields.setdefault(name, []).append(value)
    one: dict[str, object] = {name: values[0] for name, values in fields.items()}
    days = {name: fields[name][0].partition("T")[0] for name in _DAYS if name in fields}
    return one | days | ({"tags": fields["tags"]} if "tags" in fields else {})
