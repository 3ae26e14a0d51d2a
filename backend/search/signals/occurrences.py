"""Where the question's terms stand in the candidates: the one pass all word signals share."""

from dataclasses import dataclass

import numpy as np

from backend.search.query import Query
from backend.stores.tokens import FloatArray, Gathered, IntArray, Ragged, TokenTable


@dataclass(frozen=True)
class Terms:
    """The question's informative terms against one collection.

    `ids` are vocabulary ids, -1 where no passage has the term; `idf` their weights. An unknown
    term keeps its (highest) weight, so asking about what the corpora do not mention costs score.
    """

    ids: IntArray
    idf: FloatArray

    @property
    def total(self) -> float:
        """The sum of all weights, positive."""
        return float(self.idf.sum()) or 1.0


@dataclass(frozen=True)
class Occurrences:
    """Hits of the question's words in `m` candidates.

    `row`, `position` and `term` list the hits in the running text, ordered by row and position;
    `term` indexes the question's terms. `counts` (m x terms) also counts identifier parts.
    `length` is the number of words and parts of each candidate.
    """

    row: IntArray
    position: IntArray
    term: IntArray
    counts: IntArray
    length: IntArray

    def only(self, rows: IntArray) -> "Occurrences":
        """Those in some of the candidates, ascending, which are numbered from 0 then."""
        number = np.full(len(self.length), -1)
        number[rows] = np.arange(len(rows))
        row = number[self.row]
        kept = np.flatnonzero(row >= 0)
        return Occurrences(
            row=row[kept],
            position=self.position[kept],
            term=self.term[kept],
            counts=self.counts[rows],
            length=self.length[rows],
        )


def weigh(query: Query, table: TokenTable) -> Terms:
    """Inverse passage frequency, idf(t) = ln(1 + (N - n + 0.5) / (n + 0.5)).

    Robertson and Zaragoza 2009, in the never-negative form that Lucene uses; N passages, n of
    them with the term, over all corpora.
    """
    ids = np.array([table.vocabulary.get(term, -1) for term in query.terms], dtype=np.int64)
    found = (
        np.where(ids >= 0, table.passage_frequency[ids], 0) if len(table.vocabulary) else 0 * ids
    )
    return Terms(ids, np.log1p((table.passages - found + 0.5) / (found + 0.5)))


def locate(terms: Terms, rows: IntArray, table: TokenTable) -> Occurrences:
    """Find every hit of `terms` in the candidate passages `rows`."""
    index = np.full(len(table.vocabulary) + 1, -1, dtype=np.int16)
    known = np.flatnonzero(terms.ids >= 0)
    index[terms.ids[known]] = known
    words, parts = _hits(table.words, rows, index), _hits(table.parts, rows, index)
    width = len(terms.ids)
    cells = np.concatenate([of.row * width + of.value for of in (words, parts)])
    return Occurrences(
        row=words.row,
        position=words.position,
        term=words.value,
        counts=np.bincount(cells, minlength=len(rows) * width).reshape(len(rows), width),
        length=table.words.lengths(rows) + table.parts.lengths(rows),
    )


def _hits(ragged: Ragged, rows: IntArray, index: IntArray) -> Gathered:
    """The terms of `rows` that `index` maps to one of the question's, as that.

    Row and position are worked out for hits only: one word in a hundred is one.
    """
    lengths = ragged.lengths(rows)
    ends = np.cumsum(lengths)
    starts = ends - lengths
    total = int(ends[-1]) if len(ends) else 0
    term = index[ragged.flat[np.repeat(ragged.offsets[rows] - starts, lengths) + np.arange(total)]]
    hit = np.flatnonzero(term >= 0)
    row = np.searchsorted(ends, hit, side="right")
    return Gathered(row, hit - starts[row], term[hit].astype(np.int64))
