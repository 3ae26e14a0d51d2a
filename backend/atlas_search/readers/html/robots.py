"""What sites allow, by their `robots.txt` (RFC 9309)."""

from httpx2 import URL
from protego import Protego

from atlas_search.providers.http import Answered, Fault, passes
from atlas_search.readers.html.network import Refused
from atlas_search.readers.html.session import AGENT, PoliteSession, reason

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
            raise Refused(rules)
        if not rules.can_fetch(str(url), AGENT):
            raise Refused(f"{address} does not allow it")

    def _read(self, address: str, host: str) -> Protego | str:
        """The rules, or why there can be none."""
        text = ""
        try:
            text = self._session.get(address).content[:_READ].decode("utf-8-sig", "replace")
        except Fault as fault:
            if not isinstance(fault, Answered) or passes(fault):
                return f"{address} cannot be read, so nothing is allowed: {reason(fault)}"
        rules = Protego.parse(text)
        delay = rules.crawl_delay(AGENT) or 0
        if delay > _LONGEST_DELAY:
            return f"{address} asks for {delay:g} s between requests: too slow"
        self._session.slow_down(host, delay)
        return rules
