"""Vectors that count the trigrams of a text: no model to download."""

import re
import zlib
from collections.abc import Sequence

import numpy as np

from atlas_search.core.settings import Settings
from atlas_search.providers.embedding import NO_LIMIT, EmbedderInfo

DIMENSION = 256


class Trigrams:
    fingerprint = f"trigrams {DIMENSION} 1"
    info = EmbedderInfo("trigrams", fingerprint, DIMENSION, "none", NO_LIMIT, "trigrams", "", "")

    def __init__(self, settings: Settings) -> None:
        """There is nothing to set."""

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([self.embed_query(t) for t in texts], np.float32).reshape(-1, DIMENSION)

    def embed_query(self, text: str) -> np.ndarray:
        padded = f"  {text.lower()} "
        vector = np.zeros(DIMENSION, np.float32)
        for start in range(len(padded) - 2):
            vector[zlib.crc32(padded[start : start + 3].encode()) % DIMENSION] += 1
        return vector / np.linalg.norm(vector)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [max(1, len(self.token_spans(text))) for text in texts]

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\w+", text)]
