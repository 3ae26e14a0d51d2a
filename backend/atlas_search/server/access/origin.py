"""Checks of the name by which a request reached the server, and of the page that sent it.

A browser sends what any page wants to any address. So a page of another origin is refused here. And
whoever owns a name can turn it to this machine (DNS rebinding): his page would then be of the same
origin, so only known names are answered.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from flask import Response, request

from atlas_search.core.errors import ForeignOrigin, UnknownHost
from atlas_search.core.ids import COLLECTION_HEADER
from atlas_search.core.settings import Settings, listed
from atlas_search.server.access.caller import RELAYS

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:/@?#\[\]\s,]+)(?::\d*)?")
_LOCAL = ("localhost", "127.0.0.1", "::1")
_API = ("/api/", *RELAYS)
_LONGEST = 80  # characters of a stranger's header that are told

_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST, PUT, DELETE",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, Last-Event-ID, "
    f"Mcp-Protocol-Version, Mcp-Session-Id, {COLLECTION_HEADER}",
    "Access-Control-Max-Age": "600",
}
_READABLE = "Allow, Content-Disposition, Retry-After"


@dataclass(frozen=True)
class Origins:
    """The names of the server, and the origins of pages that may use its API.

    With `every_address` an address is as good as a name: nobody else can own it.
    """

    hosts: frozenset[str]
    every_address: bool
    public: str
    allowed: frozenset[str]

    def check_host(self, host: str) -> None:
        """Raise UnknownHost for a Host header that names another server."""
        match = _HOST.fullmatch(host)
        name = _name(match[1]) if match else ""
        if name not in self.hosts and not (self.every_address and _is_address(name)):
            raise UnknownHost(
                f"This server is not known as {host[:_LONGEST]!r}. Use its own address, or have "
                "ATLAS_ALLOWED_HOSTS or ATLAS_PUBLIC_URL name the host."
            )

    def check_origin(self, origin: str, site: str, host: str) -> None:
        """Raise ForeignOrigin for a page of another origin: its Origin and Sec-Fetch-Site."""
        if not (origin in self.allowed or self._is_own(origin, site, host)):
            raise ForeignOrigin(
                f"A page of another origin ({origin[:_LONGEST] or site[:_LONGEST]}) may not use "
                "this API. Have ATLAS_ALLOWED_ORIGINS name it, or if it is the server's own page "
                "behind a proxy, ATLAS_PUBLIC_URL."
            )

    def _is_own(self, origin: str, site: str, host: str) -> bool:
        if origin == "null":  # a sandboxed frame or a file
            return False
        if site:  # no page can write this header
            return site in ("same-origin", "none")
        return not origin or origin == self.public or origin.partition("://")[2] == host.lower()


def origins(settings: Settings) -> Origins:
    """Read the known hosts and allowed origins from the settings."""
    public = urlsplit(settings.atlas_public_url)
    addresses = [each.strip("[]") for each in (settings.atlas_host, settings.atlas_address)]
    own = (*_LOCAL, *addresses, public.hostname or "")
    hosts = (*own, *listed(settings.atlas_allowed_hosts))
    return Origins(
        hosts=frozenset(_name(host) for host in hosts if host),
        every_address=any(_is_address(a) and ip_address(a).is_unspecified for a in addresses),
        public=f"{public.scheme}://{public.netloc}".lower(),
        allowed=frozenset(origin.lower() for origin in listed(settings.atlas_allowed_origins)),
    )


def origin_gate(known: Origins) -> Callable[[], Response | None]:
    """Return a function to call before each request. It raises UnknownHost and ForeignOrigin.

    A preflight of an allowed origin is answered.
    """

    def admit() -> Response | None:
        host = request.environ.get("HTTP_HOST", "")
        if host:  # only clients older than HTTP/1.1 send none; no browser does
            known.check_host(host)
        if not request.path.startswith(_API) or _is_navigation():
            return None
        origin = request.headers.get("Origin", "")
        known.check_origin(origin, request.headers.get("Sec-Fetch-Site", ""), host)
        if request.method == "OPTIONS" and origin in known.allowed:
            return Response(status=204, headers=_PREFLIGHT)
        return None

    return admit


def allow_reading(known: Origins, response: Response) -> Response:
    """Let a page of an allowed origin read the response."""
    if known.allowed:
        response.vary.add("Origin")
    origin = request.headers.get("Origin", "")
    if origin in known.allowed and request.path.startswith(_API):
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Access-Control-Expose-Headers"] = _READABLE
    return response


def _is_navigation() -> bool:
    """Check that a link is followed to a page of its own, which no other page reads or frames."""
    headers = request.headers
    return (
        request.method in ("GET", "HEAD")
        and headers.get("Sec-Fetch-Mode") == "navigate"
        and headers.get("Sec-Fetch-Dest") == "document"
    )


def _name(host: str) -> str:
    """One spelling for each host."""
    bare = host.strip("[]").lower()
    return str(ip_address(bare)) if _is_address(bare) else bare


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
