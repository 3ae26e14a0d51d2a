"""Fetching a list of web pages into a folder that can be read like any other.

The folder is the cache too: a page that it holds is asked for again only by `refresh`, and then
only if it has changed. A fetch that was interrupted goes on from there. A cache of HTTP would keep
each page twice, and leave out those that say `no-store`.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from atlas_search.providers.http import Fault
from atlas_search.readers.html.options import FetchOptions
from atlas_search.readers.html.origin import XHTML, Origin, held_origin, remove_pages, save_page
from atlas_search.readers.html.robots import Robots
from atlas_search.readers.html.session import PoliteSession, Refused, Unchanged, reason
from atlas_search.readers.html.urls import Failure, Listed, read_list

_MEDIA_TYPES = frozenset({"text/html", XHTML})
_Pages = dict[tuple[str, str], Path]
"""Files by their corpus and the address that they were read at."""
_Held = tuple[bytes, Origin]


@dataclass(frozen=True)
class FetchReport:
    """The pages of a list as files, and the addresses that gave none, or no new one."""

    pages: tuple[Path, ...]
    failures: tuple[Failure, ...]


def fetch_urls(
    list_file: Path, folder: Path, options: FetchOptions, progress: Callable[[int, int], None]
) -> FetchReport:
    """Fetch the addresses of a list, and make `folder` hold their pages: `<corpus>/<name>.html`.

    Whatever keeps a page from being fetched is a failure; the page fetched before is kept. Pages
    that left the list are deleted. `progress` gets the addresses done and all of them. Raises
    SourceError for a list that cannot be understood.
    """
    listed, failures = read_list(list_file)
    pages: _Pages = {}
    with closing(PoliteSession(options)) as session:
        robots = Robots(session)
        for done, item in enumerate(listed, start=1):
            page = folder / item.corpus / _name(item.url)
            held = _held(page, folder)
            try:
                if options.refresh or not held:
                    held = _fetched(session, robots, item.url, held)
                _keep(item, page, held, pages)
            except Fault as fault:
                failures.append(Failure(item.url, _kept(item, page, reason(fault), pages)))
            progress(done, len(listed))
    remove_pages(folder, frozenset(pages.values()))
    return FetchReport(tuple(pages.values()), tuple(failures))


def _held(page: Path, folder: Path) -> _Held | None:
    """A page as it was fetched before, for this corpus or for another one."""
    for copy in (page, *sorted(folder.glob(f"*/{page.name}"))):
        if origin := held_origin(copy):
            return copy.read_bytes(), origin
    return None


def _fetched(session: PoliteSession, robots: Robots, url: str, held: _Held | None) -> _Held:
    """The page as it is now. Raises Fault."""

    def conditions(asked: str) -> Mapping[str, str]:
        if not held or held[1].url != asked:  # what a tag says holds for its own address only
            return {}
        given = {"If-None-Match": held[1].etag, "If-Modified-Since": held[1].modified}
        return {name: value for name, value in given.items() if value and value.isascii()}

    got = session.get(url, robots.check, _MEDIA_TYPES, conditions)
    if isinstance(got, Unchanged):
        assert held
        return held
    today = datetime.now(UTC).date().isoformat()
    return got.content, Origin(got.url, today, got.media_type, got.charset, got.etag, got.modified)


def _keep(item: Listed, page: Path, held: _Held, pages: _Pages) -> None:
    content, origin = held
    if (item.corpus, origin.url) in pages:
        raise Refused(f"another address of the corpus leads to the same page, {origin.url}")
    save_page(page, content, origin)
    pages[item.corpus, origin.url] = page


def _kept(item: Listed, page: Path, fault: str, pages: _Pages) -> str:
    """The fault, and that a page fetched before is kept in spite of it."""
    origin = held_origin(page)
    if not origin or (item.corpus, origin.url) in pages:
        return fault
    pages[item.corpus, origin.url] = page
    return f"{fault}; the page as it was on {origin.fetched} is kept"


def _name(url: str) -> str:
    parts = urlsplit(url)
    words = f"{parts.hostname}{parts.path}-{parts.query}".lower().removeprefix("www.")
    slug = re.sub(r"[^a-z0-9]+", "-", words).strip("-")[:60].strip("-")
    return f"{slug}-{hashlib.sha256(url.encode()).hexdigest()[:8]}.html"
