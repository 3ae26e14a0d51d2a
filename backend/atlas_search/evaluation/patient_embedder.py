"""An embedding model that is given up after some failures in a row: each may take minutes."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.errors import EmbeddingUnavailable
from atlas_search.providers.embedding import Embedder, EmbedderInfo

PATIENCE = 3
"""Failures in a row after which nothing more is asked of it."""


@dataclass
class PatientEmbedder:
    """See Embedder. Once it is given up, it raises at once what it raised last."""

    whole: Embedder
    _failures: list[EmbeddingUnavailable] = field(default_factory=list)

    @property
    def info(self) -> EmbedderInfo:
        """See Embedder."""
        return self.whole.info

    @property
    def fingerprint(self) -> str:
        """See Embedder."""
        return self.whole.fingerprint

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See Embedder."""
        if len(self._failures) >= PATIENCE:
            raise EmbeddingUnavailable(str(self._failures[-1])) from self._failures[-1]
        try:
            vectors = self.whole.embed(texts)
        except EmbeddingUnavailable as error:
            self._failures.append(error)
            raise
        self._failures.clear()
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """See Embedder."""
        return self.whole.embed_query(text)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See Embedder."""
        return self.whole.count_tokens(texts)

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """See Embedder."""
        return self.whole.token_spans(text)
