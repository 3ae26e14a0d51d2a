"""Where spans and metrics go: an address, and the headers that it asks for."""

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from atlas_search.core.web_address import without_login

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
    """Whether a header can hold a key: one that cannot would be shown by the client's error."""
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
        found = _HEADER.fullmatch(part)
        value = unquote(found[2]) if found else ""
        if not found or not re.fullmatch(r"[ -~]*", value):
            raise ValueError("give headers as `name=value`, separated by commas, percent-encoded")
        headers[found[1].lower()] = value
    return headers


def _destination(name: str, url: str, headers: Mapping[str, str]) -> Destination:
    """With the login of an address as a header, so that no log of a connection shows it."""
    login, at, _ = urlsplit(url).netloc.rpartition("@")
    if at and "authorization" not in headers:
        basic = b64encode(unquote(login).encode()).decode()
        headers = {**headers, "authorization": f"Basic {basic}"}
    return Destination(name, without_login(url), headers)
