"""HTTP with manners: a pause between the requests to a host, few retries, bounded answers."""

import time
from collections.abc import Callable, Mapping
from email.message import Message
from importlib.metadata import version
from typing import Any

from pyrate_limiter import Limiter, Rate
from requests import PreparedRequest, RequestException, Response
from requests.exceptions import InvalidHeader, InvalidSchema, Timeout, TooManyRedirects
from requests_ratelimiter import LimiterAdapter
from requests_ratelimiter.buckets import HostBucketFactory
from urllib3 import Retry
from urllib3.exceptions import InvalidHeader as BadHeader
from urllib3.exceptions import NewConnectionError, TimeoutError

from atlas_search.core.errors import SourceError
from atlas_search.readers.html.options import MEGABYTE, FetchOptions

AGENT = "atlas-research-search"
"""What `robots.txt` calls us."""

_LONGEST_WAIT = 120  # seconds; a server that asks for more is asked again in another run
_LONGEST_ANSWER = 300  # seconds for one page, however slowly it drips
_BLOCK = 1 << 16


class Refused(RequestException):
    """A request that is not made, or an answer that is not taken. Says why."""


class PoliteRetry(Retry):
    """Waits before the first retry too, and gives up if the server asks for a long wait."""

    def get_backoff_time(self) -> float:
        """1, 2, 4, ... times the backoff factor."""
        return float(min(_LONGEST_WAIT, self.backoff_factor * 2 ** (len(self.history) - 1)))

    def parse_retry_after(self, retry_after: str) -> float:
        """Seconds, if they are not too many."""
        seconds = super().parse_retry_after(retry_after)
        if seconds > _LONGEST_WAIT:
            raise BadHeader(f"its server asks to wait {seconds:.0f} s; fetch it later")
        return seconds


class PoliteAdapter(LimiterAdapter):
    """Makes each request that is really sent, those for redirects among them.

    `check` sees it before, and can refuse; `accept` sees the head of each answer of status 200.
    """

    def __init__(
        self,
        limiter: Limiter,
        options: FetchOptions,
        check: Callable[[str], None],
        accept: Callable[[Response], None],
    ):
        super().__init__(limiter=limiter, max_retries=_retry(options))
        self._options = options
        self._check = check
        self._accept = accept

    def send(self, request: PreparedRequest, *args: Any, **kwargs: Any) -> Response:
        """The answer, read in full. Raises RequestException."""
        self._check(request.url or "")
        kwargs |= {"stream": True, "timeout": self._options.timeout}
        response = super().send(request, *args, **kwargs)
        try:
            if response.status_code == 200:
                self._accept(response)
            response._content = _bounded(response, self._options.max_bytes)
        finally:
            response.close()
        return response


def fault_of(error: RequestException) -> str:
    """What went wrong with a request, in a few words."""
    cause = error.args[0] if error.args else error
    cause = getattr(cause, "reason", cause)  # of what urllib3 gave up for
    match error:
        case Refused() | InvalidHeader():
            return str(cause)
        case TooManyRedirects():
            return "it redirects again and again"
        case InvalidSchema():
            return "it redirects to an address that is neither http nor https"
        case _ if isinstance(cause, NewConnectionError):  # which urllib3 counts as a timeout
            return f"cannot be reached: {cause}"
        case _ if isinstance(error, Timeout) or isinstance(cause, TimeoutError):
            return "no answer in time"
    return f"cannot be fetched: {cause}"


def headers(contact: str) -> Mapping[str, str]:
    """Who asks, and for what. Raises SourceError for a contact that cannot be sent."""
    if not (contact.isascii() and (contact.isprintable() or not contact)):
        raise SourceError(
            f"The contact {contact!r} must be ASCII: a mail address or a web address."
        )
    agent = f"{AGENT}/{version(AGENT)}" + (f" (+{contact})" if contact else "")
    return {"User-Agent": agent, "Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1"}


def host_limiter(delay: float) -> Limiter:
    """Lets one request per `delay` seconds through to each host. To be closed."""
    return Limiter(HostBucketFactory([_rate(delay)]))


def slow_down(limiter: Limiter, host: str, delay: float) -> None:
    """From now on let one request per `delay` seconds through to `host` (with its port)."""
    assert isinstance(limiter.bucket_factory, HostBucketFactory)
    limiter.bucket_factory[host].rates = [_rate(delay)]


def content_type(response: Response) -> tuple[str, str]:
    """The media type of an answer and its encoding in lower case, empty if it does not say."""
    stated = response.headers.get("Content-Type", "")
    message = Message()
    message["Content-Type"] = stated
    return message.get_content_type() if stated else "", message.get_content_charset("")


def _rate(delay: float) -> Rate:
    return Rate(1, max(1, round(1000 * delay)))


def _retry(options: FetchOptions) -> Retry:
    return PoliteRetry(
        total=options.retries,
        backoff_factor=options.delay,
        status_forcelist=(429, 500, 502, 503, 504),
        raise_on_status=False,
    )


def _bounded(response: Response, most: int) -> bytes:
    until = time.monotonic() + _LONGEST_ANSWER
    content = bytearray()
    for block in response.iter_content(_BLOCK):
        content += block
        if len(content) > most:
            raise Refused(f"longer than {most / MEGABYTE:g} MB: save it by hand if it is wanted")
        if time.monotonic() > until:
            raise Refused(f"not complete after {_LONGEST_ANSWER} s")
    return bytes(content)
