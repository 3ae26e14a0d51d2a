"""Whether the question's words stand in the passage as they stand in the question."""

import numpy as np

from atlas_search.search.query import Query
from atlas_search.search.signals.occurrences import Occurrences, Terms
from atlas_search.stores.arrays import IntArray, sorted_unique
from atlas_search.stores.terms import FloatArray, TokenTable


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


def quoted(
    query: Query, terms: Terms, rows: IntArray, table: TokenTable
) -> tuple[FloatArray, FloatArray]:
    """The idf-weighted share of the question that stands in a passage as it is quoted, and 1 where
    all phrases in quotation marks do; 0 without any.

    A phrase without an informative word counts as its share of all words. `rows` are ascending.
    Words are compared by their stems.
    """
    share, every = np.zeros(len(rows)), np.full(len(rows), float(bool(query.preferred)))
    for preferred in query.preferred:
        held = np.isin(rows, table.holding(rows, preferred.stems))
        weight = sum(
            idf
            for term, idf in zip(query.terms, terms.idf.tolist(), strict=True)
            if term in preferred.stems
        )
        share += held * (weight / terms.total or len(preferred.stems) / len(query.words))
        every *= held
    return np.minimum(share, 1.0), every
