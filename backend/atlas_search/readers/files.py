"""Every reader by name, and the one that reads files of every format by what their names end in."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from atlas_search.core.errors import MissingLibrary
from atlas_search.core.registry import Registry, require
from atlas_search.readers import Read, Reader, Skipped

ReaderFactory = Callable[..., Reader]
"""Makes a reader, or is its class. Its parameters are the options of `atlas create <name>`, its
docstring the help.

A parameter without a default must be given. Raises SourceError for values that make no sense.
"""

READERS: Registry[ReaderFactory] = Registry(
    "atlas_search.readers",
    "reader",
    {
        "files": "atlas_search.readers.files:files_reader",
        "txt": "atlas_search.readers.text:TxtReader",
        "pdf": "atlas_search.readers.pdf:pdf_reader [pdf]",
        "html": "atlas_search.readers.html:html_reader [html]",
        "xml": "atlas_search.readers.xml.read:XmlReader [xml]",
        "csv": "atlas_search.readers.tables:csv_reader",
        "jsonl": "atlas_search.readers.tables:jsonl_reader",
        "docx": "atlas_search.readers.docx:DocxReader [office]",
        "epub": "atlas_search.readers.epub:EpubReader [office]",
        "pptx": "atlas_search.readers.office.pptx:pptx_reader [office]",
        "xlsx": "atlas_search.readers.office.xlsx:xlsx_reader [office]",
        "odt": "atlas_search.readers.office.odt:odt_reader [office]",
        "rtf": "atlas_search.readers.office.rtf:rtf_reader [office]",
        "mail": "atlas_search.readers.mail:MailReader [xml]",
        "marc": "atlas_search.readers.records.marc:MarcReader [records]",
        "bib": "atlas_search.readers.records.bib:BibReader [export]",
        "zotero": "atlas_search.readers.zotero:zotero_reader [export]",
        "oai": "atlas_search.readers.oai:oai_reader [html]",
        "iiif": "atlas_search.readers.iiif:iiif_reader [html]",
        "beir": "atlas_search.readers.tables:beir_reader",
        "chroma": "atlas_search.readers.chroma:chroma_reader",
    },
)

NO_FORMATS = ("files", "zotero", "oai", "iiif", "beir", "chroma")
"""Readers of whole folders, or of what is fetched: `files` leaves them out."""

SUFFIXES: Mapping[str, frozenset[str]] = {
    "txt": frozenset({".txt", ".md", ".markdown"}),
    "pdf": frozenset({".pdf"}),
    "html": frozenset({".html", ".htm", ".xhtml", ".hocr"}),
    "xml": frozenset({".xml", ".tei", ".rdf"}),
    "csv": frozenset({".csv", ".tsv"}),
    "jsonl": frozenset({".jsonl", ".ndjson", ".json"}),
    "docx": frozenset({".docx"}),
    "epub": frozenset({".epub"}),
    "pptx": frozenset({".pptx"}),
    "xlsx": frozenset({".xlsx"}),
    "odt": frozenset({".odt"}),
    "rtf": frozenset({".rtf"}),
    "mail": frozenset({".eml", ".mbox"}),
    "marc": frozenset({".mrc", ".marc"}),
    "bib": frozenset({".bib", ".ris"}),
}
"""Suffixes of Atlas' own readers: none is imported before a file of its format is read."""

TABLES = ("csv", "jsonl", "xlsx")


@dataclass(frozen=True)
class FilesReader:
    """Hands each file to the reader of its format, with that reader's own defaults.

    `formats` are the names of readers and what they read, `missing` the reasons why some of them
    cannot, `text_column` the option of those that read tables, `ocr` that of the reader of PDFs.
    The longest suffix decides, and of two equal ones the first reader.
    """

    formats: Mapping[str, frozenset[str]]
    missing: Mapping[str, str]
    text_column: str = ""
    ocr: str = ""
    _open: dict[str, Reader] = field(default_factory=dict, repr=False, compare=False)

    def __reduce__(self) -> tuple[object, ...]:
        """Leave the readers behind, so that a process imports those of its own files only."""
        return FilesReader, (self.formats, self.missing, self.text_column, self.ocr)

    @property
    def suffixes(self) -> frozenset[str]:
        return frozenset().union(*self.formats.values())

    @property
    def options(self) -> Mapping[str, object]:
        options = {}
        for name in self.formats:
            reader = self._reader(name)
            # collections that exist know the options of Atlas' own readers by their classes
            is_own = name in READERS.built_in and name not in self.missing
            options[type(reader).__name__ if is_own else name] = dict(reader.options)
        return options

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        name = path.name.lower()
        suffix = max((s for s in self.suffixes if name.endswith(s)), key=len)
        format_ = next(each for each, suffixes in self.formats.items() if suffix in suffixes)
        return self._reader(format_).read(path, encoding)

    def _reader(self, name: str) -> Reader:
        if name in self.missing:
            return MissingReader(self.formats[name], self.missing[name])
        if name not in self._open:
            own = {"text_column": self.text_column} if name in TABLES else {}
            own |= {"ocr": self.ocr} if name == "pdf" else {}
            self._open[name] = _factory(name)(**own)
        return self._open[name]


@dataclass(frozen=True)
class MissingReader:
    """Stands in for a reader whose library is not installed: its files are skipped."""

    suffixes: frozenset[str]
    reason: str
    options: ClassVar[Mapping[str, object]] = {"version": 0}  # another than that of any reader

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        yield Skipped(self.reason)


def files_reader(text_column: str = "", ocr: str = "") -> FilesReader:
    """Build a collection from files of every format, each read by what its name ends in."""
    if ocr:
        from atlas_search.readers.tesseract import require_tesseract

        require_tesseract(ocr)
    formats, missing = dict(SUFFIXES), {}
    for name in READERS.names():
        if name in SUFFIXES:
            try:
                for extra in READERS.built_in[name].extras:
                    require(extra, f"The reader {name}")
            except MissingLibrary as error:
                missing[name] = str(error)
        elif name not in NO_FORMATS:
            factory = _factory(name)
            parameters = inspect.signature(factory).parameters.values()
            if all(parameter.default is not parameter.empty for parameter in parameters):
                formats[name] = factory().suffixes
    return FilesReader(formats, missing, text_column, ocr)


def _factory(name: str) -> ReaderFactory:
    return READERS.load(name, "atlas create files")
