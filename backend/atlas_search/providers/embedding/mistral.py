"""Mistral's embedding models, over its API."""

import hashlib
import json
from collections.abc import Iterator, Sequence

import numpy as np
from mistralai.client.models import EmbeddingResponse
from numpy.typing import NDArray

from atlas_search.core.errors import EmbeddingRefused, EmbeddingUnavailable, SourceError
from atlas_search.providers.embedding import EmbedderInfo
from atlas_search.providers.mistral_account import MistralApi

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
        """See Embedder."""
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
        """See Embedder."""
        if not texts:
            return np.empty((0, self.info.dimension), dtype=np.float32)
        prefixed = [self._passage_prefix + text for text in texts]
        return np.concatenate([self._halving(batch) for batch in batches(prefixed)])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """See Embedder."""
        vectors = self._request([self._query_prefix + text], QUERY_PATIENCE)
        return vectors.reshape(-1)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See Embedder. The count of UTF-8 bytes, for no token is shorter than one."""
        prefix = len(self._passage_prefix.encode()) + SPECIAL_TOKENS
        return [prefix + len(text.encode()) for text in texts]

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """See Embedder: always SourceError."""
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
    found = sorted(response.data, key=lambda each: each.index or 0)
    if [each.index for each in found] != list(range(count)):
        raise _unusable(f"{len(found)} vectors for {count} texts")
    try:
        vectors = np.array([each.embedding for each in found], dtype=np.float64)
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
