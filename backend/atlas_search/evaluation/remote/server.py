"""A running server, asked over HTTP with the key of ATLAS_API_KEY."""

import json
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode

from pydantic import SecretStr
from tenacity import Retrying, retry_if_exception, stop_after_attempt, stop_before_delay

from atlas_search.core.addresses import address_fault, without_login
from atlas_search.core.errors import AtlasError, NotFound, RequestError
from atlas_search.providers.http import (
    Answered,
    Fault,
    Garbled,
    Lost,
    checked_key,
    http_faults,
    passes,
    readable_environment,
    retry_after,
    wait_as_asked,
)

ATTEMPTS = 6
FIRST_BACKOFF, LONGEST_BACKOFF = 1.0, 30.0  # seconds, where the server does not say
PATIENCE = 600.0
"""Seconds after which a request is not sent again, and those that an answer may take."""

CONNECT_SECONDS = 10.0

COLLECTION_HEADER = "Atlas-Collection"


@dataclass(frozen=True)
class Sent:
    """What a server answered, `seconds` after the last of so many tries."""

    document: dict[str, Any]
    seconds: float
    tries: int


class RemoteServer:
    """A server at `address`, asked about its `collection`; empty: the one it serves first.

    Safe to use from several threads. One that never answered, or was waited for in vain, is not
    waited for: a run over a server that ended would else take half a minute for each question.
    Raises RequestError for an address that cannot be one.
    """

    def __init__(
        self,
        address: str,
        key: SecretStr,
        collection: str = "",
        *,
        sleep: Callable[[float], None] = time.sleep,
    ):
        from httpx2 import Client, Timeout  # 0.15 s: only who asks a server pays

        if fault := address_fault(address):
            raise RequestError(f"The address {without_login(address)} {fault}.")
        self.address = address.rstrip("/")
        self.collection = collection
        self._sleep = sleep
        self._there = False  # as far as is known
        secret = checked_key(key, "ATLAS_API_KEY")
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        with readable_environment():
            self._client = Client(
                headers=headers, timeout=Timeout(PATIENCE, connect=CONNECT_SECONDS)
            )
        weakref.finalize(self, self._client.close)

    def get(self, *path: str, **parameters: int) -> dict[str, Any]:
        """What a route below `/api` gives; its parts are quoted. Raises as `post` does."""
        route = "/".join(quote(part, safe="") for part in path)
        asked = f"?{urlencode(parameters)}" if parameters else ""
        return self._send("GET", f"{route}{asked}", None).document

    def post(self, route: str, body: Mapping[str, object]) -> Sent:
        """What a route below `/api` answers, tried again while the server is busy.

        Raises NotFound, or another AtlasError with what the server says, or if there is none.
        """
        return self._send("POST", route, body)

    def close(self) -> None:
        """End the connections."""
        self._client.close()

    def _send(self, method: str, route: str, body: Mapping[str, object] | None) -> Sent:
        retrying = Retrying(
            retry=retry_if_exception(self._may_pass),
            wait=wait_as_asked(FIRST_BACKOFF, LONGEST_BACKOFF),
            stop=stop_after_attempt(ATTEMPTS) | stop_before_delay(PATIENCE),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            document, seconds = retrying(self._try, method, route, body)
        except Fault as fault:
            self._there = not isinstance(fault, Lost)
            raise self._explain(fault) from fault
        return Sent(document, seconds, retrying.statistics["attempt_number"])

    def _try(
        self, method: str, route: str, body: Mapping[str, object] | None
    ) -> tuple[dict[str, Any], float]:
        chosen = {COLLECTION_HEADER: self.collection} if self.collection else {}
        started = time.perf_counter()
        with http_faults():
            response = self._client.request(
                method, f"{self.address}/api/{route}", json=body, headers=chosen
            )
        self._there = True
        if not response.is_success:
            raise Answered(response.status_code, response.text, retry_after(response.headers))
        try:
            document = response.json()
        except ValueError as error:
            raise Garbled(str(error)) from error
        if not isinstance(document, dict):
            raise Garbled("no JSON object")
        return document, time.perf_counter() - started

    def _may_pass(self, fault: BaseException) -> bool:
        return passes(fault) and (self._there or not isinstance(fault, Lost))

    def _explain(self, fault: Fault) -> AtlasError:
        match fault:
            case Answered(status=HTTPStatus.UNAUTHORIZED):
                return AtlasError(f"{_detail(fault)} The key is taken from ATLAS_API_KEY.")
            case Answered(status=HTTPStatus.NOT_FOUND):
                return NotFound(f"{self.address} answers: {_detail(fault)}")
            case Answered(status=status):
                return AtlasError(f"{self.address} answers {status}: {_detail(fault)}")
            case Garbled():
                return AtlasError(f"What answers at {self.address} is not Atlas. Check --url.")
        return AtlasError(
            f"No server answers at {self.address} ({fault}). Start it: `atlas serve`."
        )


def _detail(fault: Answered) -> str:
    """What a problem document says, or what else came."""
    try:
        return str(json.loads(fault.body)["detail"])
    except (ValueError, KeyError, TypeError):
        return fault.body[:300]
