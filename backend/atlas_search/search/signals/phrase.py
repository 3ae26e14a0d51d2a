"""Whether the question's words stand in the passage as they stand in the question."""

import numpy as np

from atlas_search.search.query import Query
from atlas_search.search.signals.occurrences import Occurrences, Terms
from atlas_search.stores.tokens import FloatArray, IntArray, TokenTable, sorted_unique


def phrase(hits: Occurrences, terms: Terms, query: Query) -> FloatArray:
    """Idf-weighted share of the question's adjacent word pairs that stand adjacent, in order.

    A pair weighs the sum of its words' idf. 0 for questions without a pair.
    """
    result = np.zeros(len(hits.counts))
    if not query.pairs:
        return result
    width = len(terms.idf)
    weight = np.zeros(width * width)
    for first, second in query.pairs:
        weight[first * width + second] = terms.idf[first] + terms.idf[second]
    adjacent = np.flatnonzero(
        (hits.row[1:] == hits.row[:-1]) & (hits.position[1:] == hits.position[:-1] + 1)
    )
    pair = hits.term[adjacent] * width + hits.term[adjacent + 1]
    seen = sorted_unique(hits.row[adjacent] * (width * width) + pair)
    np.add.at(result, seen // (width * width), weight[seen % (width * width)])
    result /= weight.sum()
    return result


def quoted(query: Query, rows: IntArray, table: TokenTable) -> FloatArray:
    """Share of the phrases in quotation marks that stand in the passage; 0 without any.

    `rows` are ascending. Words are compared by their stems.
    """
    held = np.zeros(len(rows))
    for preferred in query.preferred:
        held += np.isin(rows, table.holding(rows, preferred.stems))
    return held / max(len(query.preferred), 1)
