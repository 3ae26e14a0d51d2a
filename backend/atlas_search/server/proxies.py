"""Who a request comes from: the address of the connection, or what a trusted proxy says of it."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, NamedTuple

Address = IPv4Address | IPv6Address
Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

SCHEMES = {"http", "https"}
_HEADERS = ("FOR", "PROTO", "HOST", "PORT", "BY")


class Networks(NamedTuple):
    """Addresses, alone or by network."""

    networks: tuple[Any, ...]

    def hold(self, address: str) -> bool:
        """Whether one of them holds `address`; an IPv4 address written as IPv6 is the same."""
        found = _parse(address)
        return found is not None and any(found in network for network in self.networks)


def networks(text: str) -> Networks:
    """Addresses and networks separated by commas. Raises ValueError."""
    return Networks(tuple(ip_network(part.strip()) for part in text.split(",") if part.strip()))


@lru_cache(maxsize=4096)
def owner_of(address: str) -> str:
    """What counts as one address: of IPv6 the /64 network, all of which one subscriber has."""
    found = _parse(address)
    if isinstance(found, IPv6Address) and not found.is_loopback:
        return str(IPv6Network((found, 64), strict=False).network_address)
    return str(found or address)


class ForwardedFor:
    """WSGI: REMOTE_ADDR and the scheme as a trusted proxy gives them; other such headers go."""

    def __init__(self, app: Wsgi, trusted: Networks):
        self._app = app
        self._trusted = trusted

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """See PEP 3333."""
        sent = {name: environ.pop(f"HTTP_X_FORWARDED_{name}", "") for name in _HEADERS}
        environ.pop("HTTP_FORWARDED", None)
        if self._trusted.hold(environ.get("REMOTE_ADDR", "")):
            if client := self._client(sent["FOR"]):
                environ["REMOTE_ADDR"] = environ["REMOTE_HOST"] = client
            if sent["PROTO"].lower() in SCHEMES:
                environ["wsgi.url_scheme"] = sent["PROTO"].lower()
        return self._app(environ, start_response)

    def _client(self, header: str) -> str:
        """The last address that no trusted proxy has: those before it are a client's own words."""
        client = ""
        for hop in reversed(header.split(",")):
            address = _parse(hop.strip())
            if address is None:
                return client
            client = str(address)
            if not self._trusted.hold(client):
                return client
        return client


def _parse(text: str) -> Address | None:
    try:
        address = ip_address(text.strip("[]"))
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
