"""Whether the question stands in the passage verbatim."""

import numpy as np

from backend.search.query import Query
from backend.search.signals.occurrences import Occurrences
from backend.stores.tokens import FloatArray, IntArray, TokenTable


def exact(query: Query, hits: Occurrences, rows: IntArray, table: TokenTable) -> FloatArray:
    """1 where all words of the question stand in the passage one after the other, else 0.

    Words are compared by their stems, punctuation and case do not count.
    """
    result = np.zeros(len(rows))
    # only passages with every informative word can hold the whole question
    full = np.flatnonzero((hits.counts > 0).all(axis=1))
    result[full] = _verbatim(query, rows[full], table)
    return result


def _verbatim(query: Query, rows: IntArray, table: TokenTable) -> FloatArray:
    result = np.zeros(len(rows))
    sequence = [table.vocabulary.get(word, -1) for word in query.words]
    if not sequence or min(sequence) < 0:
        return result
    words = table.words.take(rows)
    # start from the rarest word: few places are left to compare
    anchor = int(np.argmin(table.passage_frequency[sequence]))
    starts = np.flatnonzero(words.value == sequence[anchor]) - anchor
    starts = starts[(starts >= 0) & (starts + len(sequence) <= len(words.value))]
    for offset, term in enumerate(sequence):
        starts = starts[words.value[starts + offset] == term]
    whole = words.row[starts] == words.row[starts + len(sequence) - 1]
    result[words.row[starts[whole]]] = 1.0
    return result
