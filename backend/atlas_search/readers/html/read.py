"""Reading web pages: their main text with its sections, and what they state about themselves."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer
from lxml.html import HtmlElement

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.html.decode import decode
from atlas_search.readers.html.main_text import main_part
from atlas_search.readers.html.options import FetchOptions
from atlas_search.readers.html.origin import XHTML, DamagedNote, PageOrigin, origin_of
from atlas_search.readers.html.page_metadata import stated_metadata
from atlas_search.readers.html.parse import Unreadable, parse
from atlas_search.readers.markup import flatten
from atlas_search.readers.text_files import Undecodable

NO_MAIN_TEXT = "no main text was found; everything on the page is kept"


@dataclass(frozen=True)
class HtmlReader:
    """Reads web pages: each heading starts a section. `whole_page` keeps menus and the like."""

    whole_page: bool = False
    suffixes: ClassVar[frozenset[str]] = frozenset({".html", ".htm", ".xhtml"})

    @property
    def options(self) -> Mapping[str, object]:
        """How much of a page is read."""
        return {"version": 4, "whole_page": self.whole_page}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """The one document of a page."""
        try:
            origin = origin_of(path)
            content, remark = decode(path, origin.charset, encoding)
            xml = path.suffix.lower() == ".xhtml" or origin.media_type == XHTML
            page = parse(content, xml=xml)
        except (DamagedNote, Undecodable, Unreadable) as error:
            yield Skipped(str(error))
        else:
            yield _draft(page, origin, remark, self.whole_page)


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
    allow_private: Annotated[
        str,
        typer.Option(
            help="Hosts and networks that may be fetched from though they are not public, joined "
            "by commas"
        ),
    ] = FetchOptions.allow_private,
) -> HtmlReader:
    """Build a collection from web pages, without their menus and footers.

    SOURCE can also be a list of addresses, a file `.txt` or `.urls` with one a line, those of a
    corpus below its id in square brackets. They are fetched as `robots.txt` allows.
    """
    return HtmlReader(whole_page)


def _draft(page: HtmlElement, origin: PageOrigin, remark: str, whole_page: bool) -> Read:
    metadata = stated_metadata(page, origin.url)
    if origin.fetched:
        metadata["fetched"] = origin.fetched
    part, is_main = (page, True) if whole_page else main_part(page)
    flat = flatten(part)
    if not flat.text:
        return Skipped(
            "it holds no text; if a script writes it, open the page in a browser and save it from "
            "there"
        )
    return Draft(
        text=flat.text,
        title=str(metadata.get("title", "")),
        metadata=metadata,
        segments=flat.segments,
        remark="; ".join(filter(None, (remark, "" if is_main else NO_MAIN_TEXT))),
    )
