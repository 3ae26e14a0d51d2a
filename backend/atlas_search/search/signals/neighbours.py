"""How well the passages before and after a passage fit the question."""

import numpy as np

from atlas_search.stores.tokens import FloatArray, IntArray, sorted_unique


def with_neighbours(rows: IntArray, document_of: IntArray) -> IntArray:
    """`rows` and the passages next to them in their documents, ascending."""
    around = np.concatenate([rows - 1, rows, rows + 1])
    owner = np.concatenate([document_of[rows]] * 3)
    inside = (around >= 0) & (around < len(document_of))
    around, owner = around[inside], owner[inside]
    return sorted_unique(around[document_of[around] == owner])


def neighbours(rows: IntArray, around: IntArray, fit: FloatArray, owner: IntArray) -> FloatArray:
    """Mean `fit` of the passage before and the one after; 0 without either.

    `around` are those of `with_neighbours`, `fit` their mean of cosine and BM25, in [0, 1];
    `owner` is the document of each passage of the collection.
    """
    at = np.searchsorted(around, rows)
    total, count = np.zeros(len(rows)), np.zeros(len(rows))
    for step in (-1, 1):
        near = np.clip(at + step, 0, len(around) - 1)
        beside = (around[near] == rows + step) & (owner[around[near]] == owner[rows])
        total += np.where(beside, fit[near], 0.0)
        count += beside
    return total / np.maximum(count, 1)
