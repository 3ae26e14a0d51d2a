"""Reading XML files: TEI, Hansards, laws, and any other as plain text."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar

import typer
from lxml import etree

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.law.akoma import AkomaLaw, akoma_drafts, is_akoma_debate
from atlas_search.readers.law.australia import australian_drafts, is_australian
from atlas_search.readers.law.canada import CanadianLaw, canadian_drafts, is_canadian
from atlas_search.readers.law.clml import BritishLaw
from atlas_search.readers.law.hansard import historic_drafts, is_historic, is_twfy, twfy_drafts
from atlas_search.readers.law.uslm import AmericanLaw
from atlas_search.readers.records import ead, oai
from atlas_search.readers.records.bib import rdf_records, reference_draft
from atlas_search.readers.records.marc import marcxml_drafts
from atlas_search.readers.scans import mets
from atlas_search.readers.scans.page_files import READERS, page_draft
from atlas_search.readers.xml.parse import INCLUDE, Parsed, parse
from atlas_search.readers.xml.tei import LISTS, ROOTS, tei_drafts
from atlas_search.readers.xml.tree import Layout, TextWriter, draft, names, unique_keys, walk

_UNKNOWN = (
    "no known structure: <{name}> is read as plain text, without sections and dates; known are "
    "TEI, Hansard, Akoma Ntoso, CLML (UK), USLM (US), Justice Laws (Canada), ALTO, METS, PAGE, EAD "
    "and MARC; "
    "convert it to one of them, or name the element of each document with --documents-at"
)

DEBATES = (
    (is_twfy, twfy_drafts),
    (is_australian, australian_drafts),
    (is_canadian, canadian_drafts),
    (is_historic, historic_drafts),
    (is_akoma_debate, akoma_drafts),
)
LAWS = (CanadianLaw, BritishLaw, AmericanLaw, AkomaLaw)
"""The first that fits is taken, debates before laws: three debates have a root `hansard`."""

_LAYOUT = Layout(
    names(""), names("tr row"), names("td th cell entry"), names("br lb"), names(INCLUDE)
)


class _PlainText:
    """Writes the text of all elements in order; attributes are not text.

    An element is a paragraph unless it stands between words of another one.
    """

    layout = _LAYOUT

    def __init__(self, writer: TextWriter) -> None:
        self.writer = writer
        self._mixed: list[bool] = []

    def enter(self, element: etree._Element) -> bool:
        if not self._is_inline(element):
            self.writer.block()
        self._mixed.append(self._is_inline(element) or _has_words(element))
        return True

    def leave(self, element: etree._Element) -> None:
        self._mixed.pop()
        if not self._is_inline(element):
            self.writer.block()

    def _is_inline(self, element: etree._Element) -> bool:
        placed = self.layout.cells | self.layout.lines | self.layout.breaks
        return element.tag in placed or bool(self._mixed and self._mixed[-1])


def plain_drafts(root: etree._Element, name: str, documents_at: str) -> Iterator[Read]:
    """One draft for the file, or one for each outermost element called `documents_at`."""
    if not documents_at:
        yield _draft(root, name, "")
        return
    tag = documents_at.lower()
    parts = [part for part in root.iter(tag) if next(part.iterancestors(tag), None) is None]
    if not parts:
        yield Skipped(f"it has no <{documents_at}>, at which its documents should begin")
    keys = unique_keys([part.get("id") or part.get("n") or "" for part in parts])
    for part, key in zip(parts, keys, strict=True):
        yield _draft(part, name, key)


def _draft(part: etree._Element, name: str, key: str) -> Read:
    writer = TextWriter()
    walk(part, _PlainText(writer))
    language = part.get("lang", "") or part.getroottree().getroot().get("lang", "")
    return draft(
        writer.finish(),
        {"language": language},
        key=key,
        remarks=[_UNKNOWN.format(name=name)],
        speeches_known=False,
    )


def _has_words(element: etree._Element) -> bool:
    """Say if words stand in `element` itself, beside its elements."""
    pieces = [element.text, *(child.tail for child in element)]
    return any(piece and not piece.isspace() for piece in pieces)


@dataclass(frozen=True)
class XmlReader:
    """Build a collection from XML files: TEI, the Hansards of several parliaments, and laws."""

    normalised: Annotated[
        bool,
        typer.Option(
            "--normalised/--as-printed",
            help="TEI with both readings: take regularised, corrected and expanded words",
        ),
    ] = False
    documents_at: Annotated[
        str,
        typer.Option(
            help="TEI and unknown XML: every element of this name is a document of its own"
        ),
    ] = ""
    suffixes: ClassVar[frozenset[str]] = frozenset({".xml", ".tei", ".rdf"})

    @property
    def options(self) -> Mapping[str, object]:
        return {"version": 6, "normalised": self.normalised, "documents_at": self.documents_at}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """The documents of a file; one that is not well-formed, or unsafe, is skipped whole."""
        parsed = parse(path.read_bytes(), encoding)
        if isinstance(parsed, Skipped):
            yield parsed
            return
        for read in self._drafts(parsed, path):
            if isinstance(read, Draft) and parsed.remark:
                remarks = filter(None, [parsed.remark, read.remark])
                read = replace(read, remark="; ".join(remarks))
            yield read

    def _drafts(self, parsed: Parsed, path: Path) -> Iterator[Read]:
        root = parsed.root
        if root.tag in ROOTS:
            return tei_drafts(root, normalised=self.normalised, documents_at=self.documents_at)
        if root.tag in LISTS and not self.documents_at:
            return iter([Skipped(f"a TEI <{parsed.name}>: a list for other files, not a text")])
        if publisher := next((each for each in DEBATES if each[0](root)), None):
            return publisher[1](root)
        if law := next((each for each in LAWS if each.fits(root)), None):
            return iter([law(root).read()])
        if root.tag in READERS:
            return iter([page_draft(root)])
        if root.tag == mets.ROOT:
            return mets.mets_drafts(root, path)
        if next(root.iter(ead.ROOT), None) is not None:
            return ead.ead_drafts(root)
        if root.find(".//datafield/subfield") is not None:
            return marcxml_drafts(root)
        if root.tag == "rdf" and root.find("*/itemtype") is not None:
            return map(reference_draft, rdf_records(root))
        if root.tag == oai.ROOT:
            return oai.oai_drafts(root, lambda each: self._drafts(Parsed(each, each.tag), path))
        return plain_drafts(root, parsed.name, self.documents_at)
