"""Vectors that cost next to nothing, so that what is measured is not the model."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from atlas_search.providers.embedding import DEFAULT_MODEL, EmbedderInfo
from atlas_search.providers.embedding_local import DEFAULT_MODEL_SHA256, LocalEmbedder
from benchmarks.build_store import DIMENSION

CENTRES, NOISES = 500, 8192
CENTRE_SHARE = 0.7
"""Of a vector's length: near enough to its neighbours, far enough from those of other centres."""


class Given:
    """Fulfils `Embedder`: passages get a centre and two of many noises, chosen by their digest.

    It has the fingerprint of the default model, so that `atlas serve` opens what it built.
    `questions` is a file whose questions have vectors of their own.
    """

    info = EmbedderInfo(
        DEFAULT_MODEL, DEFAULT_MODEL_SHA256, DIMENSION, "mean", 256, "local", "", ""
    )

    def __init__(self, questions: Path | None = None):
        random = np.random.default_rng(1)
        self._centres = CENTRE_SHARE * random.standard_normal((CENTRES, DIMENSION), np.float32)
        self._noises = random.standard_normal((NOISES, DIMENSION), np.float32) / 2
        self.fingerprint = LocalEmbedder(DEFAULT_MODEL).fingerprint
        self._questions: dict[str, NDArray[np.float32]] = {}
        if questions:
            texts = json.loads(questions.read_text())
            self._questions = dict(zip(texts, np.load(vectors_of(questions)), strict=True))

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See Embedder."""
        digests = b"".join(hashlib.blake2b(t.encode(), digest_size=12).digest() for t in texts)
        chosen = np.frombuffer(digests, dtype=np.uint32).reshape(len(texts), 3)
        vectors = self._centres[chosen[:, 0] % CENTRES]
        vectors += self._noises[chosen[:, 1] % NOISES]
        vectors += self._noises[chosen[:, 2] % NOISES]
        unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """See Embedder."""
        known = self._questions.get(text)
        return self.embed([text])[0] if known is None else known

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See Embedder."""
        return [len(text) // 5 for text in texts]

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """See Embedder."""
        raise NotImplementedError(text)


def vectors_of(questions: Path) -> Path:
    """The file with the vectors of the questions in a file."""
    return questions.with_suffix(".npy")


def near(vectors: NDArray[np.float32], seed: int) -> NDArray[np.float32]:
    """Unit vectors near those given, as a question's is near that of a passage that answers it."""
    noise = np.random.default_rng(seed).standard_normal(vectors.shape, np.float32)
    moved = vectors + 0.7 * noise / np.linalg.norm(noise, axis=1, keepdims=True)
    unit: NDArray[np.float32] = moved / np.linalg.norm(moved, axis=1, keepdims=True)
    return unit
