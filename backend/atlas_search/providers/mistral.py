"""Mistral's embedding models, over its API, at a bounded rate, again after passing faults.

The SDK's own retries wait for as long as a server asks and do not count against the rate.
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import httpx2
import numpy as np
from mistralai.client import Mistral
from mistralai.client.errors import MistralError
from mistralai.client.models import EmbeddingResponse
from mistralai.client.sdkconfiguration import SERVER_GLOBAL, SERVERS
from mistralai.client.utils.logger import NoOpLogger
from numpy.typing import NDArray
from pydantic import SecretStr
from pyrate_limiter import Duration, Limiter, Rate, SingleBucketFactory, StateBucket, TokenBucket
from tenacity import Retrying, retry_if_exception, stop_after_attempt, stop_before_delay

from atlas_search.core.addresses import bounded, without_login
from atlas_search.core.errors import (
    ConfigurationError,
    EmbeddingRefused,
    EmbeddingUnavailable,
    SourceError,
)
from atlas_search.providers.embedding import EmbedderInfo
from atlas_search.providers.http import (
    ErrorStatus,
    Fault,
    Garbled,
    Provider,
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


@dataclass(frozen=True)
class MistralAccount:
    """The access to Mistral. An empty `server_url` is the SDK's own."""

    api_key: SecretStr
    server_url: str
    requests_per_minute: int
    timeout_seconds: float


class MistralApi:
    """Mistral's API for one account, whose rate all share who use it. Safe to use from several
    threads.

    Raises ConfigurationError for a key that is missing or cannot be one.
    """

    def __init__(self, account: MistralAccount, sleep: Callable[[float], None] = time.sleep):
        self._account = account
        self._sleep = sleep
        self.key = usable_key(account.api_key, "MISTRAL_API_KEY", _NO_KEY)
        self._limiter = _limiter(account.requests_per_minute)

    def connect(self, http: httpx2.AsyncClient | None = None) -> Mistral:
        """A client of the account; `http` are the connections for its asynchronous calls."""
        return Mistral(
            api_key=self.key,
            server_url=self._account.server_url or None,
            timeout_ms=int(self._account.timeout_seconds * 1000),
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

    @property
    def seconds_per_request(self) -> float:
        """Seconds after which the rate allows another request."""
        return 60 / self._account.requests_per_minute

    @property
    def rate_used_up(self) -> str:
        """The message for people when the rate allows no more requests."""
        return (
            f"MISTRAL_REQUESTS_PER_MINUTE={self._account.requests_per_minute} are used up. "
            "Try again in a minute, or raise it if your Mistral plan allows more."
        )

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
            raise explain(fault, self._embeddings, model) from fault

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

    @property
    def _embeddings(self) -> Provider:
        return Provider(
            self.server,
            self.key,
            key_setting="MISTRAL_API_KEY",
            address_setting="MISTRAL_SERVER_URL",
            model_setting="EMBEDDING_MODEL",
            refused_key=ConfigurationError,
            refused=EmbeddingRefused,
            unavailable=EmbeddingUnavailable,
            rate_setting="MISTRAL_REQUESTS_PER_MINUTE",
            seconds_setting="MISTRAL_TIMEOUT_SECONDS",
            sizes="no passage is longer than the model reads",
            address=self.address,
        )

    @property
    def address(self) -> str:
        """The address as it was set, with the login that it may hold."""
        return self._account.server_url

    @property
    def server(self) -> str:
        """The name of the server for people."""
        return f"Mistral at {without_login(self._account.server_url) or SERVERS[SERVER_GLOBAL]}"


def _limiter(requests_per_minute: int) -> Limiter:
    burst = max(1, requests_per_minute * BURST_SECONDS // 60)
    bucket = StateBucket(
        [Rate(requests_per_minute, Duration.MINUTE, burst=burst)], algorithm=TokenBucket()
    )
    return Limiter(SingleBucketFactory(bucket, schedule_leak=False))


MAX_TOKENS = 8192
SPECIAL_TOKENS = 2  # at most: one that begins a text and one that ends it

# A request may have 512 texts and 16,384 tokens. Prose has four characters to a token; what is
# denser is refused, and then sent in halves.
TEXTS_PER_REQUEST = 128
CHARACTERS_PER_REQUEST = 40_000

# seconds
BUILD_PATIENCE = 600.0
QUERY_PATIENCE = 10.0


class MistralEmbedder:
    """An embedding model of Mistral's. Nothing is sent before the first use.

    `info` asks for one vector if none was asked for yet, to learn the dimension. A text of more
    than 8192 tokens is refused, not cut. Raises what `MistralApi.call` raises.
    """

    def __init__(
        self, model: str, api: MistralApi, *, passage_prefix: str = "", query_prefix: str = ""
    ):
        self._model = model
        self._api = api
        self._passage_prefix = passage_prefix
        self._query_prefix = query_prefix
        self._dimension = 0  # until the first answer
        self.fingerprint = _sha256(json.dumps(["mistral", model, passage_prefix]))

    @property
    def info(self) -> EmbedderInfo:
        if not self._dimension:
            self._request(["dimension"], QUERY_PATIENCE)
        return EmbedderInfo(
            name=self._model,
            digest=_sha256(f"mistral:{self._model}"),
            dimension=self._dimension,
            pooling="provider",
            max_tokens=MAX_TOKENS,
            provider="mistral",
            passage_prefix=self._passage_prefix,
            query_prefix=self._query_prefix,
        )

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.empty((0, self.info.dimension), dtype=np.float32)
        prefixed = [self._passage_prefix + text for text in texts]
        return np.concatenate([self._halving(batch) for batch in batches(prefixed)])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vectors = self._request([self._query_prefix + text], QUERY_PATIENCE)
        return vectors.reshape(-1)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count UTF-8 bytes, for no token is shorter than one."""
        prefix = len(self._passage_prefix.encode()) + SPECIAL_TOKENS
        return [prefix + len(text.encode()) for text in texts]

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Raise SourceError: Mistral does not say where its tokens are."""
        del text
        raise SourceError(
            "--chunk-unit tokens needs a local model; Mistral does not say where its tokens are. "
            "Leave --chunk-unit out, or set EMBEDDING_PROVIDER=local."
        )

    def _halving(self, texts: Sequence[str]) -> NDArray[np.float32]:
        try:
            return self._request(texts, BUILD_PATIENCE)
        except EmbeddingRefused:
            if len(texts) == 1:
                raise
        half = len(texts) // 2
        return np.concatenate([self._halving(texts[:half]), self._halving(texts[half:])])

    def _request(self, texts: Sequence[str], patience: float) -> NDArray[np.float32]:
        response = self._api.call(
            self._model,
            lambda client: client.embeddings.create(model=self._model, inputs=list(texts)),
            patience,
        )
        vectors = unit_vectors(response, len(texts))
        self._dimension = self._dimension or vectors.shape[1]
        if vectors.shape[1] != self._dimension:
            raise EmbeddingUnavailable(
                f"Mistral's {self._model} gave vectors of {self._dimension} numbers before and of "
                f"{vectors.shape[1]} now. Start again; if it stays so, build the collection anew."
            )
        return vectors


def batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """`texts` in order, in requests that Mistral takes. A text that is too long goes alone."""
    batch: list[str] = []
    characters = 0
    for text in texts:
        full = len(batch) == TEXTS_PER_REQUEST or characters + len(text) > CHARACTERS_PER_REQUEST
        if batch and full:
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    yield batch


def unit_vectors(response: EmbeddingResponse, count: int) -> NDArray[np.float32]:
    """The vectors of an answer in order, at unit length. Raises EmbeddingUnavailable unless it
    holds `count` vectors of one dimension."""
    embeddings = sorted(response.data, key=lambda each: each.index or 0)
    if [each.index for each in embeddings] != list(range(count)):
        raise _unusable(f"{len(embeddings)} vectors for {count} texts")
    try:
        vectors = np.array([each.embedding for each in embeddings], dtype=np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    except (TypeError, ValueError) as error:
        raise _unusable("vectors of unequal or no dimension") from error
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        raise _unusable("a vector of no length")
    return np.asarray(vectors / lengths, dtype=np.float32)


def _unusable(what: str) -> EmbeddingUnavailable:
    return EmbeddingUnavailable(
        f"Mistral's answer holds {what}. Try again, or check MISTRAL_SERVER_URL."
    )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
