"""Every source type by the name of its command: its options, its reader, and where its files are.

The parameters of a factory are the options of its command, its docstring is the help.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from atlas_search.build.corpora import Rule, SourceFile, Sources
from atlas_search.cli.build_report import progress_bars
from atlas_search.cli.create import located, store_command
from atlas_search.core.corpus_id import checked_id
from atlas_search.core.errors import SourceError
from atlas_search.readers import Reader
from atlas_search.readers.beir import BeirReader
from atlas_search.readers.chroma import ChromaReader
from atlas_search.readers.columns import (
    IdColumn,
    MetadataColumns,
    Rename,
    TextColumn,
    TitleColumn,
    columns_of,
)
from atlas_search.readers.csv import CsvReader
from atlas_search.readers.docx.read import DocxReader
from atlas_search.readers.epub.read import EpubReader
from atlas_search.readers.files import READERS, FilesReader
from atlas_search.readers.html.options import FetchOptions
from atlas_search.readers.html.read import HtmlReader
from atlas_search.readers.html.urls import LIST_SUFFIXES
from atlas_search.readers.jsonl import JsonlReader
from atlas_search.readers.pdf.read import PdfReader
from atlas_search.readers.txt import TxtReader
from atlas_search.readers.xml.read import XmlReader
from atlas_search.stores.versions import locked


def files_reader() -> FilesReader:
    """Build a collection from files of every format, each read by what its name ends in."""
    return FilesReader([reader() for reader in READERS])


def txt_reader() -> TxtReader:
    """Build a collection from text and Markdown files (YAML front matter is metadata)."""
    return TxtReader()


def pdf_reader() -> PdfReader:
    """Build a collection from PDF files; page numbers are kept."""
    return PdfReader()


PAGES = "pages"
"""The folder inside that of the collection to which pages are fetched."""


def html_reader(
    whole_page: Annotated[
        bool, typer.Option(help="Keep menus and footers too, not only the main text")
    ] = False,
    contact: Annotated[
        str, typer.Option(help="Mail or web address that sites you fetch from are told")
    ] = FetchOptions.contact,
    delay: Annotated[
        float, typer.Option(min=0.1, help="Seconds between requests to a site, at least")
    ] = FetchOptions.delay,
    refresh: Annotated[
        bool, typer.Option(help="Ask for pages that were fetched before if they have changed")
    ] = FetchOptions.refresh,
) -> HtmlReader:
    """Build a collection from web pages, without their menus and footers.

    SOURCE can also be a list of addresses, a file `.txt` or `.urls` with one a line, those of a
    corpus below its id in square brackets. They are fetched as `robots.txt` allows.
    """
    return HtmlReader(whole_page)


def locate_pages(
    source: Sequence[Path], reader: Reader, given: Mapping[str, Any], folder: Path
) -> Sources:
    """The pages of a list after fetching them, or files as for any other type.

    Addresses that cannot be fetched are left out. Raises SourceError.
    """
    if not any(path.is_file() and path.suffix.lower() in LIST_SUFFIXES for path in source):
        return located(source, reader, given, folder)
    if len(source) > 1:
        raise SourceError("Give a list of addresses alone, without other sources.")
    left_out = _fetch(source[0], given, folder)
    sources = located([folder / PAGES], reader, given, folder)
    return replace(sources, left_out=tuple(sorted((*sources.left_out, *left_out))))


def _fetch(list_file: Path, given: Mapping[str, Any], folder: Path) -> list[tuple[str, str]]:
    from atlas_search.readers.html.fetch import fetch_urls

    options = FetchOptions(given["contact"], given["delay"], given["refresh"])
    with locked(folder), progress_bars(Console(stderr=True)) as tell:
        report = fetch_urls(
            list_file, folder / PAGES, options, lambda *done: tell("Fetching pages", *done)
        )
    failures = [(failure.url, failure.reason) for failure in report.failures]
    if not report.pages:
        raise SourceError(f"No address of {list_file} gave a page; {': '.join(failures[0])}.")
    return failures


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
    """Build a collection from XML files: TEI, and the Hansards of several parliaments."""
    return XmlReader(normalised=normalised, documents_at=documents_at)


_TABS = {"tab", "\\t"}


def csv_reader(
    text_column: TextColumn = "",
    id_column: IdColumn = "",
    title_column: TitleColumn = "title",
    metadata_columns: MetadataColumns = "",
    rename: Rename = "",
    delimiter: Annotated[
        str,
        typer.Option(help="What separates values; `tab` for tabs (default: as in the first line)"),
    ] = "",
    quotes: Annotated[bool, typer.Option(help="Values may stand in double quotes")] = True,
) -> CsvReader:
    """Build a collection from CSV and TSV files: one document a row."""
    delimiter = "\t" if delimiter in _TABS else delimiter
    if len(delimiter) > 1 or delimiter in ('"', "\n", "\r"):
        raise SourceError(f"--delimiter {delimiter}: give one character, or `tab`.")
    columns = columns_of(text_column, id_column, title_column, metadata_columns, rename)
    return CsvReader(columns, delimiter, quotes)


def jsonl_reader(
    text_column: TextColumn = "",
    id_column: IdColumn = "",
    title_column: TitleColumn = "title",
    metadata_columns: MetadataColumns = "",
    rename: Rename = "",
) -> JsonlReader:
    """Build a collection from JSON files: one document a line, or one an item of an array."""
    return JsonlReader(columns_of(text_column, id_column, title_column, metadata_columns, rename))


def docx_reader() -> DocxReader:
    """Build a collection from Word files; pages are those of Word's last rendering."""
    return DocxReader()


def epub_reader() -> EpubReader:
    """Build a collection from EPUB files; each part of the reading order is a page."""
    return EpubReader()


def beir_reader() -> BeirReader:
    """Build a collection from benchmark folders (corpus.jsonl or docs.jsonl), each a corpus."""
    return BeirReader()


CORPUS_FIELD = "corpus"


def chroma_reader(
    from_collection: Annotated[
        str, typer.Option(help="The Chroma collection (default: the only one of the folder)")
    ] = "",
) -> ChromaReader:
    """Build a collection from a Chroma folder: ids and vectors are kept, nothing is embedded.

    The corpus of a record is its metadata field `corpus`, unless --corpus-field or --corpus says
    otherwise. EMBEDDING_MODEL must be the model that made the vectors: a sample is checked.
    """
    return ChromaReader(from_collection)


def locate_chroma(
    source: Sequence[Path], reader: Reader, given: Mapping[str, Any], folder: Path
) -> Sources:
    """The folder as one source. Raises SourceError for what is not a Chroma folder."""
    if given.get("corpora"):
        raise SourceError("--corpora is for files; records have --corpus-field or --corpus.")
    if len(source) > 1:
        raise SourceError("Give one Chroma folder; ids of two could be the same.")
    (path,) = source
    if not (path / "chroma.sqlite3").is_file():
        raise SourceError(f"{path} is not a Chroma folder: it has no chroma.sqlite3.")
    rule = (
        Rule(checked_id(given["corpus"], "--corpus"))
        if given["corpus"]
        else Rule(corpus_field=given["corpus_field"] or CORPUS_FIELD)
    )
    name = path.resolve().name
    return Sources((SourceFile(path, name, name, rule),), (), {})


COMMANDS = {
    "files": store_command("files", files_reader),
    "txt": store_command("txt", txt_reader),
    "pdf": store_command("pdf", pdf_reader),
    "html": store_command("html", html_reader, locate_pages),
    "xml": store_command("xml", xml_reader),
    "csv": store_command("csv", csv_reader),
    "jsonl": store_command("jsonl", jsonl_reader),
    "docx": store_command("docx", docx_reader),
    "epub": store_command("epub", epub_reader),
    "beir": store_command("beir", beir_reader),
    "chroma": store_command("chroma", chroma_reader, locate_chroma),
}
