"""Fetching a list of web pages into a folder that can be read like any other.

The folder is the cache too: a page that it holds is asked for again only by `refresh`, and then
only if it has changed. A fetch that was interrupted goes on from there. A cache of HTTP would keep
each page twice, and leave out those that say `no-store`.
"""

import hashlib
import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from atlas_search.providers.http import Fault
from atlas_search.readers.html.network import Refused
from atlas_search.readers.html.options import FetchOptions
from atlas_search.readers.html.origin import XHTML, Page, read_held_page, remove_pages, save_page
from atlas_search.readers.html.robots import Robots
from atlas_search.readers.html.session import PoliteSession, reason
from atlas_search.readers.html.urls import Failure, Listed, read_list

_MEDIA_TYPES = frozenset({"text/html", XHTML})
_Paths = dict[tuple[str, str], Path]
"""Files by their corpus and the address that they were read at."""


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
    paths: _Paths = {}
    with closing(PoliteSession(options)) as session:
        robots = Robots(session)
        for done, item in enumerate(listed, start=1):
            path = folder / item.corpus / _name(item.url)
            page = _find_held(path, folder)
            try:
                if options.refresh or not page:
                    page = session.get(item.url, robots.check, _MEDIA_TYPES, page)
                _keep(item, path, page, paths)
            except Fault as fault:
                failures.append(Failure(item.url, _explain_kept(item, path, reason(fault), paths)))
            progress(done, len(listed))
    remove_pages(folder, frozenset(paths.values()))
    return FetchReport(tuple(paths.values()), tuple(failures))


def _find_held(path: Path, folder: Path) -> Page | None:
    """A page as it was fetched before, for this corpus or for another one."""
    copies = map(read_held_page, (path, *sorted(folder.glob(f"*/{path.name}"))))
    return next((page for page in copies if page), None)


def _keep(item: Listed, path: Path, page: Page, paths: _Paths) -> None:
    url = page.origin.url
    if (item.corpus, url) in paths:
        raise Refused(f"another address of the corpus leads to the same page, {url}")
    save_page(path, *page)
    paths[item.corpus, url] = path


def _explain_kept(item: Listed, path: Path, fault: str, paths: _Paths) -> str:
    """The fault, and that a page fetched before is kept in spite of it."""
    page = read_held_page(path)
    if not page or (item.corpus, page.origin.url) in paths:
        return fault
    paths[item.corpus, page.origin.url] = path
    return f"{fault}; the page as it was on {page.origin.fetched} is kept"


def _name(url: str) -> str:
    parts = urlsplit(url)
    words = f"{parts.hostname}{parts.path}-{parts.query}".lower().removeprefix("www.")
    slug = re.sub(r"[^a-z0-9]+", "-", words).strip("-")[:60].strip("-")
    return f"{slug}-{hashlib.sha256(url.encode()).hexdigest()[:8]}.html"
