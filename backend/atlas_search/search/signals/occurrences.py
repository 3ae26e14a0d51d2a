"""Where the question's terms stand in the candidates: the one pass all word signals share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from atlas_search.search.query import Query
from atlas_search.search.signals.neighbours import Around
from atlas_search.stores.arrays import AT_ONCE, IntArray, Ragged, runs
from atlas_search.stores.terms import FloatArray, TokenTable

_NONE = np.empty(0, dtype=np.int64)


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


class _Hits(NamedTuple):
    """Hits in one kind of words, row by row: how many each row has, and the place and the term of
    each hit. Places are counted through all rows, of which each has a start."""

    per_row: IntArray
    starts: IntArray
    place: IntArray
    term: IntArray

    @property
    def row(self) -> IntArray:
        """The row of each hit."""
        return np.repeat(np.arange(len(self.per_row)), self.per_row)

    @property
    def position(self) -> IntArray:
        """The place of each hit in its row."""
        position: IntArray = self.place - np.repeat(self.starts, self.per_row)
        return position

    def of(self, rows: IntArray) -> "_Hits":
        """Those in some of the rows, in the order asked for; a row may be asked for again."""
        per_row = self.per_row[rows]
        before = (np.cumsum(self.per_row) - self.per_row)[rows]
        moved = before - (np.cumsum(per_row) - per_row)
        at = np.repeat(moved, per_row) + np.arange(int(per_row.sum()))
        return _Hits(per_row, self.starts[rows], self.place[at], self.term[at])


def weigh(query: Query, table: TokenTable, corpora: Sequence[int]) -> Terms:
    """Inverse passage frequency, idf(t) = ln(1 + (N - n + 0.5) / (n + 0.5)).

    Robertson and Zaragoza 2009, in the never-negative form that Lucene uses; N passages, n of
    them with the term, over all `corpora` that are searched together: a term weighs the same in
    each of them, so their scores can be compared.
    """
    # as narrow as may be: it is looked up for every word of every candidate
    number: IntArray = np.full(len(table.passage_frequency) + 1, -1, dtype=np.int16)
    if len(query.terms) <= np.iinfo(np.int8).max:
        number = number.astype(np.int8)
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


def locate(terms: Terms, around: Around, table: TokenTable) -> tuple[Occurrences, IntArray]:
    """Find every hit of `terms` in the candidates, and count those in all passages `around` them.

    The counts are (n x terms).
    """
    rows, own = around.rows, around.own
    found = [_hits(of, at, terms.number) for of, at in table.indexed(rows)]
    width = len(terms.idf)
    cells = np.concatenate([of.row * width + of.term for of in found if len(of.term)] or [_NONE])
    counts = np.bincount(cells, minlength=len(rows) * width).reshape(len(rows), width)
    titles, words = (of.of(own) for of in found[:2])
    after = table.titles.lengths(table.document_of[rows[own]]) + 1
    words = words._replace(starts=words.starts - after)
    row, position, term = words.row, words.position, words.term
    if len(titles.term):
        row = np.concatenate([titles.row, row])
        order = np.argsort(row, kind="stable")
        row = row[order]
        position = np.concatenate([titles.position, position])[order]
        term = np.concatenate([titles.term, term])[order]
    return Occurrences(row, position, term, counts[own], table.lengths(rows[own])), counts


def _hits(ragged: Ragged, rows: IntArray, number: IntArray) -> _Hits:
    """The terms of `rows` that have a `number` among the question's.

    Rows and places are worked out for hits only: one word in a hundred is one.
    """
    distinct, back = runs(rows)
    if len(distinct) < len(rows):  # passages that share a title
        return _hits(ragged, distinct, number).of(back)
    lengths = ragged.lengths(rows)
    ends = np.cumsum(lengths)
    if not len(ends) or not ends[-1]:  # of some kinds many collections have no words
        return _Hits(np.zeros_like(lengths), lengths, _NONE, _NONE)
    places, terms = [_NONE], [number[:0]]
    for index, words in enumerate(ragged.blocks(rows)):
        term = number.take(words)
        at = np.flatnonzero(term >= 0)
        places.append(at + index * AT_ONCE)
        terms.append(term[at])
    hit = np.concatenate(places)
    per_row = np.searchsorted(hit, ends)  # hits up to the end of each row
    per_row[1:] -= per_row[:-1].copy()
    return _Hits(per_row, ends - lengths, hit, np.concatenate(terms).astype(np.int64))
