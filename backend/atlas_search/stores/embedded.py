"""The engine on this machine's disk: vectors in Chroma, words in tantivy."""

import threading
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.errors import DamagedStore
from atlas_search.core.targets import VectorSearch
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.keywords import KeywordIndex
from atlas_search.stores.local import LocalStore, best
from atlas_search.stores.store import LegHits, Scope
from atlas_search.stores.vectors import Vectors
from atlas_search.stores.versions import CHROMA, KEYWORDS

EXACT_UP_TO = 200_000
"""Passages of a corpus. Up to here comparing every one takes as long as asking the index (.028 ms
for a thousand, against 5 ms), finds every neighbour where the index finds 97 of 100, and needs no
index, of which a passage takes 1.7 KB on disk and in memory, and half the time of a build."""

PASSED_OVER = 8
"""Times as many passages as a scope allows of a corpus, so many or fewer of which are found
without a filter and passed over."""


class EmbeddedStore(LocalStore):
    """Version whose candidates come from Chroma, by id, and from tantivy."""

    def _open_engine(self) -> Mapping[str, int]:
        self._opening = threading.Lock()
        self._small: Vectors | None = None
        self._keywords = KeywordIndex(self._version / KEYWORDS)
        self._using.callback(self._keywords.close)
        indexed, passages = self.manifest.index.corpora, self.manifest.passages
        large = [c for c in self.manifest.corpora if c.id in indexed and c.passages > EXACT_UP_TO]
        # importing Chroma takes longer than all else here
        self._index = Vectors(self._version / CHROMA, [c.id for c in large]) if large else None
        if self._index is None:
            return {KEYWORDS: self._keywords.count}
        self._using.callback(self._index.close)
        missing = sum(self._indexed[c] - self._index.count(c) for c in self._index.corpora)
        return {KEYWORDS: self._keywords.count, CHROMA: passages - missing}

    def compares_all(self, corpus: str, how: VectorSearch = "auto") -> bool:
        if how == "hnsw":
            return corpus not in self.manifest.index.corpora
        return how == "exact" or self._index is None or corpus not in self._index.corpora

    def _small_index(self) -> Vectors:
        """Open the index of corpora of which only a target or an audit asks it, when it does."""
        with self._opening:
            if self._small is None:
                corpora = self.manifest.index.corpora
                small = [id_ for id_ in corpora if self.compares_all(id_) and self._indexed[id_]]
                self._small = Vectors(self._version / CHROMA, small)
                self._using.callback(self._small.close)
            return self._small

    def _nearest_indexed(self, corpus: str, vector: NDArray[np.float32], depth: int) -> IntArray:
        index = self._index
        if index is None or corpus not in index.corpora:
            index = self._small_index()
        count, gone = self._indexed[corpus], self._gone[corpus]
        if count == gone:
            return np.empty(0, dtype=np.int64)
        limit = depth + 2 * depth * gone // count
        while True:
            ids = index.nearest(corpus, vector, limit)
            rows = self._ids.rows_of(ids)
            if not gone:
                if (rows < 0).any():  # damage, and no answer
                    raise DamagedStore(
                        f"The vector index of {corpus} has ids that are no passage's. Run `atlas "
                        f"store repair {self._version.parent.name}`."
                    )
                return rows
            stands = (rows >= 0) & ~self._is_recent[rows]
            if np.count_nonzero(stands) >= depth or len(ids) < limit:
                return rows[stands]
            limit *= 2

    def matching(
        self, corpus: str, terms: Sequence[str], depth: int, scope: Scope | None
    ) -> LegHits:
        own = self._rows_of[corpus]
        allowed = own if scope is None else self._own(corpus, scope.rows)
        if not len(allowed):
            return best(np.empty(0, dtype=np.int64), np.empty(0), depth)
        # a filter costs more than to pass over some of what is found without it
        is_narrow = scope is not None and len(allowed) * PASSED_OVER < len(own)
        within = scope.documents.tolist() if scope is not None and is_narrow else None
        named = corpus if is_narrow or len(own) * 2 < self.manifest.passages else ""
        among = len(own) if named else self.manifest.passages
        asked = depth if is_narrow else depth * among // len(allowed)
        while True:
            result = self._keywords.matching(named, terms, asked, within)
            places = np.searchsorted(allowed[:-1], result.rows)
            inside = allowed[places] == result.rows
            rows, scores = result.rows[inside], result.scores[inside]
            if len(rows) >= depth or len(result.rows) < asked:
                return best(rows, scores, depth)
            asked *= 4

    def _with_terms(self, terms: Sequence[str]) -> IntArray:
        return self._keywords.holding(terms)
