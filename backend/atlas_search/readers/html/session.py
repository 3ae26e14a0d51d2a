"""HTTP with manners: a pause between the requests to a host, few retries, bounded answers."""

import math
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.message import Message
from http.cookiejar import CookieJar, DefaultCookiePolicy
from importlib.metadata import version

from httpx2 import URL, Client, Response, TimeoutException
from tenacity import Retrying, retry_if_exception, stop_after_attempt

from atlas_search.core.addresses import address_fault
from atlas_search.core.errors import SourceError
from atlas_search.providers.http import (
    Answered,
    Fault,
    Lost,
    http_faults,
    passes,
    readable_environment,
    retry_after,
    wait_as_asked,
)
from atlas_search.readers.html.network import (
    PublicNetwork,
    PublicTransport,
    Refused,
    allowed_hosts,
)
from atlas_search.readers.html.options import MEGABYTE, FetchOptions
from atlas_search.readers.html.origin import Page, PageOrigin

AGENT = "atlas-research-search"
"""What `robots.txt` calls us."""

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
        """Close the connections."""
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
        """What an address gives, after all redirects. Raises Fault.

        `check` sees each address before it is asked, and can refuse it. `types` are the media types
        taken, all if there are none. A page `held` already is given back if it has not changed.
        """
        with http_faults():
            url = URL(address)
        for _ in range(_REDIRECTS + 1):
            url = url.copy_with(raw_path=url.raw_path, fragment=None)
            if url.scheme not in ("http", "https"):
                raise Refused("it redirects to an address that is neither http nor https")
            if fault := address_fault(str(url)):
                raise Refused(f"it redirects to an address that {fault}")
            self._network.check(url.raw_host.decode("ascii"))
            check(url)
            # what a tag says holds for its own address only
            known = held if held and held.origin.url == str(url) else None
            got: Page | URL = self._retrying(self._ask, url, types, known)
            if isinstance(got, Page):
                return got
            url = got
        raise Refused("it redirects again and again")

    def _ask(self, url: URL, types: frozenset[str], known: Page | None) -> Page | URL:
        """What one address gives, or the one to which it redirects."""
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
                raise Refused("its server compresses it more than once")
            if types and origin.media_type not in types:
                raise Refused(f"not a web page but {origin.media_type or 'of no stated type'}")
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
                raise Refused(
                    f"longer than {most / MEGABYTE:g} MB: save it by hand if it is wanted"
                )
            self._network.check_time()
        return bytes(content)


def reason(fault: Fault) -> str:
    """What went wrong with a request, in a few words."""
    match fault:
        case Refused():
            return str(fault)
        case Answered():
            return f"HTTP {fault.status} {fault.body}".rstrip()
        case Lost() if isinstance(fault.__cause__, TimeoutException):
            return "no answer in time"
    return f"cannot be fetched: {fault}"


def _refusal(response: Response) -> Fault:
    wait = retry_after(response.headers)
    fault = Answered(response.status_code, response.reason_phrase, wait)
    if passes(fault) and wait > _LONGEST_WAIT:
        return Refused(f"its server asks to wait {wait:.0f} s; fetch it later")
    return fault


def _headers(contact: str) -> Mapping[str, str]:
    """Who asks, and for what."""
    if not (contact.isascii() and (contact.isprintable() or not contact)):
        raise SourceError(
            f"The contact {contact!r} must be ASCII: a mail address or a web address."
        )
    agent = f"{AGENT}/{version(AGENT)}" + (f" (+{contact})" if contact else "")
    return {"User-Agent": agent, "Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1"}


def _conditions(origin: PageOrigin) -> Mapping[str, str]:
    given = {"If-None-Match": origin.etag, "If-Modified-Since": origin.modified}
    return {name: value for name, value in given.items() if value and value.isascii()}


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
