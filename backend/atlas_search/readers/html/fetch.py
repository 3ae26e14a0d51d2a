"""Fetching a list of web pages into a folder that can be read like any other.

Pages are kept in a cache of HTTP: a page that was fetched is asked for again only by `refresh`,
and then only if it has changed. A fetch that was interrupted goes on from there.
"""

import hashlib
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from pathlib import Path
from urllib.parse import urlsplit

from requests import RequestException, Response
from requests_cache import AnyResponse, CachedSession

from atlas_search.core.errors import SourceError
from atlas_search.readers.html.options import FetchOptions
from atlas_search.readers.html.origin import (
    XHTML,
    DamagedNote,
    Origin,
    origin_of,
    remove_pages,
    save_page,
)
from atlas_search.readers.html.robots import Robots
from atlas_search.readers.html.session import (
    PoliteAdapter,
    Refused,
    content_type,
    fault_of,
    headers,
    host_limiter,
)
from atlas_search.readers.html.urls import Failure, Listed, read_list

CACHE = ".cache.sqlite"

_MEDIA_TYPES = frozenset({"text/html", XHTML})
_REDIRECTS = 10
_Pages = dict[tuple[str, str], Path]
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
    SourceError for a list that cannot be understood and for a damaged cache.
    """
    listed, failures = read_list(list_file)
    pages: _Pages = {}
    with _session(folder, options) as session:
        for done, item in enumerate(listed, start=1):
            page = folder / item.corpus / _name(item.url)
            try:
                _fetch(session, item, page, options.refresh, pages)
            except RequestException as error:
                failures.append(Failure(item.url, _kept(item, page, fault_of(error), pages)))
            progress(done, len(listed))
    remove_pages(folder, frozenset(pages.values()))
    return FetchReport(tuple(pages.values()), tuple(failures))


def _fetch(session: CachedSession, item: Listed, page: Path, refresh: bool, pages: _Pages) -> None:
    response = _response(session, item.url, refresh)
    if response.status_code != 200:
        raise Refused(f"HTTP {response.status_code} {response.reason or ''}".rstrip())
    if (item.corpus, response.url) in pages:
        raise Refused(f"another address of the corpus leads to the same page, {response.url}")
    fetched = response.created_at.date().isoformat()
    save_page(page, response.content, Origin(response.url, fetched, *content_type(response)))
    pages[item.corpus, response.url] = page


def _response(session: CachedSession, url: str, refresh: bool) -> AnyResponse:
    response = session.get(url, refresh=refresh)
    if refresh and response.from_cache and not response.revalidated:
        # its server gave nothing by which it could be asked for a change only
        return session.get(url, force_refresh=True)
    return response


def _kept(item: Listed, page: Path, fault: str, pages: _Pages) -> str:
    """The fault, and that a page fetched before is kept in spite of it."""
    try:
        origin = origin_of(page)
    except DamagedNote:
        return fault
    if not page.exists() or (item.corpus, origin.url) in pages:
        return fault
    pages[item.corpus, origin.url] = page
    return f"{fault}; the page as it was on {origin.fetched} is kept"


@contextmanager
def _session(folder: Path, options: FetchOptions) -> Iterator[CachedSession]:
    folder.mkdir(parents=True, exist_ok=True)
    with (
        closing(host_limiter(options.delay)) as limiter,
        closing(Robots(limiter, options)) as robots,
        closing(_cached_session(folder / CACHE)) as session,
    ):
        session.headers.update(headers(options.contact))
        session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        session.max_redirects = _REDIRECTS
        adapter = PoliteAdapter(limiter, options, robots.check, _accept)
        for scheme in ("http://", "https://"):
            session.mount(scheme, adapter)
        yield session


def _cached_session(path: Path) -> CachedSession:
    try:
        # by default a cache leaves out parts of addresses, and is pickled: JSON runs no code
        return CachedSession(
            path,
            backend="sqlite",
            serializer="json",
            ignored_parameters=(),
            key_fn=lambda request, **_: str(request.url),
        )
    except sqlite3.DatabaseError as error:
        raise SourceError(
            f"{path} is damaged: {error}. Delete it; its pages are fetched again then."
        ) from error


def _accept(response: Response) -> None:
    """Take web pages only. Raises Refused."""
    media_type, _ = content_type(response)
    if media_type not in _MEDIA_TYPES:
        raise Refused(f"not a web page but {media_type or 'of no stated type'}")
    # all requests have the same headers, and `Vary: *` would keep a page out of the cache
    response.headers.pop("Vary", None)


def _name(url: str) -> str:
    parts = urlsplit(url)
    words = f"{parts.hostname}{parts.path}-{parts.query}".lower().removeprefix("www.")
    slug = re.sub(r"[^a-z0-9]+", "-", words).strip("-")[:60].strip("-")
    return f"{slug}-{hashlib.sha256(url.encode()).hexdigest()[:8]}.html"
