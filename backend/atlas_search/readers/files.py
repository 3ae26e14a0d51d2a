"""Every reader by name, and the one that reads files of every format by what their names end in."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from atlas_search.core.errors import MissingLibrary
from atlas_search.core.registry import Registry
from atlas_search.readers import Read, Reader, Skipped

ReaderFactory = Callable[..., Reader]
"""Makes a reader. Its parameters are the options of `atlas create <name>`, its docstring the help.

A parameter without a default must be given. Raises SourceError for values that make no sense.
"""

READERS: Registry[ReaderFactory] = Registry(
    "atlas_search.readers",
    "reader",
    {
        "files": "atlas_search.readers.files:files_reader",
        "txt": "atlas_search.readers.text:txt_reader",
        "pdf": "atlas_search.readers.pdf:pdf_reader [pdf]",
        "html": "atlas_search.readers.html:html_reader [html]",
        "xml": "atlas_search.readers.xml.read:xml_reader [xml]",
        "csv": "atlas_search.readers.tables:csv_reader",
        "jsonl": "atlas_search.readers.tables:jsonl_reader",
        "docx": "atlas_search.readers.docx:docx_reader [office]",
        "epub": "atlas_search.readers.epub:epub_reader [office]",
        "beir": "atlas_search.readers.tables:beir_reader",
        "chroma": "atlas_search.readers.tables:chroma_reader",
    },
)

NO_FORMATS = ("files", "beir", "chroma")
"""Readers of whole folders: `files` leaves them out."""

SUFFIXES: Mapping[str, frozenset[str]] = {
    "pdf": frozenset({".pdf"}),
    "html": frozenset({".html", ".htm", ".xhtml"}),
    "xml": frozenset({".xml", ".tei"}),
    "docx": frozenset({".docx"}),
    "epub": frozenset({".epub"}),
}
"""Of the readers that need a library: where that is missing, they cannot be asked."""


@dataclass(frozen=True)
class FilesReader:
    """Hands each file to the reader of its format, with that reader's own defaults.

    The longest suffix decides, and of two equal ones the first reader. `readers` have the names
    under which their options are kept.
    """

    readers: Mapping[str, Reader]

    @property
    def suffixes(self) -> frozenset[str]:
        """Those of all formats."""
        return frozenset().union(*(reader.suffixes for reader in self.readers.values()))

    @property
    def options(self) -> Mapping[str, object]:
        """Those of all formats."""
        return {name: dict(reader.options) for name, reader in self.readers.items()}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """See the reader of the format."""
        name = path.name.lower()
        suffix = max((s for s in self.suffixes if name.endswith(s)), key=len)
        reader = next(r for r in self.readers.values() if suffix in r.suffixes)
        return reader.read(path, encoding)


@dataclass(frozen=True)
class MissingReader:
    """Stands in for a reader whose library is not installed: its files are skipped."""

    suffixes: frozenset[str]
    reason: str
    options: ClassVar[Mapping[str, object]] = {"version": 0}  # another than that of any reader

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """Why the file is not read, and what to do."""
        yield Skipped(self.reason)


def files_reader() -> FilesReader:
    """Build a collection from files of every format, each read by what its name ends in."""
    readers: dict[str, Reader] = {}
    for name in READERS.names():
        if name in NO_FORMATS:
            continue
        try:
            factory = READERS.load(name, "atlas create files")
        except MissingLibrary as error:
            readers[name] = MissingReader(SUFFIXES[name], str(error))
            continue
        if all(p.default is not p.empty for p in inspect.signature(factory).parameters.values()):
            reader = factory()
            # collections that exist know the options of Atlas' own readers by their classes
            readers[type(reader).__name__ if name in READERS.built_in else name] = reader
    return FilesReader(readers)
