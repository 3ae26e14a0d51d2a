"""Embedding models behind an API: Mistral's, and any servers of OpenAI's `/v1/embeddings`.

Texts go in requests of bounded size, several at once, and their vectors come back in order.
"""

import hashlib
import json
import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pydantic import SecretStr

from atlas_search.core.addresses import bounded, without_login
from atlas_search.core.errors import (
    ConfigurationError,
    EmbeddingRefused,
    EmbeddingUnavailable,
    SourceError,
)
from atlas_search.providers.embedding import EmbedderInfo
from atlas_search.providers.http import (
    Fault,
    Garbled,
    Lost,
    Provider,
    checked_key,
    explain,
    hide_logins,
    passes,
    post,
    readable_environment,
)

if TYPE_CHECKING:
    from httpx2 import Client

log = logging.getLogger(__name__)

MAX_TOKENS = 8192
SPECIAL_TOKENS = 2  # at most: one that begins a text and one that ends it

# A request to Mistral may have 512 texts and 16,384 tokens. Prose has four characters to a token;
# what is denser is refused, and then sent in halves.
TEXTS_PER_REQUEST = 128
CHARACTERS_PER_REQUEST = 40_000

# seconds
BUILD_PATIENCE = 600.0
QUERY_PATIENCE = 10.0

Numbered = Sequence[tuple[int | None, Sequence[float] | None]]
"""What a server gives: the vector of each text, with the number of the text."""


class RemoteEmbedder:
    """A model that `send` asks. Nothing is sent before the first use.

    `send` is given texts, and the seconds after which no try begins. `provider` is the name in
    EMBEDDING_PROVIDER, `server` the one for people, `setting` that of its address; `requests` go
    out at once, with `texts` each at most.

    `info` asks for one vector if none was asked for yet, to learn the dimension. A text of more
    than 8192 tokens is refused, not cut. Raises what `send` raises.
    """

    def __init__(
        self,
        model: str,
        send: Callable[[Sequence[str], float], Numbered],
        provider: str,
        server: str,
        setting: str,
        *,
        passage_prefix: str = "",
        query_prefix: str = "",
        requests: int = 1,
        texts: int = TEXTS_PER_REQUEST,
    ):
        self._model = model
        self._send = send
        self._provider, self._server, self._setting = provider, server, setting
        self._passage_prefix = passage_prefix
        self._query_prefix = query_prefix
        self._requests, self._texts = requests, texts
        self._dimension = 0  # until the first answer
        self.fingerprint = _sha256(json.dumps([provider, model, passage_prefix]))

    @property
    def info(self) -> EmbedderInfo:
        if not self._dimension:
            self._request(["dimension"], QUERY_PATIENCE)
        return EmbedderInfo(
            name=self._model,
            digest=_sha256(f"{self._provider}:{self._model}"),
            dimension=self._dimension,
            pooling="provider",
            max_tokens=MAX_TOKENS,
            provider=self._provider,
            passage_prefix=self._passage_prefix,
            query_prefix=self._query_prefix,
        )

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.empty((0, self.info.dimension), dtype=np.float32)
        prefixed = [self._passage_prefix + text for text in texts]
        # as many requests as may go out, if there are texts for them
        most = min(self._texts, -(-len(texts) // self._requests))
        parts = batches(prefixed, most)
        if self._requests == 1:
            return np.concatenate(list(map(self._halving, parts)))
        with ThreadPoolExecutor(self._requests) as threads:
            return np.concatenate(list(threads.map(self._halving, parts)))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vectors = self._request([self._query_prefix + text], QUERY_PATIENCE)
        return vectors.reshape(-1)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count UTF-8 bytes, for no token is shorter than one."""
        prefix = len(self._passage_prefix.encode()) + SPECIAL_TOKENS
        return [prefix + len(text.encode()) for text in texts]

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Raise SourceError: the provider does not say where its tokens are."""
        del text
        raise SourceError(
            f"--chunk-unit tokens needs a local model; {self._server} does not say where its "
            "tokens are. Leave --chunk-unit out, or set EMBEDDING_PROVIDER=local."
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
        try:
            vectors = _unit_vectors(self._send(texts, patience), len(texts))
        except ValueError as error:
            raise EmbeddingUnavailable(
                f"{self._server}'s answer holds {error}. Try again, or check {self._setting}."
            ) from error
        self._dimension = self._dimension or vectors.shape[1]
        if vectors.shape[1] != self._dimension:
            raise EmbeddingUnavailable(
                f"{self._server}'s {self._model} gave vectors of {self._dimension} numbers before "
                f"and of {vectors.shape[1]} now. Start again; if it stays so, build the collection "
                "anew."
            )
        return vectors


def batches(texts: Sequence[str], most: int = TEXTS_PER_REQUEST) -> Iterator[list[str]]:
    """`texts` in order, in requests of bounded size. A text that is too long goes alone."""
    batch: list[str] = []
    characters = 0
    for text in texts:
        full = len(batch) == most or characters + len(text) > CHARACTERS_PER_REQUEST
        if batch and full:
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    yield batch


def _unit_vectors(numbered: Numbered, count: int) -> NDArray[np.float32]:
    """The vectors in order, at unit length. Raises ValueError unless they are `count` vectors of
    one dimension."""
    embeddings = sorted(numbered, key=lambda each: each[0] or 0)
    if [number for number, _ in embeddings] != list(range(count)):
        raise ValueError(f"{len(embeddings)} vectors for {count} texts")
    try:
        vectors = np.array([vector for _, vector in embeddings], dtype=np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    except (TypeError, ValueError) as error:
        raise ValueError("vectors of unequal or no dimension") from error
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        raise ValueError("a vector of no length")
    return np.asarray(vectors / lengths, dtype=np.float32)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


OPENAI = "https://api.openai.com/v1"
SMALL_REQUEST = 32  # texts: Text Embeddings Inference takes no more, unless it is told to
SECONDS = 60.0  # for an answer
ATTEMPTS = 8
LONGEST_BACKOFF = 60.0
REST_SECONDS = 30.0  # until a server that is out of reach is asked again
PROBE = "The miller keeps the bridge over the river in repair."
SAME_MODEL = 0.98  # cosine of the vectors of two servers; other models are near 0


@dataclass
class _Server:
    """A server: how many requests wait for it, and until when none goes to it first."""

    provider: Provider
    waiting: int = 0
    rests_until: float = 0.0
    is_known: bool = False


class EmbeddingServers:
    """Servers of one model that speak OpenAI's protocol. Safe to use from several threads.

    Each request goes to the one that has the fewest, and from one that is busy or out of reach to
    the next. Raises ConfigurationError for a key that cannot be one.
    """

    def __init__(
        self,
        model: str,
        addresses: Sequence[str],
        key: SecretStr,
        sleep: Callable[[float], None] = time.sleep,
    ):
        self._model = model
        self._sleep = sleep
        self._key = checked_key(key, "OPENAI_API_KEY")
        self._servers = [
            _Server(
                embedding_provider(
                    f"The embedding server at {without_login(each)}",
                    self._key,
                    "OPENAI_API_KEY",
                    "EMBEDDING_URLS",
                    each,
                )
            )
            for each in addresses
        ]
        self._probe: NDArray[np.float32] | None = None
        self._lock = threading.Lock()

    def send(self, texts: Sequence[str], patience: float) -> Numbered:
        """Ask for vectors, again while every server is busy or out of reach.

        Raises EmbeddingUnavailable where trying later can help, EmbeddingRefused or another
        ConfigurationError where it cannot.
        """
        began = time.monotonic()
        for attempt in range(ATTEMPTS):
            waits, problems = [], []
            for server in self._in_turn():
                try:
                    return self._ask(server, texts, min(SECONDS, patience))
                except Fault as fault:
                    problem = explain(fault, server.provider, self._model)
                    if not passes(fault):
                        raise problem from fault
                    waits.append(fault.retry_after)
                    problems.append(problem)
            wait = min(waits) or min(2.0**attempt, LONGEST_BACKOFF)
            if attempt == ATTEMPTS - 1 or time.monotonic() - began + wait > patience:
                break
            self._sleep(wait)
        raise EmbeddingUnavailable(
            f"{' '.join(map(str, problems))} A build goes on with what was embedded.", min(waits)
        )

    def _in_turn(self) -> list[_Server]:
        with self._lock:
            now = time.monotonic()
            return sorted(self._servers, key=lambda each: (each.rests_until > now, each.waiting))

    def _ask(self, server: _Server, texts: Sequence[str], seconds: float) -> Numbered:
        with self._lock:
            server.waiting += 1
            if was_away := server.rests_until > 0:  # this request finds out whether it is back
                server.rests_until = time.monotonic() + REST_SECONDS
        try:
            if not server.is_known:
                self._check(server, seconds)
            result = self._post(server, texts, seconds)
            server.rests_until = 0.0
            return result
        except Lost as fault:
            with self._lock:
                is_news = not (was_away or server.rests_until)
                server.rests_until = time.monotonic() + REST_SECONDS
            if is_news and len(self._servers) > 1:
                log.warning(
                    "%s Others get its texts.", explain(fault, server.provider, self._model)
                )
            raise
        finally:
            with self._lock:
                server.waiting -= 1

    def _check(self, server: _Server, seconds: float) -> None:
        """Raise ConfigurationError if a server has another model than the first that answered."""
        if len(self._servers) > 1:
            vector = _unit_vectors(self._post(server, [PROBE], seconds), 1)[0]
            with self._lock:
                first = self._probe = vector if self._probe is None else self._probe
            if first.shape != vector.shape or float(first @ vector) < SAME_MODEL:
                raise ConfigurationError(
                    f"{server.provider.server} gives other vectors than another server of "
                    "EMBEDDING_URLS. Start the same model in all of them."
                )
        server.is_known = True

    def _post(self, server: _Server, texts: Sequence[str], seconds: float) -> Numbered:
        url = f"{server.provider.address.rstrip('/')}/embeddings"
        body = {"model": self._model, "input": list(texts)}
        response = post(self._client, url, body, seconds)
        try:
            return [(each["index"], each["embedding"]) for each in response.json()["data"]]
        except (ValueError, KeyError, TypeError) as error:
            raise Garbled(f"{type(error).__name__}: {response.text}") from error

    @cached_property
    def _client(self) -> "Client":
        from httpx2 import Client, Limits

        hide_logins()
        headers = {"authorization": f"Bearer {self._key}"} if self._key else {}
        with readable_environment():
            client = bounded(Client(headers=headers, limits=Limits(max_connections=None)))
        weakref.finalize(self, client.close)
        return client


def embedding_provider(
    server: str, key: str, key_setting: str, address_setting: str, address: str, **also: str
) -> Provider:
    """A provider of embedding models, at an `address` that may hold a login."""
    return Provider(
        server,
        key,
        key_setting,
        address_setting,
        model_setting="EMBEDDING_MODEL",
        refused_key=ConfigurationError,
        refused=EmbeddingRefused,
        unavailable=EmbeddingUnavailable,
        sizes="no passage is longer than the model reads",
        address=address,
        **also,
    )
