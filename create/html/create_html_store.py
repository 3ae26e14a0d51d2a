"""Build a collection from web pages: saved ones, or those of a list of addresses."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from backend.errors import SourceError
from backend.stores.versions import locked
from create.command import located, run, store_command
from create.corpora import Sources
from create.html.options import FetchOptions
from create.html.read import HtmlReader
from create.html.urls import LIST_SUFFIXES
from create.report import progress_bars
from create.source import Reader

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


def locate(
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
    from create.html.fetch import fetch_urls

    options = FetchOptions(given["contact"], given["delay"], given["refresh"])
    with locked(folder), progress_bars(Console(stderr=True)) as tell:
        report = fetch_urls(
            list_file, folder / PAGES, options, lambda *done: tell("Fetching pages", *done)
        )
    failures = [(failure.url, failure.reason) for failure in report.failures]
    if not report.pages:
        raise SourceError(f"No address of {list_file} gave a page; {': '.join(failures[0])}.")
    return failures


create_html_store = store_command("html", html_reader, locate)

if __name__ == "__main__":
    run(create_html_store)
