"""Mistral's embedding models, over its API, at a bounded rate, again after passing faults.

The SDK's own retries wait for as long as a server asks and do not count against the rate.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TypeVar

import httpx2
from mistralai.client import Mistral
from mistralai.client.errors import MistralError
from mistralai.client.sdkconfiguration import SERVER_GLOBAL, SERVERS
from mistralai.client.utils.logger import NoOpLogger
from pydantic import SecretStr
from pyrate_limiter import Duration, Limiter, Rate, SingleBucketFactory, StateBucket, TokenBucket
from tenacity import Retrying, retry_if_exception, stop_after_attempt, stop_before_delay

from atlas_search.core.addresses import bounded, without_login
from atlas_search.core.errors import EmbeddingUnavailable
from atlas_search.providers.embedding_remote import Numbered, RemoteEmbedder, embedding_provider
from atlas_search.providers.http import (
    ErrorStatus,
    Fault,
    Garbled,
    explain,
    http_faults,
    passes,
    retry_after,
    usable_key,
    wait_as_asked,
)

ATTEMPTS = 8
LONGEST_BACKOFF = 60.0
BURST_SECONDS = 5
"""After a pause, as many requests may go out at once as the rate allows in this time."""

Result = TypeVar("Result")

_NO_KEY = (
    "Mistral needs a key. Set MISTRAL_API_KEY in the environment or .env; EMBEDDING_PROVIDER=local "
    "and LLM_PROVIDER=extractive need none."
)


class MistralApi:
    """Mistral's API for one account, whose rate all share who use it. Safe to use from several
    threads.

    An empty `address`, which may hold a login, is the SDK's own. Raises ConfigurationError for a
    key that is missing or cannot be one.
    """

    def __init__(
        self,
        key: SecretStr,
        address: str,
        requests_per_minute: int,
        timeout_seconds: float,
        sleep: Callable[[float], None] = time.sleep,
    ):
        self.key = usable_key(key, "MISTRAL_API_KEY", _NO_KEY)
        self.address = address
        self.server = f"Mistral at {without_login(address) or SERVERS[SERVER_GLOBAL]}"
        self.seconds_per_request = 60 / requests_per_minute
        self.rate_used_up = (
            f"MISTRAL_REQUESTS_PER_MINUTE={requests_per_minute} are used up. Try again in a "
            "minute, or raise it if your Mistral plan allows more."
        )
        self._provider = embedding_provider(
            self.server,
            self.key,
            "MISTRAL_API_KEY",
            "MISTRAL_SERVER_URL",
            address,
            rate_setting="MISTRAL_REQUESTS_PER_MINUTE",
            seconds_setting="MISTRAL_TIMEOUT_SECONDS",
        )
        self._timeout_ms = int(timeout_seconds * 1000)
        self._limiter = _limiter(requests_per_minute)
        self._sleep = sleep

    def connect(self, http: httpx2.AsyncClient | None = None) -> Mistral:
        """A client of the account; `http` are the connections for its asynchronous calls."""
        return Mistral(
            api_key=self.key,
            server_url=self.address or None,
            timeout_ms=self._timeout_ms,
            async_client=http,
            debug_logger=NoOpLogger(),  # the SDK's, switched on by MISTRAL_DEBUG, logs the key
        )

    @cached_property
    def _client(self) -> Mistral:
        mistral = self.connect()
        client = mistral.sdk_configuration.client
        assert isinstance(client, httpx2.Client)
        bounded(client)
        return mistral

    async def turn(self, patience: float) -> bool:
        """Wait up to `patience` seconds until the rate allows one more request; False if not."""
        return await self._limiter.try_acquire_async(timeout=patience)

    def call(self, model: str, request: Callable[[Mistral], Result], patience: float) -> Result:
        """Make `request` for `model`, again while Mistral is busy or out of reach.

        No try begins after `patience` seconds. Raises EmbeddingUnavailable where trying later can
        help, EmbeddingRefused or another ConfigurationError where it cannot.
        """
        retrying = Retrying(
            retry=retry_if_exception(passes),
            wait=wait_as_asked(1.0, LONGEST_BACKOFF),
            stop=stop_after_attempt(ATTEMPTS) | stop_before_delay(patience),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            result: Result = retrying(self._attempt, request, patience)
            return result
        except Fault as fault:
            raise explain(fault, self._provider, model) from fault

    def _attempt(self, request: Callable[[Mistral], Result], patience: float) -> Result:
        if not self._limiter.try_acquire(timeout=patience):
            raise EmbeddingUnavailable(self.rate_used_up, self.seconds_per_request)
        with self.faults():
            return request(self._client)

    @staticmethod
    @contextmanager
    def faults() -> Iterator[None]:
        """Turn what a client of the account raises into a Fault."""
        try:
            with http_faults():
                yield
        except MistralError as error:
            if error.status_code == 200:
                raise Garbled(f"200: {error.body}") from error
            raise ErrorStatus(error.status_code, error.body, retry_after(error.headers)) from error
        except UnicodeDecodeError as error:
            raise Garbled(str(error)) from error


def _limiter(requests_per_minute: int) -> Limiter:
    burst = max(1, requests_per_minute * BURST_SECONDS // 60)
    bucket = StateBucket(
        [Rate(requests_per_minute, Duration.MINUTE, burst=burst)], algorithm=TokenBucket()
    )
    return Limiter(SingleBucketFactory(bucket, schedule_leak=False))


class MistralEmbedder(RemoteEmbedder):
    """An embedding model of Mistral's. Raises what `MistralApi.call` raises."""

    def __init__(
        self, model: str, api: MistralApi, *, passage_prefix: str = "", query_prefix: str = ""
    ):
        super().__init__(
            model,
            partial(_send, api, model),
            "mistral",
            "Mistral",
            "MISTRAL_SERVER_URL",
            passage_prefix=passage_prefix,
            query_prefix=query_prefix,
        )


def _send(api: MistralApi, model: str, texts: Sequence[str], patience: float) -> Numbered:
    response = api.call(
        model, lambda client: client.embeddings.create(model=model, inputs=list(texts)), patience
    )
    return [(each.index, each.embedding) for each in response.data]
