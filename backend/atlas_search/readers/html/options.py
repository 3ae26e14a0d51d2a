"""How to fetch."""

from dataclasses import dataclass

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
