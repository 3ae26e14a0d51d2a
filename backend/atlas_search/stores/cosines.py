"""The cosines of a question's vector and passages, each worked out once."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from atlas_search.stores.ragged import IntArray

AT_ONCE = 512  # vectors: what is gathered stays in the cache of the processor
FloatArray = NDArray[np.float64]
VectorsOf = Callable[[IntArray], NDArray[np.float32]]
"""Gives the unit vectors (n, d) of passages."""


def cosines(vectors: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """That of each of `vectors` (n, d) and `vector`, all of unit length; equal for equal vectors.

    `einsum` is faster than `@`, which leaves threads of BLAS waiting in circles, and adds up every
    row in the same order.
    """
    found: NDArray[np.float32] = np.einsum("ij,j->i", vectors, vector)
    return found


class Cosines:
    """Those of one unit `vector`: what a leg has compared is there when signals are measured.

    Several threads may keep some. What `of` gives needs all of them to have ended.
    """

    def __init__(self, vector: NDArray[np.float32], vectors_of: VectorsOf):
        self.vector = vector
        self._vectors_of = vectors_of
        self._kept: dict[int, FloatArray] = {}

    def keep(self, first: int, found: FloatArray) -> None:
        """Those of passages that stand together, from the row `first` on."""
        self._kept[first] = found

    def of(self, rows: IntArray) -> FloatArray:
        """The cosine of each of the passages `rows`, ascending, from -1 to 1."""
        found = np.empty(len(rows))
        done = 0
        for first in sorted(self._kept):
            kept = self._kept[first]
            start, end = np.searchsorted(rows, [first, first + len(kept)]).tolist()
            self._compare(rows[done:start], found[done:start])
            kept.take(rows[start:end] - first, out=found[start:end])
            done = end
        self._compare(rows[done:], found[done:])
        return found

    def _compare(self, rows: IntArray, found: FloatArray) -> None:
        for start in range(0, len(rows), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            found[part] = cosines(self._vectors_of(rows[part]), self.vector)
