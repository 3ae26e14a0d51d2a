"""The vectors of sentences that may be quoted."""

from collections.abc import Iterable, Mapping
from threading import Lock

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from atlas_search.providers.embedding import Embedder

KEPT = 8192
"""Sentences whose vectors are kept, 12 MB of the default model: embedding those of one question
takes half of what an answer costs, and questions on one subject share them."""


class SentenceVectors:
    """Vectors by text, those asked for last of at most `kept` texts. Safe to use from several
    threads."""

    def __init__(self, embedder: Embedder, kept: int = KEPT):
        self._embedder = embedder
        self._kept: LRUCache[str, NDArray[np.float32]] = LRUCache(kept)
        self._lock = Lock()

    def of(self, texts: Iterable[str]) -> Mapping[str, NDArray[np.float32]]:
        """The unit vector of each text. Raises what the embedder does."""
        wanted = list(dict.fromkeys(texts))
        with self._lock:
            found = {text: self._kept[text] for text in wanted if text in self._kept}
        missing = [text for text in wanted if text not in found]
        if missing:
            # copied: a row of a batch would keep the whole batch
            new = [row.copy() for row in self._embedder.embed(missing)]
            with self._lock:
                self._kept.update(zip(missing, new, strict=True))
            found.update(zip(missing, new, strict=True))
        return found
