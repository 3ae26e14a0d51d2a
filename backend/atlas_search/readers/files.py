"""Reading files of every format, each by what its name ends in."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from atlas_search.readers import Read, Reader
from atlas_search.readers.csv import CsvReader
from atlas_search.readers.docx.read import DocxReader
from atlas_search.readers.epub.read import EpubReader
from atlas_search.readers.html.read import HtmlReader
from atlas_search.readers.jsonl import JsonlReader
from atlas_search.readers.pdf.read import PdfReader
from atlas_search.readers.txt import TxtReader
from atlas_search.readers.xml.read import XmlReader

READERS: tuple[type, ...] = (
    TxtReader,
    PdfReader,
    HtmlReader,
    XmlReader,
    CsvReader,
    JsonlReader,
    DocxReader,
    EpubReader,
)


@dataclass(frozen=True)
class FilesReader:
    """Hands each file to the reader of its format, with that reader's own defaults."""

    readers: Sequence[Reader]

    @property
    def suffixes(self) -> frozenset[str]:
        """Those of all formats."""
        return frozenset().union(*(reader.suffixes for reader in self.readers))

    @property
    def options(self) -> Mapping[str, object]:
        """Those of all formats."""
        return {type(reader).__name__: dict(reader.options) for reader in self.readers}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """See the reader of the format."""
        name = path.name.lower()
        reader = next(r for r in self.readers if name.endswith(tuple(r.suffixes)))
        return reader.read(path, encoding)


def files_reader() -> FilesReader:
    """Reads files of every format, each by what its name ends in."""
    return FilesReader([reader() for reader in READERS])
