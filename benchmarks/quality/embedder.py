"""Embedders that are asked for the same texts again and again."""

import time
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from atlas_search.providers.embedding import Embedder, EmbedderInfo
from atlas_search.providers.embedding_local import LocalEmbedder


class RememberedQuestions:
    """Fulfils `Embedder`: another one that embeds a question once for all the places searched."""

    def __init__(self, embedder: Embedder):
        self._embedder = embedder
        # a question and its parts
        self._embed_query = lru_cache(maxsize=16)(embedder.embed_query)

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    @property
    def info(self) -> EmbedderInfo:
        return self._embedder.info

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embedder.embed(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._embed_query(text)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._embedder.count_tokens(texts)

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return self._embedder.token_spans(text)


class Remembering(LocalEmbedder):
    """Embeds each text once in a run; `seconds` is the time that took."""

    def __init__(self, model: str):
        super().__init__(model)
        self._known: dict[str, NDArray[np.float32]] = {}
        self.seconds = 0.0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        started = time.perf_counter()
        self._known |= dict(zip(new, super().embed(new), strict=True)) if new else {}
        self.seconds += time.perf_counter() - started
        return np.array([self._known[text] for text in texts], dtype=np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self.embed([text])[0]
        return vector
