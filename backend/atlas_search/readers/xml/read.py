"""Reading XML files: TEI, Hansards, laws, and any other as plain text."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.xml.generic import plain_drafts
from atlas_search.readers.xml.hansard import hansard_drafts
from atlas_search.readers.xml.parse import Parsed, parse
from atlas_search.readers.xml.statutes.read import statute_drafts
from atlas_search.readers.xml.tei import LISTS, ROOTS, tei_drafts


@dataclass(frozen=True)
class XmlReader:
    """Reads XML by its root element.

    With `normalised`, TEI that has both is read in its regularised, corrected and expanded form.
    With `documents_at`, the name of an element, each of them in TEI and unknown XML is a document.
    """

    normalised: bool = False
    documents_at: str = ""
    suffixes: ClassVar[frozenset[str]] = frozenset({".xml", ".tei"})

    @property
    def options(self) -> Mapping[str, object]:
        """Both settings change what is read."""
        return {"version": 3, "normalised": self.normalised, "documents_at": self.documents_at}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """The documents of a file; one that is not well-formed, or unsafe, is skipped whole."""
        parsed = parse(path.read_bytes(), encoding)
        if isinstance(parsed, Skipped):
            yield parsed
            return
        for read in self._drafts(parsed):
            yield _with_remark(read, parsed.remark)

    def _drafts(self, parsed: Parsed) -> Iterator[Read]:
        root = parsed.root
        if root.tag in ROOTS:
            return tei_drafts(root, normalised=self.normalised, documents_at=self.documents_at)
        if root.tag in LISTS and not self.documents_at:
            return iter([Skipped(f"a TEI <{parsed.name}>: a list for other files, not a text")])
        drafts = hansard_drafts(root) or statute_drafts(root)
        return drafts or plain_drafts(root, parsed.name, self.documents_at)


def xml_reader(
    normalised: Annotated[
        bool,
        typer.Option(
            "--normalised/--as-printed",
            help="TEI with both readings: take regularised, corrected and expanded words",
        ),
    ] = False,
    documents_at: Annotated[
        str,
        typer.Option(
            help="TEI and unknown XML: every element of this name is a document of its own"
        ),
    ] = "",
) -> XmlReader:
    """Build a collection from XML files: TEI, the Hansards of several parliaments, and laws."""
    return XmlReader(normalised=normalised, documents_at=documents_at)


def _with_remark(read: Read, remark: str) -> Read:
    if isinstance(read, Draft) and remark:
        return replace(read, remark="; ".join(filter(None, [remark, read.remark])))
    return read
