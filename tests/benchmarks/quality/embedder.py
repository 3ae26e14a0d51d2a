"""An embedder that is asked the same question several times in a row."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from atlas_search.providers.embedding import Embedder, EmbedderInfo


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
