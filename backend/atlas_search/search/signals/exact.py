"""Whether the question stands in the passage verbatim."""

import numpy as np

from atlas_search.search.query import Query
from atlas_search.search.signals.occurrences import Occurrences
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.terms import FloatArray, TokenTable


def exact(query: Query, hits: Occurrences, rows: IntArray, table: TokenTable) -> FloatArray:
    """1 where all words of the question stand in the passage one after the other, else 0.

    `rows` are ascending. Words are compared by their stems, punctuation and case do not count.
    """
    # only passages with every informative word can hold the whole question
    full = rows[hits.counts.all(axis=1)]
    found = np.zeros(len(rows))
    found[np.searchsorted(rows, table.holding(full, query.words))] = 1.0
    return found
