"""The title of a page, without the name of its site."""

import re
from collections.abc import Iterator, Sequence

from lxml.html import HtmlElement

from atlas_search.readers.markup import PERMALINKS, plain
from atlas_search.readers.titles import clean_title

_PARTS = re.compile(r"\s+[-–—/:•·»«|]+\s+|\s*[|•·»«]\s*|:\s+")
"""What stands between the title of a page and the name of its site."""


def page_title(page: HtmlElement, stated: Sequence[str], sites: Sequence[str]) -> str:
    """The first of the `stated` titles that is one, else the `title` or the only `h1` of the page.

    Without the name of a site, which is one of `sites` or what stands beside an `h1`.
    """
    headings = list(_texts(page.iter("h1")))
    titles = [title for text in stated if (title := clean_title(text))]
    own = list(_texts(page.iterfind("head/title")))
    if len(headings) == 1 and not titles and _is_among(headings[0], own):
        return headings[0]
    if not titles + own:
        return ""
    title = (titles + own)[0]
    title = next(_rest(title, sites), title)
    return next(_parts_among(title, sorted(headings, key=len, reverse=True)), title)


def _is_among(heading: str, titles: Sequence[str]) -> bool:
    """Whether it is one of several parts of the title, or there is none to hold it against."""
    if not titles:
        return True
    return heading.casefold() in titles[0].casefold() and bool(_PARTS.search(titles[0]))


def _texts(elements: Iterator[HtmlElement]) -> Iterator[str]:
    for element in elements:
        line = " ".join(plain("".join(element.itertext())).split())
        if title := clean_title(line.rstrip("".join(PERMALINKS)).rstrip()):
            yield title


def _rest(title: str, sites: Sequence[str]) -> Iterator[str]:
    """The title without the name of a site at its beginning or its end."""
    for part in _PARTS.finditer(title):
        before, after = title[: part.start()], title[part.end() :]
        for site in sites:
            if after.casefold() == site.casefold():
                yield before
            if before.casefold() == site.casefold():
                yield after


def _parts_among(title: str, headings: Sequence[str]) -> Iterator[str]:
    """The headings that are all of the title before a mark that parts it, or all behind.

    What stands behind and is the shorter part is the name of the site.
    """
    parts = list(_PARTS.finditer(title))
    begins = {title[: part.start()].casefold() for part in parts}
    ends = {end.casefold() for part in parts if 2 * len(end := title[part.end() :]) >= len(title)}
    return (heading for heading in headings if heading.casefold() in begins | ends)
