"""Fetching a list of web pages into a folder that can be read like any other.

The folder is the cache too: a page that it holds is asked for again only by `refresh`, and then
only if it has changed. A fetch that was interrupted goes on from there. A cache of HTTP would keep
each page twice, and leave out those that say `no-store`.
"""

import hashlib
import json
import math
import re
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from email.message import Message
from http.cookiejar import CookieJar, DefaultCookiePolicy
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple
from urllib.parse import urldefrag, urlsplit

import typer
from httpx2 import URL, Client, Response, TimeoutException
from tenacity import Retrying, retry_if_exception, stop_after_attempt

from atlas_search.core.addresses import address_fault
from atlas_search.core.errors import SourceError
from atlas_search.core.files import write_whole
from atlas_search.core.ids import check_id
from atlas_search.providers.http import (
    ErrorStatus,
    Fault,
    Lost,
    http_faults,
    passes,
    readable_environment,
    retry_after,
    wait_as_asked,
)
from atlas_search.readers.network import (
    PublicNetwork,
    PublicTransport,
    RequestRefused,
    allowed_hosts,
)

if TYPE_CHECKING:
    from protego import Protego

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class FetchOptions:
    """`contact` is an address or a page by which a site can reach whoever fetches.

    `delay` is in seconds between the requests to a host, at least: a `robots.txt` can ask for more.
    `timeout` is in seconds, for the connection and for each part of an answer. `retries` is how
    often a request is repeated after an error of the network or the server, `refresh` whether
    pages are asked for again that were fetched before, `max_bytes` the longest page taken and
    `seconds` what it may take, however slowly it drips. `allow_private` are names, addresses and
    networks that may be fetched from though they are not public, joined by commas.
    """

    contact: str = ""
    delay: float = 1.0
    refresh: bool = False
    timeout: float = 30.0
    retries: int = 3
    max_bytes: int = 20 * MEGABYTE
    seconds: float = 300.0
    allow_private: str = ""


Contact = Annotated[
    str, typer.Option(help="Mail or web address that sites you fetch from are told")
]
Delay = Annotated[float, typer.Option(min=0.1, help="Seconds between requests to a site, at least")]
Refresh = Annotated[
    bool, typer.Option(help="Ask for pages that were fetched before if they have changed")
]
AllowPrivate = Annotated[
    str,
    typer.Option(
        help="Hosts and networks that may be fetched from though they are not public, joined "
        "by commas"
    ),
]

XHTML = "application/xhtml+xml"
PDF = "application/pdf"


class DamagedNote(ValueError):
    """The file beside a page cannot be read; says what to do."""


@dataclass(frozen=True)
class PageOrigin:
    """The address a page was read at, the day on which it was first seen as it is now (ISO), and
    what its server states: the type, the encoding, and by what it can be asked for a change only.
    All are empty for a page that was not fetched.
    """

    url: str = ""
    fetched: str = ""
    media_type: str = ""
    charset: str = ""
    etag: str = ""
    modified: str = ""


class Page(NamedTuple):
    """A page that was fetched."""

    content: bytes
    origin: PageOrigin


def origin_of(page: Path) -> PageOrigin:
    """The origin of a page. Raises DamagedNote."""
    note = _note(page)
    if note.is_symlink():  # Atlas writes none, and this one may lead anywhere
        return PageOrigin()
    try:
        return PageOrigin(**json.loads(note.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return PageOrigin()
    except (ValueError, TypeError) as error:
        raise DamagedNote(f"{note.name} is damaged: delete it and fetch the page again") from error


def read_held_page(path: Path) -> Page | None:
    """A page that was fetched before and is there; none if its note is damaged."""
    with suppress(DamagedNote, FileNotFoundError):
        origin = origin_of(path)
        if origin.url:
            return Page(path.read_bytes(), origin)
    return None


def save_page(page: Path, content: bytes, origin: PageOrigin) -> None:
    """Write a page and its note. A page that has this content already keeps its day."""
    held = read_held_page(page)
    if held and held.content == content:
        origin = replace(origin, fetched=held.origin.fetched)
    else:
        # no page stands beside a note about another: what is interrupted here is fetched again
        page.unlink(missing_ok=True)
    page.parent.mkdir(parents=True, exist_ok=True)
    write_whole(_note(page), json.dumps(asdict(origin), ensure_ascii=False).encode())
    if not page.exists():
        write_whole(page, content)


def remove_pages(folder: Path, keep: frozenset[Path]) -> None:
    """Delete the fetched pages below `folder` that are not among `keep`, and nothing else."""
    for note in sorted(folder.glob("*/.*.json")):
        page = note.with_name(note.name.removeprefix(".").removesuffix(".json"))
        if page not in keep:
            page.unlink(missing_ok=True)
            note.unlink()
    for corpus in sorted(path for path in folder.glob("[!.]*/") if not any(path.iterdir())):
        corpus.rmdir()


def _note(page: Path) -> Path:
    return page.with_name(f".{page.name}.json")


AGENT = "atlas-research-search"
"""The name of this program in `robots.txt`."""

_LONGEST_WAIT = 120  # seconds; a server that asks for more is asked again in another run
_REDIRECTS = 10
_OVERHEAD = 200_000  # bytes: what comes before a page, and what cannot be compressed grows by


class PoliteSession:
    """To be closed. Raises SourceError for a contact that cannot be sent and for allowed hosts that
    cannot be any."""

    def __init__(
        self,
        options: FetchOptions,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._options = options
        self._sleep = sleep
        self._clock = clock
        self._delays: dict[str, float] = {}
        self._asked: dict[str, float] = {}
        """When each host was asked last."""
        self._retrying = Retrying(
            retry=retry_if_exception(passes),
            wait=wait_as_asked(options.delay, _LONGEST_WAIT),
            stop=stop_after_attempt(1 + options.retries),
            sleep=sleep,
            reraise=True,
        )
        headers = _headers(options.contact)
        self._network = PublicNetwork(
            allowed_hosts(options.allow_private),
            options.seconds,
            options.max_bytes + _OVERHEAD,
            clock,
        )
        with readable_environment():
            self._client = Client(
                headers=headers,
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
                timeout=options.timeout,
            )
            # given as an argument, it would take the place of the environment's proxies too
            self._client._transport.close()
            self._client._transport = PublicTransport(self._network)

    def close(self) -> None:
        self._client.close()

    def slow_down(self, host: str, delay: float) -> None:
        """From now on wait `delay` seconds between requests to `host`, if that is longer."""
        self._delays[host] = max(delay, self._options.delay)

    def get(
        self,
        address: str,
        check: Callable[[URL], None] = lambda _url: None,
        types: frozenset[str] = frozenset(),
        held: Page | None = None,
    ) -> Page:
        """Fetch an address, after all redirects. Raises Fault.

        `check` sees each address before it is asked, and can refuse it. `types` are the media types
        taken, all if there are none. A page `held` already is given back if it has not changed.
        """
        with http_faults():
            url = URL(address)
        for _ in range(_REDIRECTS + 1):
            url = url.copy_with(raw_path=url.raw_path, fragment=None)
            if url.scheme not in ("http", "https"):
                raise RequestRefused("it redirects to an address that is neither http nor https")
            if fault := address_fault(str(url)):
                raise RequestRefused(f"it redirects to an address that {fault}")
            self._network.check(url.raw_host.decode("ascii"))
            check(url)
            # what a tag says holds for its own address only
            known = held if held and held.origin.url == str(url) else None
            got: Page | URL = self._retrying(self._ask, url, types, known)
            if isinstance(got, Page):
                return got
            url = got
        raise RequestRefused("it redirects again and again")

    def _ask(self, url: URL, types: frozenset[str], known: Page | None) -> Page | URL:
        """Fetch one address, or return the one to which it redirects."""
        self._pause(url.netloc.decode("ascii"))
        conditions = _conditions(known.origin) if known else {}
        self._network.begin()
        with http_faults(), self._client.stream("GET", url, headers=conditions) as response:
            if response.next_request:
                return response.next_request.url
            if response.status_code == 304 and known:
                return known
            if response.status_code != 200:
                raise _refusal(response)
            origin = _origin(url, response)
            if "," in response.headers.get("content-encoding", ""):
                # each would multiply what the one before it gives
                raise RequestRefused("its server compresses it more than once")
            if types and origin.media_type not in types:
                wanted = "PDF" if PDF in types else "web page"
                raise RequestRefused(
                    f"not a {wanted} but {origin.media_type or 'of no stated type'}"
                )
            return Page(self._content(response), origin)

    def _pause(self, host: str) -> None:
        delay = self._delays.get(host, self._options.delay)
        wait = self._asked.get(host, -math.inf) + delay - self._clock()
        if wait > 0:
            self._sleep(wait)
        self._asked[host] = self._clock()

    def _content(self, response: Response) -> bytes:
        most = self._options.max_bytes
        content = bytearray()
        for block in response.iter_bytes():
            content += block
            if len(content) > most:
                raise RequestRefused(
                    f"longer than {most / MEGABYTE:g} MB: save it by hand if it is wanted"
                )
            self._network.check_time()
        return bytes(content)


def reason(fault: Fault) -> str:
    """Describe a fault in a few words."""
    match fault:
        case RequestRefused():
            return str(fault)
        case ErrorStatus():
            return f"HTTP {fault.status} {fault.body}".rstrip()
        case Lost() if isinstance(fault.__cause__, TimeoutException):
            return "no answer in time"
    return f"cannot be fetched: {fault}"


def _refusal(response: Response) -> Fault:
    wait = retry_after(response.headers)
    fault = ErrorStatus(response.status_code, response.reason_phrase, wait)
    if passes(fault) and wait > _LONGEST_WAIT:
        return RequestRefused(f"its server asks to wait {wait:.0f} s; fetch it later")
    return fault


def _headers(contact: str) -> Mapping[str, str]:
    """Build the headers of a request. Raises SourceError for a contact that is not ASCII."""
    if not (contact.isascii() and (contact.isprintable() or not contact)):
        raise SourceError(
            f"The contact {contact!r} must be ASCII: a mail address or a web address."
        )
    agent = f"{AGENT}/{version(AGENT)}" + (f" (+{contact})" if contact else "")
    return {"User-Agent": agent, "Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1"}


def _conditions(origin: PageOrigin) -> Mapping[str, str]:
    conditions = {"If-None-Match": origin.etag, "If-Modified-Since": origin.modified}
    return {name: value for name, value in conditions.items() if value and value.isascii()}


def _origin(url: URL, response: Response) -> PageOrigin:
    message = Message()
    message["Content-Type"] = response.headers.get("content-type", "")
    return PageOrigin(
        str(url),
        fetched=datetime.now(UTC).date().isoformat(),
        media_type=message.get_content_type() if message["Content-Type"] else "",
        charset=message.get_content_charset(""),
        etag=response.headers.get("etag", ""),
        modified=response.headers.get("last-modified", ""),
    )


_LONGEST_DELAY = 60  # seconds; a site that asks for more does not want to be fetched from
_READ = 512_000  # bytes; RFC 9309 asks for 500 KiB at least


class Robots:
    """The rules of each site, read once.

    Where a site answers with a client error (404) all is allowed. With a server error, too many
    requests (429) or no answer at all nothing is, for what it wants is not known.
    """

    def __init__(self, session: PoliteSession):
        self._session = session
        self._rules: dict[str, Protego | str] = {}

    def check(self, url: URL) -> None:
        """Raise Refused if the site of `url` does not want it fetched."""
        host = url.netloc.decode("ascii")
        address = f"{url.scheme}://{host}/robots.txt"
        if address not in self._rules:
            self._rules[address] = self._read(address, host)
        rules = self._rules[address]
        if isinstance(rules, str):
            raise RequestRefused(rules)
        if not rules.can_fetch(str(url), AGENT):
            raise RequestRefused(f"{address} does not allow it")

    def _read(self, address: str, host: str) -> "Protego | str":
        """The rules, or why there can be none."""
        text = ""
        try:
            text = self._session.get(address).content[:_READ].decode("utf-8-sig", "replace")
        except Fault as fault:
            if not isinstance(fault, ErrorStatus) or passes(fault):
                return f"{address} cannot be read, so nothing is allowed: {reason(fault)}"
        from protego import Protego

        rules = Protego.parse(text)
        delay = rules.crawl_delay(AGENT) or 0
        if delay > _LONGEST_DELAY:
            return f"{address} asks for {delay:g} s between requests: too slow"
        self._session.slow_down(host, delay)
        return rules


LIST_SUFFIXES = frozenset({".txt", ".urls"})
CORPUS = "web"
"""The corpus of addresses above the first `[corpus]`."""

_COMMENT = re.compile(r"(?:^|\s)#.*")  # not the # inside an address


@dataclass(frozen=True)
class Listed:
    """An address of a list, without its fragment, and its corpus."""

    corpus: str
    url: str


def read_list(path: Path) -> tuple[list[Listed], list[tuple[str, str]]]:
    """The addresses of a list in order, each once a corpus, and the lines that are none, with why.

    Raises SourceError for a list that cannot be read, a `[corpus]` that cannot be one, and if there
    is nothing to fetch.
    """
    listed: dict[Listed, None] = {}
    failures = []
    corpus = CORPUS
    for number, line in enumerate(_lines(path), start=1):
        text = _COMMENT.sub("", line).strip()
        if text.startswith("["):
            heading = text.removeprefix("[").removesuffix("]").strip()
            corpus = check_id(heading, f"{path}, line {number}")
        elif text and (fault := _fault(text)):
            failures.append((text, f"line {number}: {fault}"))
        elif text:
            listed.setdefault(Listed(corpus, urldefrag(text).url))
    if not listed and not failures:
        raise SourceError(
            f"{path} lists no address. Write one a line, such as https://example.org."
        )
    return list(listed), failures


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise SourceError(
            f"{path} is not UTF-8 at byte {error.start}. A list of addresses must be."
        ) from error


def _fault(text: str) -> str:
    """Say why a text is no address to fetch; empty if it is one."""
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        return f"not an address: {error}"
    if parts.scheme not in ("http", "https") or not host:
        return "not an address that begins with http:// or https://"
    if len(text.split()) > 1:
        return "an address has no blanks: write %20 for them"
    if parts.username is not None:
        return "it holds a user name or password, which would be shown with each citation"
    fault = address_fault(text)
    return f"it {fault}" if fault else ""


PAGES = frozenset({"text/html", XHTML})
_Paths = dict[tuple[str, str], Path]
"""Files by their corpus and the address that they were read at."""


@dataclass(frozen=True)
class FetchReport:
    """The pages of a list as files, and the addresses that gave none, or no new one, with why."""

    pages: tuple[Path, ...]
    failures: tuple[tuple[str, str], ...]


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
            path = folder / item.corpus / page_name(item.url, ".html")
            page = _find_held(path, folder)
            try:
                if options.refresh or not page:
                    page = session.get(item.url, robots.check, PAGES, page)
                _keep(item, path, page, paths)
            except Fault as fault:
                failures.append((item.url, _explain_kept(item, path, reason(fault), paths)))
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
        raise RequestRefused(f"another address of the corpus leads to the same page, {url}")
    save_page(path, *page)
    paths[item.corpus, url] = path


def _explain_kept(item: Listed, path: Path, fault: str, paths: _Paths) -> str:
    """The fault, and that a page fetched before is kept in spite of it."""
    page = read_held_page(path)
    if not page or (item.corpus, page.origin.url) in paths:
        return fault
    paths[item.corpus, page.origin.url] = path
    return f"{fault}; the page as it was on {page.origin.fetched} is kept"


def page_name(url: str, suffix: str) -> str:
    """The name of the file of an address."""
    parts = urlsplit(url)
    words = f"{parts.hostname}{parts.path}-{parts.query}".lower().removeprefix("www.")
    return file_name(words, url, suffix)


def file_name(words: str, whole: str, suffix: str) -> str:
    """A name of words that people know, and of the digest of the whole."""
    slug = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:60].strip("-")
    return f"{slug}-{hashlib.sha256(whole.encode()).hexdigest()[:8]}{suffix}"
