"""An embedder without a model: the unit vectors of hashes. Fast, and the same everywhere."""

import hashlib
import re
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from atlas_search.providers.embedding import NO_LIMIT, EmbedderInfo

_TOKEN = re.compile(r"\w+|[^\w\s]+")


class HashEmbedder:
    """Fulfils `Embedder`: equal texts have equal vectors, and no others are near.

    Another `name` or `dimension` is another model. `delay` is in seconds for each text that
    `embed` is given, so that a build can be met while it embeds. `embedded` counts those texts.
    """

    def __init__(self, name: str = "hash", dimension: int = 32, delay: float = 0.0):
        self._name = name
        self._dimension = dimension
        self._delay = delay
        self.embedded = 0
        self.fingerprint = hashlib.sha256(f"{name} {dimension}".encode()).hexdigest()

    @property
    def info(self) -> EmbedderInfo:
        return EmbedderInfo(
            name=self._name,
            digest=hashlib.sha256(self._name.encode()).hexdigest(),
            dimension=self._dimension,
            pooling="none",
            max_tokens=NO_LIMIT,
            provider="local",
            passage_prefix="",
            query_prefix="",
        )

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        for _ in texts if self._delay else ():
            time.sleep(self._delay)
        self.embedded += len(texts)
        vectors = np.empty((len(texts), self._dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self.embed_query(text)
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        blocks = range(-(-self._dimension // 32))
        hashed = b"".join(
            hashlib.sha256(f"{self._name} {block} {text}".encode()).digest() for block in blocks
        )
        # half of odd numbers: no vector is without length
        vector = np.frombuffer(hashed[: self._dimension], dtype=np.uint8) - 127.5
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(self.token_spans(text)) for text in texts]

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in _TOKEN.finditer(text)]
