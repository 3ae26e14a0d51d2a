"""The sections of a PDF, from its outline (the bookmarks)."""

import re
from collections.abc import Iterator, Sequence

from pypdfium2 import PdfBookmark, PdfDocument

from atlas_search.core.domain import Segment
from atlas_search.readers.markup import Heading, plain, sections
from atlas_search.readers.titles import title_of_file

_POINTS = ".:–—"
_BETWEEN = rf"[{_POINTS}\s]*"  # bookmarks and print part a number from its heading in other ways
_NUMBER = r"^(?:[\dIVXLC.()§]+[ ]+)?"
_AHEAD = 50_000
"""Characters of a page in which a bookmark looks for its line, from that of the one before: a file
can have thousands of bookmarks for one page without an end."""

_LONGEST = 120
"""Characters of a line that begins with the title of a bookmark and is all the heading there is."""


def outline_sections(document: PdfDocument, text: str, pages: Sequence[int]) -> tuple[Segment, ...]:
    """A section for each bookmark, from the line of its page that has its title.

    It is named as that line has it, with its number. Where no line is the title, the first that
    begins with it counts, and names it if nothing else is in its paragraph; else the section begins
    with the page or at the bookmark before on that page.
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
            last = _heading(text, title, level, begin, min(end, begin + _AHEAD))
            yield last


def _heading(text: str, title: str, level: int, begin: int, end: int) -> Heading:
    words = _words(title)
    own = re.compile(rf"{_NUMBER}{words}[{_POINTS}]*$", re.MULTILINE | re.IGNORECASE)
    longer = re.compile(rf"{_NUMBER}{words}[{_POINTS}\u2003].*$", re.MULTILINE | re.IGNORECASE)
    match = own.search(text, begin, end) or longer.search(text, begin, end)
    if not match:
        return Heading(begin, level, title)
    line = " ".join(match[0].split())
    stands_alone = text[match.end() : match.end() + 2] in ("\n\n", "")
    is_name = match.re is own or (stands_alone and len(line) <= _LONGEST)
    return Heading(match.start(), level, line if is_name else title)


def _words(title: str) -> str:
    """The pattern of a title.

    Of several places for a word of points alone the first is taken, unless nothing comes behind it:
    to try all of them, for each of many dots, takes time that doubles with each dot.
    """
    first, *others = [word.rstrip(_POINTS) or word for word in title.split()]
    pattern = re.escape(first)
    for number, word in enumerate(others, start=1):
        is_sure = not word.strip(_POINTS) and number < len(others)
        between = f"{_BETWEEN}{'?' * is_sure}{re.escape(word)}"
        pattern += f"(?>{between})" if is_sure else between
    return pattern


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
        return title_of_file(" ".join(plain(bookmark.get_title()).split()))
    except UnicodeDecodeError:
        return ""
