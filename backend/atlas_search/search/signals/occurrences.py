"""Where the question's terms stand in the candidates: the one pass all word signals share."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from atlas_search.search.query import Query
from atlas_search.stores.tokens import FloatArray, Gathered, IntArray, Ragged, TokenTable

AT_ONCE = 65_536  # words: what is looked up stays in the cache of the processor


@dataclass(frozen=True)
class Terms:
    """The question's informative terms against one collection.

    `number` gives for every id of the vocabulary which of the terms it is, or -1; other spellings
    of a term have its number. `idf` are the weights of the terms. An unknown term keeps its
    (highest) weight, so asking about what the corpora do not mention costs score.
    """

    number: IntArray
    idf: FloatArray

    @property
    def total(self) -> float:
        """The sum of all weights, positive."""
        return float(self.idf.sum()) or 1.0


@dataclass(frozen=True)
class Occurrences:
    """Hits of the question's words in `m` candidates.

    `row`, `position` and `term` list the hits in the title and the running text, ordered by row
    and position; the text follows the title after a gap. `term` indexes the question's terms.
    `counts` (m x terms) also counts identifier parts, section and speaker, and `length` of each
    candidate is the number of all these words.
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


def weigh(query: Query, table: TokenTable, corpora: Sequence[int]) -> Terms:
    """Inverse passage frequency, idf(t) = ln(1 + (N - n + 0.5) / (n + 0.5)).

    Robertson and Zaragoza 2009, in the never-negative form that Lucene uses; N passages, n of
    them with the term, over all `corpora` that are searched together: a term weighs the same in
    each of them, so their scores can be compared.
    """
    number = np.full(len(table.passage_frequency) + 1, -1, dtype=np.int16)
    spelt = [
        (index, table.vocabulary[spelling])
        for index, term in enumerate(query.terms)
        for spelling in (term, *query.spellings.get(term, ()))
        if spelling in table.vocabulary
    ]
    # a spelling of two terms is the first one's
    owner = {id_: index for index, id_ in reversed(spelt)}
    ids, terms = (np.array([*of], dtype=np.int64) for of in (owner.keys(), owner.values()))
    number[ids] = terms
    passages = int(table.passages_of[list(corpora)].sum())
    counts = np.bincount(terms, table.frequency(ids, corpora), minlength=len(query.terms))
    found = np.minimum(counts, passages)
    return Terms(number, np.log1p((passages - found + 0.5) / (found + 0.5)))


def locate(terms: Terms, rows: IntArray, table: TokenTable) -> Occurrences:
    """Find every hit of `terms` in the candidate passages `rows`."""
    found = [_hits(of, at, terms.number) for of, at in table.indexed(rows)]
    width = len(terms.idf)
    cells = np.concatenate([of.row * width + of.value for of in found])
    titles, words, *_ = found
    after = table.titles.lengths(table.document_of[rows])[words.row] + 1
    row = np.concatenate([titles.row, words.row])
    # the text alone is in order as it is
    order = np.argsort(row, kind="stable") if len(titles.row) else slice(None)
    return Occurrences(
        row=row[order],
        position=np.concatenate([titles.position, words.position + after])[order],
        term=np.concatenate([titles.value, words.value])[order],
        counts=np.bincount(cells, minlength=len(rows) * width).reshape(len(rows), width),
        length=table.lengths(rows),
    )


def _hits(ragged: Ragged, rows: IntArray, number: IntArray) -> Gathered:
    """The terms of `rows` that have a `number` among the question's, as that.

    Row and position are worked out for hits only: one word in a hundred is one.
    """
    ends = np.cumsum(ragged.lengths(rows))
    words = ragged.joined(rows)
    places, terms = [np.empty(0, dtype=np.int64)], [number[:0]]
    for start in range(0, len(words), AT_ONCE):
        term = number.take(words[start : start + AT_ONCE])
        at = np.flatnonzero(term >= 0)
        places.append(at + start)
        terms.append(term[at])
    hit = np.concatenate(places)
    before = np.searchsorted(hit, ends)  # hits up to the end of each row
    row = np.repeat(np.arange(len(rows)), np.diff(before, prepend=0))
    starts = np.concatenate([[0], ends])
    return Gathered(row, hit - starts[row], np.concatenate(terms).astype(np.int64))
