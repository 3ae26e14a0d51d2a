"""Addresses of the web: the only ones that are handed out as links.

A source may state any text as its address. One that runs a script, shows a password or is read
otherwise by a browser than by a person is never a link; where it is harmless it stays as text.
"""

import re
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

from atlas_search.core.metadata import Metadata, MetadataValue, plain_metadata, values_of

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Client, Response

LONGEST = 2_000
"""Characters of an address; browsers and bibliographies take no more for certain."""

URL = "url"
UNLINKED = "unlinked_url"
"""The metadata field that keeps as text what a source states as its address, but is no link."""

_SHOWN = 80  # characters of a refused address in a remark
_UNSAFE = frozenset('\\<>"`')  # a browser reads `\` as `/`; the others end an address in a text
_HARMFUL = re.compile(r"\s*(?:javascript|vbscript|data|file|blob|filesystem):", re.IGNORECASE)


def address_fault(address: str) -> str:
    """Say why `address` is no link to the web, as a sentence goes on after "it"; empty if it is."""
    if len(address) > LONGEST:
        return f"is longer than {LONGEST} characters"
    if not _is_plain(address) or _UNSAFE & {*address} or " " in address:
        return "holds blanks or other characters that no address has"
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        return f"is malformed ({error})"
    if parts.scheme not in ("http", "https") or not host:
        return "does not begin with http:// or https://"
    if "@" in parts.netloc:
        return "holds a user name or a password"
    return ""


def is_link(address: object) -> bool:
    """Return True for an address that may be handed out as a link."""
    return isinstance(address, str) and not address_fault(address)


class Linked(NamedTuple):
    """Metadata whose `url`, if there is one, is a link; `remark` says what was refused and why."""

    metadata: dict[str, MetadataValue]
    remark: str


def with_link(metadata: Metadata) -> Linked:
    """`metadata` with the first link of its `url` alone.

    What is harmless of the rest becomes UNLINKED, unless the source has such a field itself.
    """
    fields = dict(metadata)
    addresses = values_of(fields, URL)
    fields.pop(URL, None)
    links = [address for address in addresses if is_link(address)]
    others = [address for address in addresses if address not in links[:1]]
    if links:
        fields[URL] = links[0]
    if texts := tuple(filter(_is_harmless, others)):
        fields.setdefault(UNLINKED, texts if len(texts) > 1 else texts[0])
    refused = [address for address in others if address not in links]
    return Linked(fields, "; ".join(map(_remark, refused)))


def linked_fields(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata as JSON has it, with no `url` but a link; it is not changed if it has one."""
    stated = metadata.get(URL)
    if stated is None or is_link(stated):
        return dict(metadata)
    addresses = tuple(map(str, stated)) if isinstance(stated, list | tuple) else str(stated)
    rest = {name: value for name, value in metadata.items() if name != URL}
    return plain_metadata(with_link({URL: addresses}).metadata) | rest


def unlink(document: Any) -> None:
    """Change a document of the API: no `url` in it, at any depth, is anything but a link."""
    parts = [document]
    while parts:  # not by recursion: whoever sends a document chooses how deep it is
        part = parts.pop()
        if isinstance(part, dict):
            if isinstance(part.get("metadata"), dict):
                part["metadata"] = linked_fields(part["metadata"])
            if URL in part and not is_link(part[URL]):
                part[URL] = None
            parts += part.values()
        elif isinstance(part, list):
            parts += part


def without_login(address: str) -> str:
    """An address without the user name and the password that it may hold."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return re.sub(r"//[^/]*@", "//", address)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=host)) if "@" in parts.netloc else address


def login_of(address: str) -> tuple[str, ...]:
    """The secrets of an address: its password in every form in which it is sent, and with the user
    name before it; nothing for an address without one."""
    try:
        login = urlsplit(address).netloc.rpartition("@")[0]
    except ValueError:
        login = "".join(re.findall(r"//([^/]*)@", address))
    written = login.partition(":")[2]
    if not written:
        return ()
    sent = unquote(login)
    encoded = b64encode(sent.encode()).decode()
    # the longest first: a part that is masked hides the whole
    return (encoded, login, sent, written, unquote(written))


def _remark(address: str) -> str:
    fault = address_fault(address)
    shown = f" {address[:_SHOWN]!a}" if _is_harmless(address) else ""
    return f"its address{shown} {fault}: no link is made of it"


def _is_harmless(address: str) -> bool:
    """Return True if it may be shown as text: it runs nothing, hides nothing and is no secret."""
    too_long = len(address) > LONGEST
    return (
        not too_long and _is_plain(address) and "@" not in address and not _HARMFUL.match(address)
    )


def _is_plain(text: str) -> bool:
    """Without control and format characters (those of writing from right to left are), nor any
    white space but the blank."""
    return text.isprintable()  # by definition all of them but categories C and Z; 50 times as fast


TRACES = "/v1/traces"
METRICS = "/v1/metrics"
_HEADER = re.compile(r"\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=\s*([ -~]*?)\s*")


@dataclass(frozen=True)
class Destination:
    """A server that takes OTLP over HTTP at `url`; `name` is what messages call it.

    The headers are secret, and so is a query of the address: both are left out where it is shown.
    """

    name: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def base(self) -> str:
        """The address that traces are sent below: a Phoenix's own."""
        return self.url.removesuffix(TRACES)

    @property
    def shown(self) -> str:
        """The address without its path and anything secret."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"


def phoenix_at(address: str, key: str = "") -> Destination:
    """Phoenix at its base address, with a key if it asks for one."""
    headers = {"authorization": f"Bearer {key}"} if key else {}
    return _destination("Phoenix", address.rstrip("/") + TRACES, headers)


def is_key(text: str) -> bool:
    """Check that a header can hold the key; if not, the client's error would show it."""
    return text.isascii() and text.isprintable()


def otlp_at(
    base: str, own: str, headers: Mapping[str, str], path: str = TRACES
) -> Destination | None:
    """Any other server: at its `own` address for traces, or metrics, as it is; else at the `path`
    below its base address.

    None if neither is given.
    """
    url = own or (base and base.rstrip("/") + path)
    return _destination("The OTLP endpoint", url, headers) if url else None


def read_headers(text: str) -> dict[str, str]:
    """Headers as OTEL_EXPORTER_OTLP_HEADERS has them: `name=value,name=value`, percent-encoded.

    Raises ValueError, which repeats nothing of the text.
    """
    headers = {}
    for part in filter(str.strip, text.split(",")):
        match = _HEADER.fullmatch(part)
        value = unquote(match[2]) if match else ""
        if not match or not re.fullmatch(r"[ -~]*", value):
            raise ValueError("give headers as `name=value`, separated by commas, percent-encoded")
        headers[match[1].lower()] = value
    return headers


def _destination(name: str, url: str, headers: Mapping[str, str]) -> Destination:
    """Move the login of an address to a header, so that no log of a connection shows it."""
    login, at, _ = urlsplit(url).netloc.rpartition("@")
    if at and "authorization" not in headers:
        basic = b64encode(unquote(login).encode()).decode()
        headers = {**headers, "authorization": f"Basic {basic}"}
    return Destination(name, without_login(url), headers)


PHOENIX_SECONDS = 3.0


def phoenix_problem(address: str) -> str:
    """Check Phoenix now: say why it does not answer, or nothing. Takes up to PHOENIX_SECONDS.

    A password in the address is sent, and not repeated.
    """
    from httpx2 import HTTPError, InvalidURL  # 0.15 s: only who asks pays

    try:
        phoenix = phoenix_at(address)
        bounded_request(
            "GET",
            f"{without_login(address).rstrip('/')}/healthz",
            headers=dict(phoenix.headers),
            timeout=PHOENIX_SECONDS,
        ).raise_for_status()
    except HTTPError as error:
        return f"{phoenix.shown} does not answer ({error})"
    except (InvalidURL, ValueError) as error:
        return f"Phoenix's address is malformed ({error})"
    return ""


LONGEST_ANSWER = 16_000_000
"""Bytes of an answer that are read: vectors of 128 texts take 3 MB."""

AnyClient = TypeVar("AnyClient", "Client", "AsyncClient")


def bounded(client: AnyClient, most: int = LONGEST_ANSWER) -> AnyClient:
    """Make a client's timeout that of a whole answer, and let an answer have `most` bytes.

    The library's is for each read, of which a server that drips makes any number. What is late
    raises ReadTimeout, what is too long DecodingError.
    """
    from httpx2 import AsyncClient

    client.headers["accept-encoding"] = "identity"
    is_async = isinstance(client, AsyncClient)
    client.event_hooks["response"].append(_leave_packed_later if is_async else _leave_packed)
    # a transport given as an argument would take the place of the environment's proxies
    for transport in filter(None, (client._transport, *client._mounts.values())):
        network: Any = transport._pool._network_backend
        network.connect_tcp = _wrapping(network.connect_tcp, most)
    return client


def bounded_request(method: str, url: str, *, trust_env: bool = True, **options: Any) -> "Response":
    """Send one request, as `httpx2.request` does, with its timeout for all of the answer."""
    from httpx2 import Client

    with bounded(Client(trust_env=trust_env)) as client:
        return client.request(method, url, **options)


def _leave_packed(response: "Response") -> None:
    """Have an answer that is compressed, though not asked for, stay so: it may unpack to GB."""
    response.headers.pop("content-encoding", None)


async def _leave_packed_later(response: "Response") -> None:
    _leave_packed(response)


def _then(value: Any, follow: Callable[[Any], Any]) -> Any:
    """The result of `follow`, of a value that may have to be awaited first."""

    async def later() -> Any:
        return follow(await value)

    return later() if isawaitable(value) else follow(value)


def _wrapping(connect: Callable[..., Any], most: int) -> Callable[..., Any]:
    return lambda *where, **how: _then(
        connect(*where, **how), lambda stream: _BoundedStream(stream, most)
    )


_PIECES = 4


class _BoundedStream:
    """A connection, kept for several answers: the time of each runs from the first write on."""

    def __init__(self, stream: Any, most: int):
        self._stream, self._most = stream, most
        self._answered = True
        self.start_tls = _wrapping(stream.start_tls, most)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, buffer: bytes, timeout: float) -> Any:
        if self._answered:
            self._end, self._received, self._answered = time.monotonic() + timeout, 0, False
        return self._stream.write(buffer, timeout)

    def read(self, max_bytes: int, timeout: float) -> Any:
        from httpcore2 import ReadTimeout

        self._answered = True
        left = min(timeout, self._end - time.monotonic())
        if left <= 0:
            raise ReadTimeout("the answer came too slowly")
        # in pieces, or the head of an answer could be lost with a body that is too long
        piece = min(max_bytes, max(self._most // _PIECES, 1))
        return _then(self._stream.read(piece, left), self._count)

    def _count(self, received: bytes) -> bytes:
        from httpx2 import DecodingError

        self._received += len(received)
        if self._received > self._most:
            raise DecodingError(f"the answer is longer than {self._most / 1e6:g} MB")
        return received
