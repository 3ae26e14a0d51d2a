"""Calls of the REST API of Phoenix."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from tenacity import Retrying, retry_if_exception, stop_after_attempt, stop_before_delay

from atlas_search.core.addresses import Destination, bounded, phoenix_at
from atlas_search.core.errors import AtlasError, ConfigurationError, Conflict, NotFound, Unavailable
from atlas_search.core.settings import Settings
from atlas_search.providers.http import (
    ErrorStatus,
    Fault,
    Garbled,
    Lost,
    http_faults,
    passes,
    readable_environment,
    retry_after,
    wait_as_asked,
)

SECONDS = 30.0  # for each request
LONGEST_PAGE = 500_000_000  # bytes: spans hold prompts and passages
FIRST_BACKOFF, LONGEST_BACKOFF = 1.0, 30.0  # seconds, where Phoenix does not say
PATIENCE = 120.0
"""Seconds after which a request is not sent again, whatever Phoenix asks for."""

_KINDS: Mapping[int, type[AtlasError]] = {
    HTTPStatus.NOT_FOUND: NotFound,
    HTTPStatus.CONFLICT: Conflict,
}
_SHOWN = 200  # characters of what Phoenix says


class PhoenixApi:
    """A Phoenix at its base address, with the headers that it asks for, until `close`.

    What may go well in a moment is tried `tries` times in all, but one that never answered is not
    waited for. Safe to use from several threads.
    """

    def __init__(
        self,
        address: str,
        headers: Mapping[str, str],
        *,
        tries: int = 1,
        sleep: Callable[[float], None] = time.sleep,
    ):
        from httpx2 import Client  # 0.15 s: only who asks pays

        self.address = address
        self._tries = tries
        self._sleep = sleep
        self._there = False  # as far as is known
        with readable_environment():
            self._client = bounded(Client(headers=dict(headers), timeout=SECONDS), LONGEST_PAGE)

    def __enter__(self) -> "PhoenixApi":
        """For `with`: it is closed at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """End the connections."""
        self._client.close()

    def get(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        """Return what it gives at a path, as JSON."""
        return self._send("GET", path, query, None, self._tries)

    def post(
        self,
        path: str,
        body: object,
        query: Mapping[str, Any] | None = None,
        *,
        seconds: float = SECONDS,
    ) -> Any:
        """Return what it answers. For requests that may be sent twice and change nothing more."""
        return self._send("POST", path, query, body, self._tries, seconds)

    def post_once(self, path: str, body: object) -> Any:
        """Return what it answers. For requests that would make a second thing if sent again."""
        return self._send("POST", path, None, body, 1)

    def pages(self, path: str, query: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the items of all pages of a list."""
        cursor = None
        while True:
            page = self.get(path, {**query, "cursor": cursor})
            with reading(self.address):
                found, cursor = list(page["data"]), page["next_cursor"]
            yield from found
            if not cursor:
                return

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None,
        body: object,
        tries: int,
        seconds: float = SECONDS,
    ) -> Any:
        retrying = Retrying(
            retry=retry_if_exception(self._may_pass),
            wait=wait_as_asked(FIRST_BACKOFF, LONGEST_BACKOFF),
            stop=stop_after_attempt(tries) | stop_before_delay(PATIENCE),
            sleep=self._sleep,
            reraise=True,
        )
        known = {
            name: value for name, value in (query or {}).items() if value not in (None, [], "")
        }
        try:
            return retrying(self._try, method, path, known, body, seconds)
        except Fault as fault:
            raise self._explain(fault) from fault

    def _try(
        self, method: str, path: str, query: Mapping[str, Any], body: object, seconds: float
    ) -> Any:
        with http_faults():
            response = self._client.request(
                method, f"{self.address}{path}", params=query, json=body, timeout=seconds
            )
        self._there = True
        if not response.is_success:
            raise ErrorStatus(response.status_code, response.text, retry_after(response.headers))
        try:
            return response.json()
        except ValueError as error:
            raise Garbled(f"{type(error).__name__}: {error}") from error

    def _may_pass(self, fault: BaseException) -> bool:
        return passes(fault) and (self._there or not isinstance(fault, Lost))

    def _explain(self, fault: Fault) -> AtlasError:
        match fault:
            case ErrorStatus(status=HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN as status):
                return ConfigurationError(
                    f"Phoenix at {self.address} lets nobody in without a key that it knows (it "
                    f"answers {int(status)}). Set PHOENIX_API_KEY."
                )
            case ErrorStatus(status=status):
                kind = _KINDS.get(status, Unavailable)
                said = f": {fault.body[:_SHOWN]}" if fault.body else ""
                return kind(f"Phoenix at {self.address} answers {status}{said}")
            case Garbled():
                return _no_phoenix(self.address, str(fault))
        return Unavailable(
            f"Phoenix at {self.address} does not answer ({fault}). Start it with `make phoenix`, or"
            " set PHOENIX_COLLECTOR_ENDPOINT to one that runs."
        )


@contextmanager
def reading(address: str) -> Iterator[None]:
    """Read in it what was answered there: what is not as Phoenix sends it is no Phoenix."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _no_phoenix(address, f"{type(error).__name__}: {error}") from error


def configured_phoenix(settings: Settings) -> Destination:
    """The configured one, or that which `atlas run` starts. Raises ConfigurationError."""
    address = settings.phoenix_collector_endpoint
    if not address and settings.phoenix:
        address = f"http://127.0.0.1:{settings.phoenix_port}"
    if not address:
        raise ConfigurationError(
            "No Phoenix is configured. Set PHOENIX_COLLECTOR_ENDPOINT to its address."
        )
    return phoenix_at(address, settings.phoenix_api_key.get_secret_value().strip())


def _no_phoenix(address: str, found: str) -> Unavailable:
    return Unavailable(
        f"{address} does not answer as Phoenix does ({found}). Set PHOENIX_COLLECTOR_ENDPOINT to "
        "the address of a Phoenix of version 20 or later."
    )
