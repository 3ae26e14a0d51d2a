"""A request for words on its way: the one object that all stages share."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from atlas_search.core.stop import Stop
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.search.request import ScopePlan
from atlas_search.search.scope import plan_scope
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.filters import PASSAGE_FIELDS
from atlas_search.stores.store import Store, by_language
from atlas_search.stores.words import WordTable
from atlas_search.words.hits import BoolArray, Hits, find_hits, merge
from atlas_search.words.query import WordMatching, readings
from atlas_search.words.request import WordsPlan, WordsScope


@dataclass(frozen=True)
class Reach:
    """The `documents` that are counted, ascending, and the `rows` of their passages that are.

    If they are `whole`, what stands between the passages counts too: headings. `document_of` is
    the document of every passage of the store.
    """

    table: WordTable
    document_of: IntArray
    documents: IntArray
    rows: IntArray
    whole: bool

    def within(self, documents: IntArray) -> "Reach":
        """Return the reach in some documents only."""
        kept = np.intersect1d(self.documents, documents, assume_unique=True)
        if len(kept) == len(self.documents):
            return self
        rows = self.rows[np.isin(self.document_of[self.rows], kept)]
        return Reach(self.table, self.document_of, kept, rows, self.whole)

    @cached_property
    def words_of(self) -> IntArray:
        """Number of words that count in every document of the table, each once."""
        counts = np.zeros(self.table.documents, dtype=np.int64)
        if self.whole:
            counts[self.documents] = self.table.words_of[self.documents]
            return counts
        rows = self._sorted
        before = np.concatenate(([0], self._reach[:-1])) if len(rows) else rows
        new = self.table.lasts[rows] - np.maximum(self.table.firsts[rows], before)
        np.add.at(counts, self.document_of[rows], np.maximum(new, 0))
        return counts

    @cached_property
    def counted(self) -> BoolArray:
        """Mask of the places of the table that count."""
        if self.whole:
            return np.repeat(self._is_in, self.table.words_of)
        depth = np.zeros(len(self.table.tokens) + 1, dtype=np.int32)
        np.add.at(depth, self.table.firsts[self.rows], 1)
        np.add.at(depth, self.table.lasts[self.rows], -1)
        result: BoolArray = np.cumsum(depth[:-1]) > 0
        return result

    @cached_property
    def counts(self) -> IntArray:
        """Number of places that count, by form of the table."""
        every = self.table.places.sizes
        if self.whole and len(self.documents) == self.table.documents:
            return every
        # the fewer places are read, the sooner
        most = 2 * int(self.words_of.sum()) > len(self.table.tokens)
        tokens = self.table.tokens[~self.counted if most else self.counted]
        counts = np.bincount(tokens, minlength=len(every))
        return every - counts if most else counts

    @cached_property
    def passages_of(self) -> IntArray:
        """Number of passages that count in every document of the table."""
        return np.bincount(self.document_of[self.rows], minlength=self.table.documents)

    def keep(self, hits: Hits) -> Hits:
        """The hits that count."""
        if not self.whole:
            return hits.where(self._is_held(hits))
        if len(self.documents) == self.table.documents:
            return hits
        return hits.where(self._is_in[self.table.documents_of(hits.starts)])

    def passages_with(self, hits: Hits) -> IntArray:
        """The rows of the passages that hold a hit whole, ascending."""
        firsts, lasts = self.table.firsts[self.rows], self.table.lasts[self.rows]
        holds = np.zeros(len(self.rows), dtype=bool)
        lengths = hits.ends - hits.starts
        for length in np.flatnonzero(np.bincount(lengths)).tolist():
            starts = hits.starts[lengths == length]
            end = np.searchsorted(starts, lasts - length, side="right")
            holds |= end > np.searchsorted(starts, firsts)
        result: IntArray = self.rows[holds]
        return result

    def openers(self, hits: Hits) -> IntArray:
        """For each hit the row of a passage that shows it.

        One that holds it whole, else one in which it begins; for a heading the passage after it, at
        the end of a document the one before.
        """
        rows, at = self._sorted, self._at(hits)
        begun = np.maximum(at, 0)
        holder = rows[self._holder[begun]]
        begins = (at >= 0) & (self._reach[begun] > hits.starts)
        following = rows[np.minimum(at + 1, len(rows) - 1)]
        documents = self.table.documents_of(hits.starts)
        stands = (at + 1 < len(rows)) & (self.document_of[following] == documents)
        return np.where(begins | ~stands, holder, following)

    @property
    def _is_in(self) -> BoolArray:
        """Mark the documents that are counted."""
        is_in = np.zeros(self.table.documents, dtype=bool)
        is_in[self.documents] = True
        return is_in

    def _is_held(self, hits: Hits) -> BoolArray:
        if not len(self.rows):
            return np.zeros(len(hits.starts), dtype=bool)
        at = self._at(hits)
        result: BoolArray = (at >= 0) & (self._reach[np.maximum(at, 0)] >= hits.ends)
        return result

    def _at(self, hits: Hits) -> IntArray:
        """The last passage, of `_sorted`, that begins no later than each hit; -1 for none."""
        firsts = self.table.firsts[self._sorted]
        return np.searchsorted(firsts, hits.starts, side="right") - 1

    @cached_property
    def _sorted(self) -> IntArray:
        order = np.argsort(self.table.firsts[self.rows], kind="stable")
        rows: IntArray = self.rows[order]
        return rows

    @cached_property
    def _reach(self) -> IntArray:
        """The farthest end of the passages up to each; they never reach into the next document."""
        return np.maximum.accumulate(self.table.lasts[self._sorted])

    @cached_property
    def _holder(self) -> IntArray:
        """The passage, of those up to each, that has this farthest end."""
        own = self.table.lasts[self._sorted] == self._reach
        return np.maximum.accumulate(np.where(own, np.arange(len(own)), 0))


def reach_of(store: Store, plan: ScopePlan, stop: Stop) -> Reach:
    """Find the part of the corpora that a request counts."""
    scope = plan_scope(store, plan, stop)
    by_passage = plan.require or plan.exclude or plan.filters.keys() & set(PASSAGE_FIELDS)
    document_of = store.tokens.document_of
    return Reach(store.words, document_of, scope.documents, scope.rows, not by_passage)


@dataclass(frozen=True)
class ReachRun:
    """One request for words, and the reach of it in a store. Every stage checks `stop` first."""

    store: Store
    tracer: Tracer
    request: WordsScope
    stop: Stop = field(default_factory=Stop)

    @property
    def table(self) -> WordTable:
        """The words of all documents."""
        return self.store.words

    @cached_property
    def by_language(self) -> dict[str, list[int]]:
        """The indices of the chosen corpora, by their language."""
        return by_language(self.store, self.request.corpora)

    @cached_property
    def reach(self) -> Reach:
        """The documents and passages that are counted."""
        return reach_of(self.store, self.request, self.stop)


@dataclass(frozen=True)
class WordsRun(ReachRun):
    """A query of words on its way, with its hits."""

    request: WordsPlan

    @cached_property
    def read_as(self) -> dict[str, str]:
        """Parts of the query that the first language of the corpora reads not as typed."""
        return readings(self.request.query, next(iter(self.by_language)))

    @cached_property
    def hits(self) -> Hits:
        """All hits that count."""
        return self.reach.keep(self.found)

    @cached_property
    def found(self) -> Hits:
        """All hits in the texts, read in each language in the corpora of that language."""
        hits = [self._hits_in(language) for language in self.by_language]
        return hits[0] if len(hits) == 1 else merge(hits)

    def _hits_in(self, language: str) -> Hits:
        request = self.request
        how = WordMatching(language, request.form, request.exactly)
        hits = find_hits(request.query, self.table, how, self.stop)
        if len(self.by_language) == 1:
            return hits
        own = np.isin(
            self.store.corpus_of_documents(np.arange(self.table.documents)),
            self.by_language[language],
        )
        return hits.where(own[self.table.documents_of(hits.starts)])
