"""What sites allow, by their `robots.txt` (RFC 9309)."""

from urllib.parse import urlsplit

from protego import Protego
from pyrate_limiter import Limiter
from requests import RequestException, Session

from atlas_search.readers.html.options import FetchOptions
from atlas_search.readers.html.session import (
    AGENT,
    PoliteAdapter,
    Refused,
    fault_of,
    headers,
    slow_down,
)

_LONGEST_DELAY = 60  # seconds; a site that asks for more does not want to be fetched from
_READ = 512_000  # bytes; RFC 9309 asks for 500 KiB at least


class Robots:
    """The rules of each site, read once.

    Where a site answers with a client error (404) all is allowed. With a server error, too many
    requests (429) or no answer at all nothing is, for what it wants is not known.
    """

    def __init__(self, limiter: Limiter, options: FetchOptions):
        self._limiter = limiter
        self._delay = options.delay
        self._rules: dict[str, Protego | str] = {}
        self._session = Session()
        self._session.headers.update(headers(options.contact))
        adapter = PoliteAdapter(limiter, options, lambda _url: None, lambda _response: None)
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, adapter)

    def check(self, url: str) -> None:
        """Raise Refused if the site of `url` does not want it fetched."""
        parts = urlsplit(url)
        site = f"{parts.scheme}://{parts.netloc}"
        if site not in self._rules:
            self._rules[site] = self._read(f"{site}/robots.txt", parts.netloc)
        rules = self._rules[site]
        if isinstance(rules, str):
            raise Refused(rules)
        if not rules.can_fetch(url, AGENT):
            raise Refused(f"{site}/robots.txt does not allow it")

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def _read(self, address: str, host: str) -> Protego | str:
        """The rules, or why there can be none."""
        try:
            response = self._session.get(address)
        except RequestException as error:
            return f"{address} cannot be read, so nothing is allowed: {fault_of(error)}"
        status = response.status_code
        if status == 429 or status >= 500:
            return f"{address} cannot be read, so nothing is allowed: HTTP {status}"
        text = response.content[:_READ].decode("utf-8-sig", "replace") if status == 200 else ""
        rules = Protego.parse(text)
        delay = rules.crawl_delay(AGENT) or 0
        if delay > _LONGEST_DELAY:
            return f"{address} asks for {delay:g} s between requests: too slow"
        slow_down(self._limiter, host, max(self._delay, delay))
        return rules
