"""The sections of a PDF, from its outline (the bookmarks)."""

import re
from collections.abc import Iterator, Sequence

from pypdfium2 import PdfBookmark, PdfDocument

from atlas_search.core.domain import Segment
from atlas_search.readers.markup import Heading, plain, sections


def outline_sections(document: PdfDocument, text: str, pages: Sequence[int]) -> tuple[Segment, ...]:
    """A section for each bookmark, from the line of its page that has its title.

    Where no line has it, the section begins with the page or at the bookmark before on that page.
    """
    return sections(_headings(_bookmarks(document, len(pages)), text, [*pages, len(text)]))


def _headings(
    bookmarks: Sequence[tuple[int, int, str]], text: str, pages: Sequence[int]
) -> Iterator[Heading]:
    last = Heading(-1, 0, "")
    for page, level, title in bookmarks:
        begin, end = pages[page], pages[page + 1]
        begin = last.start if begin <= last.start < end else begin
        if begin < len(text):  # or no page has text from there on
            last = Heading(_line(text, title, begin, end), level, title)
            yield last


def _line(text: str, title: str, begin: int, end: int) -> int:
    """Where a line with the title and nothing else but its number begins, or `begin`."""
    words = r"\s+".join(re.escape(word) for word in title.split())
    line = re.compile(rf"^(?:[\dIVXLC.()§]+[ ]+)?{words}$", re.MULTILINE | re.IGNORECASE)
    match = line.search(text, begin, end)
    return match.start() if match else begin


def _bookmarks(document: PdfDocument, pages: int) -> list[tuple[int, int, str]]:
    """Page index, level and title; one without a page of its own has that of the next."""
    found: list[tuple[int, int, str]] = []
    page = pages
    for bookmark in reversed(list(document.get_toc())):
        page = _page(bookmark, page)
        title = _title(bookmark)
        if title and page < pages:
            found.append((page, bookmark.level, title))
    return found[::-1]


def _page(bookmark: PdfBookmark, following: int) -> int:
    target = bookmark.get_dest()
    index = target.get_index() if target else None
    return following if index is None else int(index)


def _title(bookmark: PdfBookmark) -> str:
    try:
        return " ".join(plain(bookmark.get_title()).split())
    except UnicodeDecodeError:
        return ""
