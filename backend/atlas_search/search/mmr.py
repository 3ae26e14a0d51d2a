"""Maximal marginal relevance: each next passage is good and unlike those before it."""

import numpy as np
from numpy.typing import NDArray

from atlas_search.stores.arrays import IntArray
from atlas_search.stores.terms import FloatArray


def mmr_order(
    scores: FloatArray, vectors: NDArray[np.float32], share: float, limit: int
) -> IntArray:
    """Positions in a new order: first `limit` chosen one by one, then the others as they were.

    Each is the one with the largest share * score - (1 - share) * (largest cosine with those
    chosen before); Carbonell and Goldstein 1998. `scores` descend and `vectors` (n, d) have unit
    length; of equals the better ranked one is taken.
    """
    likeness = np.zeros(len(scores))
    left = np.ones(len(scores), dtype=bool)
    chosen: list[int] = []
    for _ in range(min(limit, len(scores))):
        value = np.where(left, share * scores - (1 - share) * likeness, -np.inf)
        best = int(np.argmax(np.round(value, 9)))
        chosen.append(best)
        left[best] = False
        cosine = np.einsum("nd,d->n", vectors, vectors[best], dtype=np.float64)
        likeness = np.maximum(likeness, cosine)
    return np.concatenate([np.array(chosen, dtype=np.int64), np.flatnonzero(left)])
