"""The signals of the candidates, measured over the places of the question's terms in one pass."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atlas_search.search.query import Query
from atlas_search.stores.arrays import AT_ONCE, IntArray, Ragged, runs, sorted_unique
from atlas_search.stores.terms import FloatArray, TokenTable, idf, saturation
from atlas_search.stores.vectors import Cosines


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
        """Select the hits of some rows, in the order of `rows`, which may repeat one."""
        per_row = self.per_row[rows]
        before = (np.cumsum(self.per_row) - self.per_row)[rows]
        moved = before - (np.cumsum(per_row) - per_row)
        at = np.repeat(moved, per_row) + np.arange(int(per_row.sum()))
        return _Hits(per_row, self.starts[rows], self.place[at], self.term[at])


def weigh(query: Query, table: TokenTable, corpora: Sequence[int]) -> Terms:
    """Weigh the question's terms by their `idf` over all `corpora` that are searched together.

    So a term weighs the same in each of them, and their scores can be compared.
    """
    # as narrow as may be: it is looked up for every word of every candidate
    number: IntArray = np.full(len(table.passage_frequency) + 1, -1, dtype=np.int16)
    if len(query.terms) <= np.iinfo(np.int8).max:
        number = number.astype(np.int8)
    spellings = [
        (index, table.vocabulary[spelling])
        for index, term in enumerate(query.terms)
        for spelling in (term, *query.spellings.get(term, ()))
        if spelling in table.vocabulary
    ]
    # a spelling of two terms is the first one's
    owner = {id_: index for index, id_ in reversed(spellings)}
    ids, terms = (np.array([*of], dtype=np.int64) for of in (owner.keys(), owner.values()))
    number[ids] = terms
    passages = int(table.passages_of[list(corpora)].sum())
    counts = np.bincount(terms, table.frequency(ids, corpora), minlength=len(query.terms))
    n = np.minimum(counts, passages)
    return Terms(number, idf(n, passages))


def locate(terms: Terms, around: Around, table: TokenTable) -> tuple[Occurrences, IntArray]:
    """Find every hit of `terms` in the candidates, and count those in all passages `around` them.

    The counts are (n x terms).
    """
    rows, own = around.rows, around.own
    hits = [_hits(of, at, terms.number) for of, at in table.indexed(rows)]
    width = len(terms.idf)
    cells = np.concatenate([of.row * width + of.term for of in hits if len(of.term)] or [_NONE])
    counts = np.bincount(cells, minlength=len(rows) * width).reshape(len(rows), width)
    titles, words = (of.of(own) for of in hits[:2])
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


def bm25(counts: IntArray, length: IntArray, terms: Terms, mean_length: float) -> FloatArray:
    """Sum of idf(t) * saturation(tf), over the sum of idf(t).

    Dividing by the weight of the whole question puts it in [0, 1) and makes it independent of the
    other candidates. `counts` (m x terms) are the tf.
    """
    result: FloatArray = saturation(counts, length[:, None], mean_length) @ terms.idf / terms.total
    return result


def exact(query: Query, hits: Occurrences, rows: IntArray, table: TokenTable) -> FloatArray:
    """1 where all words of the question stand in the passage one after the other, else 0.

    `rows` are ascending. Words are compared by their stems, punctuation and case do not count.
    """
    # only passages with every informative word can hold the whole question
    full = rows[hits.counts.all(axis=1)]
    result = np.zeros(len(rows))
    result[np.searchsorted(rows, table.holding(full, query.words))] = 1.0
    return result


def frequency(hits: Occurrences) -> FloatArray:
    """hits / (hits + number of terms): 1/2 when each term stands in the passage once on average.

    It grows with every hit and never reaches 1.
    """
    total = hits.counts.sum(axis=1)
    result: FloatArray = total / (total + max(hits.counts.shape[1], 1))
    return result


def metadata_matches(terms: Terms, documents: IntArray, table: TokenTable) -> IntArray:
    """Count the metadata fields of `documents` with a value whose every word is in the question.

    A date matches by its year, a person by the last name; titles have a signal of their own.
    """
    owned = table.values_of.take(documents)
    words = table.values.take(owned.value)
    in_question = terms.number[words.value] >= 0
    lengths = table.values.lengths(owned.value)
    common = np.bincount(words.row[in_question], minlength=len(owned.value))
    matched = (lengths > 0) & (common == lengths)
    fields = int(table.value_field.max(initial=0)) + 1
    pairs = sorted_unique(owned.row[matched] * fields + table.value_field[owned.value[matched]])
    counts: IntArray = np.bincount(pairs // fields, minlength=len(documents))
    return counts


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
    cells = sorted_unique(hits.row[adjacent] * (width * width) + pair)
    np.add.at(result, cells // (width * width), weight[cells % (width * width)])
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
        holds = np.isin(rows, table.holding(rows, preferred.stems))
        weight = sum(
            idf
            for term, idf in zip(query.terms, terms.idf.tolist(), strict=True)
            if term in preferred.stems
        )
        share += holds * (weight / terms.total or len(preferred.stems) / len(query.words))
        every *= holds
    return np.minimum(share, 1.0), every


WINDOW = 32
"""Words; about two sentences."""


def proximity(hits: Occurrences, terms: Terms, titled: NDArray[np.bool_]) -> FloatArray:
    """The idf-weighted share of the terms that the title names (`titled`, candidates x terms), and
    of all others the largest share inside any WINDOW consecutive words.

    What a title names is the same for all passages of a document; which of them is asked about is
    told by the rest. 1 when all of them stand in one window, 0 without a hit. A best window can be
    taken to start at a hit, so each hit is tried as a start.
    """
    best = np.zeros(len(hits.counts))
    of_title: FloatArray = titled @ terms.idf
    rest = np.flatnonzero(~titled[hits.row, hits.term])
    if not len(rest):
        return of_title / terms.total
    row, position, number = hits.row[rest], hits.position[rest], hits.term[rest]
    # rows laid end to end with a gap no window can bridge, so one array holds all positions
    place = row * (int(position.max()) + WINDOW + 1) + position
    never = place[-1] + WINDOW + 1
    share = np.zeros(len(place))
    for term, weight in enumerate(terms.idf):
        at = np.flatnonzero(number == term)
        # for each hit the next place of the term, its own counted
        ends = np.concatenate(([-1], at, [len(place) - 1]))
        following = np.repeat(np.concatenate((place[at], [never])), ends[1:] - ends[:-1])
        share += weight * (following - place < WINDOW)
    np.maximum.at(best, row, share)
    return (of_title + best) / terms.total


def titled(terms: Terms, documents: IntArray, titles: Ragged) -> NDArray[np.bool_]:
    """Mark the terms in the titles of `documents`; shape (documents, terms)."""
    words = titles.take(documents)
    number = terms.number[words.value]
    hits = np.flatnonzero(number >= 0)
    size, width = len(documents), len(terms.idf)
    cells = words.row[hits] * width + number[hits]
    return np.bincount(cells, minlength=size * width).reshape(size, width) > 0


@dataclass(frozen=True)
class SignalTable:
    """Signals of the candidate passages `rows`, each an array of that length in [0, 1].

    `matches` counts the metadata fields that match; the `metadata` signal is n / (n + 1) of it.
    """

    rows: IntArray
    signals: Mapping[str, FloatArray]
    matches: IntArray

    def of(self, position: int) -> dict[str, float]:
        """The signals of one candidate by name, rounded to six places."""
        return {name: round(float(values[position]), 6) for name, values in self.signals.items()}


def merge(tables: Sequence[SignalTable]) -> SignalTable:
    """One table of all rows, ascending; the tables share none."""
    if len(tables) == 1:
        return tables[0]
    rows = np.concatenate([table.rows for table in tables])
    order = np.argsort(rows)
    signals = {
        name: np.concatenate([table.signals[name] for table in tables])[order]
        for name in tables[0].signals
    }
    return SignalTable(
        rows[order], signals, np.concatenate([table.matches for table in tables])[order]
    )


def measure(
    query: Query,
    cosines: Cosines,
    rows: IntArray,
    table: TokenTable,
    corpora: Sequence[int],
    mean_length: float,
    term_scores: FloatArray | None = None,
) -> SignalTable:
    """Measure the candidates `rows`, ascending, against the question.

    `cosines` are those of its vector, `corpora` are the indices of those that are searched,
    `term_scores` those of every passage: the signal `sparse`, if a model gave some.
    """
    documents, of_document = runs(table.document_of[rows])
    terms = weigh(query, table, corpora)
    around = with_neighbours(rows, table.document_of)
    hits, counts = locate(terms, around, table)
    matches = metadata_matches(terms, documents, table)[of_document]
    named = titled(terms, documents, table.titles)[of_document]
    keyword = bm25(counts, table.lengths(around.rows), terms, mean_length)
    share_quoted, all_quoted = quoted(query, terms, rows, table)
    return SignalTable(
        rows=rows,
        signals={
            "semantic": np.clip(cosines.of(rows), 0.0, 1.0),
            "bm25": keyword[around.own],
            # a passage gains by what is quoted, and none loses
            "phrase": np.maximum(phrase(hits, terms, query), share_quoted),
            "exact": np.maximum(exact(query, hits, rows, table), all_quoted),
            "frequency": frequency(hits),
            "proximity": proximity(hits, terms, named),
            "title": named @ terms.idf / terms.total,
            "metadata": matches / (matches + 1),
            "neighbours": neighbours(around, keyword),
            **({} if term_scores is None else {"sparse": term_scores[rows]}),
        },
        matches=matches,
    )
