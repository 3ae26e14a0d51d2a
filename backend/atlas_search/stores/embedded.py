"""A version of a collection on this machine's disk: Chroma, SQLite, tantivy and mapped arrays.

Chroma gives ids, and everything else is asked by row.
"""

import threading
import weakref
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.domain import Corpus
from atlas_search.core.errors import AtlasError, DamagedStore, OutdatedStore
from atlas_search.core.stop import Stop
from atlas_search.core.targets import VectorSearch
from atlas_search.language.text import ANALYSER_VERSION, distinct
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.filters import PASSAGE_FIELDS, DocumentDays, Filter
from atlas_search.stores.keywords import KeywordIndex
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.order import Order
from atlas_search.stores.passage_ids import read_ids
from atlas_search.stores.records import Records
from atlas_search.stores.store import LegHits, Phrases, Scope
from atlas_search.stores.terms import FloatArray, TokenTable
from atlas_search.stores.vectors import Cosines, Vectors, read_embeddings
from atlas_search.stores.versions import (
    CHROMA,
    EMBEDDINGS,
    IDS,
    KEYWORDS,
    ORDER,
    RECORDS,
    TOKENS,
    WORDS,
    check_sizes,
    in_use,
)
from atlas_search.stores.words import WordTable

COMPARED_AT_ONCE = 16_384  # vectors; those of more would fill the memory
EXACT_UP_TO = 75_000
"""Passages of a corpus. Up to here comparing every one is faster than asking the index (.08 ms for
a thousand, against 5 to 6 ms), and finds every neighbour where the index finds 97 of 100."""


class EmbeddedStore:
    """Version of a collection on this machine's disk, by default the live one.

    Everything is opened at once and never changes, so later builds do not disturb it. Its files
    are released when the last reference to it is gone.
    """

    def __init__(self, folder: Path, manifest: Manifest | None = None):
        self.manifest = manifest or Manifest.read(folder)
        if self.manifest.analyser != ANALYSER_VERSION:
            raise OutdatedStore(
                f"The words in {folder} were analysed by another version of Atlas "
                f"({self.manifest.analyser}, not {ANALYSER_VERSION}). Run `atlas create` again as "
                f"it was built, or `atlas store repair {folder.name}`, which needs no sources; "
                "neither embeds anything again."
            )
        version = folder / self.manifest.version
        check_sizes(version, self.manifest)
        try:
            self._open(version)
        except AtlasError:
            raise
        except Exception as error:  # what Chroma, SQLite and NumPy raise for damage is of no kind
            raise DamagedStore(
                f"{version} is damaged and cannot be opened ({type(error).__name__}: {error}). "
                f"Run `atlas store repair {folder.name}`."
            ) from error

    def _open(self, version: Path) -> None:
        using = _in_use(version)
        self._version, self._using, self._opening = version, using, threading.Lock()
        self._small: Vectors | None = None
        self._order = order = Order.read(version / ORDER)
        self._records = records = Records.of_version(version, self.manifest, order)
        # what the documents alone answer
        self.corpus_holding_document = records.corpus_holding_document
        self.passage, self.passages, self.texts = records.passage, records.passages, records.texts
        self.document, self.document_passages = records.document, records.document_passages
        self.origin_of, self.origins = records.origin_of, records.origins
        self.read_sources, self.metadata = records.read_sources, records.metadata
        self.list_documents, self.titled = records.list_documents, records.titled
        self.field_values, self.value_counts = records.field_values, records.value_counts
        self._keywords = KeywordIndex(version / KEYWORDS)
        passages_of = [corpus.passages for corpus in self.manifest.corpora]
        self.tokens = TokenTable.of_version(version / TOKENS, order, passages_of)
        self.words = WordTable.of_version(version / WORDS, order, self.tokens.document_of)
        self._embeddings = read_embeddings(version / EMBEDDINGS, order)
        # importing Chroma takes longer than all else here
        indexed = self.manifest.index.corpora
        large = [c for c in self.manifest.corpora if c.id in indexed and c.passages > EXACT_UP_TO]
        self._index = Vectors(version / CHROMA, [c.id for c in large]) if large else None
        self._finalizer = weakref.finalize(
            self, _release, self._records, self._keywords, self._index, using
        )
        self.corpora = tuple(
            Corpus(c.id, c.label, c.documents, c.passages, c.language, c.date, c.description)
            for c in self.manifest.corpora
        )
        self._ids = read_ids(version / IDS, order)
        self._content_types: list[str] | None = None
        documents_of = [corpus.documents for corpus in self.corpora]  # which stand by corpus
        numbers = np.arange(len(self.corpora), dtype=np.int16)
        self._corpus_of_documents = np.repeat(numbers, documents_of)
        self._corpus_of: IntArray = self._corpus_of_documents[self.tokens.document_of]
        self._rows_of = {
            corpus.id: np.flatnonzero(self._corpus_of == number)
            for number, corpus in enumerate(self.corpora)
        }
        self.days = DocumentDays.of(self.manifest.documents, self._records.days_of_documents())
        base = order.counts.base_rows if order else len(self._ids)
        self._is_recent = (order.rows if order else np.arange(len(self._ids))) >= base
        self._recent_of = {c: own[self._is_recent[own]] for c, own in self._rows_of.items()}
        self._gone = {c: len(order.gone.get(c, ())) if order else 0 for c in self._rows_of}
        # the index has the vectors of the base, with those that are gone from it
        self._indexed = {
            c: len(own) - len(self._recent_of[c]) + self._gone[c]
            for c, own in self._rows_of.items()
        }
        self._check_counts(version)

    def _check_counts(self, version: Path) -> None:
        result = {
            KEYWORDS: self._keywords.count,
            RECORDS: self._records.count,
            IDS: len(self._ids),
            TOKENS: self.tokens.passages,
            EMBEDDINGS: len(self._embeddings.vectors),
            WORDS: len(self.words.firsts),
        }
        wrong = {part: count for part, count in result.items() if count != self.manifest.passages}
        if self._index:
            missing = sum(self._indexed[c] - self._index.count(c) for c in self._index.corpora)
            if missing:
                wrong[CHROMA] = self.manifest.passages - missing
        if wrong:
            raise DamagedStore(
                f"The store {version} is damaged: the manifest says {self.manifest.passages} "
                f"passages, but {', '.join(f'{part} has {n}' for part, n in wrong.items())}. "
                f"Run `atlas store repair {version.parent.name}`."
            )

    def scope(self, filters: Filter, required: Phrases = (), excluded: Phrases = ()) -> Scope:
        of_passages = {field: c for field, c in filters.items() if field in PASSAGE_FIELDS}
        of_documents = {field: c for field, c in filters.items() if field not in PASSAGE_FIELDS}
        document_of = self.tokens.document_of
        allowed = _mask(self._records.matching_documents(of_documents), self.manifest.documents)
        holds = allowed[document_of]
        if of_passages:
            holds &= _mask(self._records.matching_passages(of_passages), len(holds))
        for phrase in required:
            holds &= _mask(self._holding(phrase), len(holds))
        for phrase in excluded:
            holds &= ~_mask(self._holding(phrase), len(holds))
        rows = np.flatnonzero(holds)
        return Scope(rows, np.flatnonzero(_mask(document_of[rows], self.manifest.documents)))

    def _holding(self, phrase: Sequence[str]) -> IntArray:
        return self.tokens.holding(self._keywords.holding(distinct(phrase)), phrase)

    def nearest(
        self,
        corpus: str,
        vector: NDArray[np.float32],
        depth: int,
        scope: Scope | None,
        stop: Stop | None = None,
        known: Cosines | None = None,
        how: VectorSearch = "auto",
    ) -> LegHits:
        if scope is not None:
            allowed = self._own(corpus, scope.rows)
            return _nearest(allowed, self._compare(allowed, vector, stop or Stop()), depth)
        own = self._rows_of[corpus]
        if self.compares_all(corpus, how):
            compared = self._compare(own, vector, stop or Stop())
            if known is not None and len(own):
                known.keep(int(own[0]), compared)
            return _nearest(own, compared, depth)
        if self._index is None or self.compares_all(corpus):
            return self._search_index(self._small_index(), corpus, vector, depth)
        return self._search_index(self._index, corpus, vector, depth)

    def _small_index(self) -> Vectors:
        """Open the index of corpora of which only a target or an audit asks it, when it does."""
        with self._opening:
            if self._small is None:
                small = [id_ for id_ in self.manifest.index.corpora if self.compares_all(id_)]
                self._small = Vectors(self._version / CHROMA, small)
                self._using.callback(self._small.close)
            return self._small

    def _search_index(
        self, index: Vectors, corpus: str, vector: NDArray[np.float32], depth: int
    ) -> LegHits:
        """Return the nearest in the index, and of the passages that came after it."""
        rows, similarities = self._nearest_indexed(index, corpus, vector, depth)
        recent = self._recent_of[corpus]
        if len(recent):
            # all are compared here: of the same text the index says a ten-millionth more or less
            rows = np.sort(np.concatenate([rows, recent]))
            similarities = self._embeddings.similarities(rows, vector).astype(np.float64)
        return _best(rows, similarities, depth)

    def _nearest_indexed(
        self, index: Vectors, corpus: str, vector: NDArray[np.float32], depth: int
    ) -> tuple[IntArray, NDArray[np.float64]]:
        """Return rows and cosines of at least `depth` passages, if the index finds so many."""
        count, gone = self._indexed[corpus], self._gone[corpus]
        if count == gone:
            return np.empty(0, dtype=np.int64), np.empty(0)
        limit = depth + 2 * depth * gone // count
        while True:
            result = index.nearest(corpus, vector, limit)
            rows = self._ids.rows_of(result.ids)
            if not gone:
                if (rows < 0).any():  # damage, and no answer
                    raise DamagedStore(
                        f"The vector index of {corpus} has ids that are no passage's. Run `atlas "
                        f"store repair {self._version.parent.name}`."
                    )
                return rows, result.similarities
            stands = (rows >= 0) & ~self._is_recent[rows]
            if np.count_nonzero(stands) >= depth or len(result.ids) < limit:
                return rows[stands], result.similarities[stands]
            limit *= 2

    def compares_all(self, corpus: str, how: VectorSearch = "auto") -> bool:
        if how == "hnsw":
            return corpus not in self.manifest.index.corpora
        return how == "exact" or self._index is None or corpus not in self._index.corpora

    def _own(self, corpus: str, rows: IntArray) -> IntArray:
        number = next(i for i, known in enumerate(self.corpora) if known.id == corpus)
        own: IntArray = rows[self._corpus_of[rows] == number]
        return own

    def _compare(self, rows: IntArray, vector: NDArray[np.float32], stop: Stop) -> FloatArray:
        similarities = np.empty(len(rows))
        for start in range(0, len(rows), COMPARED_AT_ONCE):
            stop.check()
            block = slice(start, start + COMPARED_AT_ONCE)
            similarities[block] = self._embeddings.similarities(rows[block], vector)
        return similarities

    def matching(
        self, corpus: str, terms: Sequence[str], depth: int, scope: Scope | None
    ) -> LegHits:
        allowed = None if scope is None else self._own(corpus, scope.rows)
        if allowed is not None and not len(allowed):
            return _best(np.empty(0, dtype=np.int64), np.empty(0), depth)
        whole = scope is None or len(scope.documents) == self.manifest.documents
        within = None if whole or scope is None else scope.documents.tolist()
        own = self._rows_of[corpus]
        # a filter costs more than to pass over some of what is found without it
        is_most = len(own) * 2 > self.manifest.passages
        named = "" if scope is None and is_most else corpus
        asked = depth if named else depth * self.manifest.passages // len(own)
        while True:
            result = self._keywords.matching(named, terms, asked, within)
            rows, scores = result
            if allowed is not None:
                inside = np.isin(rows, allowed)
                rows, scores = rows[inside], scores[inside]
            elif not named:
                inside = self._corpus_of[rows] == self._corpus_of[own[0]]
                rows, scores = rows[inside], scores[inside]
            if len(rows) >= depth or len(result.rows) < asked:
                return _best(rows, scores, depth)
            asked *= 4

    def corpus_of(self, rows: IntArray) -> IntArray:
        corpora: IntArray = self._corpus_of[rows]
        return corpora

    def corpus_of_documents(self, documents: IntArray) -> IntArray:
        corpora: IntArray = self._corpus_of_documents[documents]
        return corpora

    def documents_of(self, corpora: Collection[str]) -> IntArray:
        numbers = [n for n, corpus in enumerate(self.corpora) if corpus.id in corpora]
        return np.flatnonzero(np.isin(self._corpus_of_documents, numbers))

    def corpus_holding_passage(self, id_: str) -> str:
        (row,) = self._ids.rows_of([id_])
        return "" if row < 0 else self.corpora[self._corpus_of[row]].id

    def content_types(self, rows: IntArray) -> list[str]:
        if self._content_types is None:  # only targets with caps need them
            self._content_types = self._records.content_types()
        return [self._content_types[document] for document in self.tokens.document_of[rows]]

    def vectors(self, rows: IntArray) -> NDArray[np.float32]:
        vectors: NDArray[np.float32] = self._embeddings.vectors[rows]
        return vectors

    def text_digests(self) -> list[bytes]:
        """Return the digest of what was embedded for each passage, by row."""
        return [digest.tobytes() for digest in self._embeddings.digests[:]]

    def passage_ids(self, rows: Sequence[int]) -> list[str]:
        return self._ids.of_rows(rows)

    def close(self) -> None:
        self._finalizer()


def _mask(numbers: Sequence[int] | IntArray, size: int) -> NDArray[np.bool_]:
    """Return whether each number below `size` is among these: faster than sets of so many."""
    result = np.zeros(size, dtype=bool)
    result[np.asarray(numbers, dtype=np.int64)] = True
    return result


def _in_use(version: Path) -> ExitStack:
    using = ExitStack()
    try:
        using.enter_context(in_use(version))
    except OSError as error:
        raise DamagedStore(
            f"{version} cannot be opened ({error}). Run `atlas store repair`."
        ) from error
    return using


def _release(
    records: Records, keywords: KeywordIndex, vectors: Vectors | None, using: ExitStack
) -> None:
    records.close()
    keywords.close()
    if vectors:
        vectors.close()
    using.close()


def _nearest(rows: IntArray, similarities: FloatArray, depth: int) -> LegHits:
    """Return the best of many passages, of which few are sorted."""
    if len(rows) > depth:
        # ties with the last are kept, for the row decides between them
        enough = similarities >= np.partition(similarities, -depth)[-depth]
        rows, similarities = rows[enough], similarities[enough]
    return _best(rows, similarities, depth)


def _best(rows: IntArray, scores: FloatArray, depth: int) -> LegHits:
    order = np.lexsort((rows, -scores))[:depth]
    return LegHits(rows[order], scores[order])
