"""Connections to the public internet alone: pages of a list must not lead into a private network.

A redirect, or a name whose owner chooses where it leads, could have Atlas fetch what only this
machine can reach, and show it with the next citation. So a host is looked up here, all that it
leads to is checked, and the connection is made to an address that was checked: the name is not
looked up a second time, when it may lead elsewhere.
"""

import socket
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from httpcore2 import ConnectError, ConnectionPool, NetworkBackend, NetworkStream, SyncBackend
from httpx2 import HTTPTransport, create_ssl_context

from atlas_search.core.errors import SourceError
from atlas_search.providers.http import Fault, Lost

OPTION = "--allow-private"

Address = IPv4Address | IPv6Address

_EMBEDDING = (ip_network("64:ff9b::/96"), ip_network("::/96"))
"""Networks of IPv6 whose last 32 bits are an address of IPv4 (RFC 6052, RFC 4291)."""

_LOCAL = tuple(map(ip_network, ("168.63.129.16", "192.0.0.0/24", "fec0::/10")))
"""Networks that look public, but at which a cloud or an office answers its own machines."""


class RequestRefused(Fault):
    """A request that is not made, or an answer that is not taken. Says why."""


@dataclass(frozen=True)
class AllowedHosts:
    """Hosts that may be fetched from though not public: names, and networks of addresses."""

    names: frozenset[str] = frozenset()
    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    def may_reach(self, host: str, address: Address) -> bool:
        """Allow a host by its name, wherever that leads, or by where it leads."""
        return _name(host) in self.names or any(address in each for each in self.networks)


def allowed_hosts(text: str) -> AllowedHosts:
    """Names, addresses and networks (`10.1.0.0/16`) joined by commas. Raises SourceError."""
    names, networks = set(), []
    for part in filter(None, (each.strip() for each in text.split(","))):
        try:
            networks.append(ip_network(part.strip("[]"), strict=False))
        except ValueError:
            if {*part} & {*"/:*@ "}:
                raise SourceError(
                    f"{OPTION} {part}: give names of hosts, addresses or networks such as "
                    "10.1.0.0/16, joined by commas."
                ) from None
            names.add(_name(part))
    return AllowedHosts(frozenset(names), tuple(networks))


class PublicNetwork(NetworkBackend):
    """Connects to what is public or allowed. What it connects may take `seconds` from `begin` on
    and give `max_bytes`, as they come over the wire."""

    def __init__(
        self,
        allowed: AllowedHosts,
        seconds: float,
        max_bytes: int,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._allowed = allowed
        self._seconds = seconds
        self._max_bytes = max_bytes
        self._clock = clock
        self._plain = SyncBackend()
        self.begin()

    def begin(self) -> None:
        self._until = self._clock() + self._seconds
        self._received = 0

    def check(self, host: str) -> None:
        """Raise Refused if `host` leads where it must not; what cannot be looked up is left to a
        proxy, or to the connection."""
        with suppress(OSError, UnicodeError):
            self._look_up(host)

    def check_time(self) -> None:
        """Raise Refused if an answer takes too long."""
        if self._clock() > self._until:
            raise RequestRefused(f"not complete after {self._seconds:g} s")

    def count(self, received: int) -> None:
        """Raise Refused if an answer is too long."""
        self._received += received
        if self._received > self._max_bytes:
            raise RequestRefused("more than a page of that length can take came over the wire")

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> NetworkStream:
        """A connection to one of the addresses of `host`, all checked. Raises Refused."""
        try:
            addresses = self._look_up(host)
        except UnicodeError as error:
            raise Lost(f"{host} is no name of a host: {error}", passing=False) from error
        fault: Exception = ConnectError(f"{host} has no address")
        for address in addresses:
            self.check_time()
            try:
                stream = self._plain.connect_tcp(
                    str(address), port, timeout, local_address, socket_options
                )
            except Exception as error:  # the next address may answer
                fault = error
            else:
                self._check_peer(host, address, stream)
                return _Counted(stream, self)
        raise fault

    def _look_up(self, host: str) -> list[Address]:
        """Resolve `host`, in whatever form it is written. Raises Refused and OSError."""
        entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(ip_address(entry[4][0]) for entry in entries))
        for address in addresses:
            if not self._allowed.may_reach(host, address) and (what := what_is(address)):
                raise RequestRefused(_refusal(host, address, what))
        return addresses

    def _check_peer(self, host: str, address: Address, stream: NetworkStream) -> None:
        """Raise Refused for a public address of this machine itself: both ends have it."""
        connected = stream.get_extra_info("socket")
        own = connected.getsockname()[0] == connected.getpeername()[0]
        if own and not self._allowed.may_reach(host, address):
            stream.close()
            raise RequestRefused(_refusal(host, address, "this machine"))


class PublicTransport(HTTPTransport):
    """The transport of httpx2 on connections of a `PublicNetwork`."""

    def __init__(self, network: PublicNetwork):
        super().__init__()
        self._pool.close()
        self._pool = ConnectionPool(ssl_context=create_ssl_context(), network_backend=network)


class _Counted(NetworkStream):
    """A connection whose answers are bounded."""

    def __init__(self, stream: NetworkStream, network: PublicNetwork):
        self._stream = stream
        self._network = network

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._network.check_time()
        received = self._stream.read(max_bytes, timeout)
        self._network.count(len(received))
        return received

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(self, *given: Any, **named: Any) -> NetworkStream:
        return _Counted(self._stream.start_tls(*given, **named), self._network)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def what_is(address: Address) -> str:
    """Say why an address is not to be fetched from; empty for a public one."""
    inner = _embedded(address)
    if inner is not None:
        return what_is(inner)
    if address.is_loopback or address.is_unspecified:
        return "this machine"
    if address.is_link_local or any(address in network for network in _LOCAL):
        return "an address at which a machine's own network answers"
    if address.is_multicast:
        return "an address of many hosts"
    public = address.is_global and not address.is_reserved
    return "" if public else "a private or reserved network"


def _embedded(address: Address) -> IPv4Address | None:
    """The address of IPv4 that one of IPv6 leads to."""
    if isinstance(address, IPv4Address) or address.is_loopback or address.is_unspecified:
        return None
    if any(address in network for network in _EMBEDDING):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    relayed = address.teredo[1] if address.teredo else None
    return address.ipv4_mapped or address.sixtofour or relayed


def _refusal(host: str, address: Address, what: str) -> str:
    where = host if host == str(address) else f"{host} ({address})"
    return f"{where} is {what}: {OPTION} {host} allows it"


def _name(host: str) -> str:
    return host.lower().strip("[]").rstrip(".")
