"""How well the words of the passages before and after a passage fit the question."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atlas_search.stores.arrays import IntArray
from atlas_search.stores.terms import FloatArray


class Around(NamedTuple):
    """Candidates and the passages next to them in their documents.

    `rows` are all of these, ascending; the candidates are `rows[own]`. Whether a candidate has a
    passage before it, and one after it, say `before` and `after`: these stand beside it in `rows`.
    """

    rows: IntArray
    own: IntArray
    before: NDArray[np.bool_]
    after: NDArray[np.bool_]


def with_neighbours(rows: IntArray, document_of: IntArray) -> Around:
    """The candidates `rows`, ascending, with their neighbours; `document_of` is of all passages."""
    owner = document_of[rows]
    before = (rows > 0) & (document_of[rows - 1] == owner)
    after = rows < len(document_of) - 1
    after[after] = document_of[rows[after] + 1] == owner[after]
    # a neighbour may be a candidate itself, or that of two: it stands there once
    step = np.diff(rows)
    behind, ahead = after.copy(), before.copy()
    behind[:-1] &= step > 1
    ahead[1:] &= (step > 2) | ((step == 2) & ~after[:-1])
    own = np.arange(len(rows)) + np.cumsum(ahead) + np.cumsum(behind) - behind
    around = np.empty(len(rows) + int(ahead.sum()) + int(behind.sum()), dtype=rows.dtype)
    around[own] = rows
    around[own[ahead] - 1] = rows[ahead] - 1
    around[own[behind] + 1] = rows[behind] + 1
    return Around(around, own, before, after)


def neighbours(around: Around, fit: FloatArray) -> FloatArray:
    """Mean `fit` of the passage before a candidate and the one after; 0 without either.

    `fit` is that of all passages, their BM25, in [0, 1): their cosines beside it bring nothing, and
    three times as many vectors would be read.
    """
    total = np.zeros(len(around.own))
    total[around.before] = fit[around.own[around.before] - 1]
    total[around.after] += fit[around.own[around.after] + 1]
    count = around.before.astype(np.int64) + around.after
    return total / np.maximum(count, 1)
