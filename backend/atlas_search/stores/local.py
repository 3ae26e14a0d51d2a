"""A version of a collection on this machine's disk: SQLite and mapped arrays, and above them an
engine that finds candidates."""

import weakref
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
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
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.order import Order
from atlas_search.stores.passage_ids import read_ids
from atlas_search.stores.records import Records
from atlas_search.stores.store import LegHits, Phrases, Scope
from atlas_search.stores.terms import FloatArray, TokenTable
from atlas_search.stores.vectors import Cosines, read_embeddings
from atlas_search.stores.versions import (
    EMBEDDINGS,
    IDS,
    ORDER,
    RECORDS,
    TOKENS,
    WORDS,
    check_sizes,
    in_use,
)
from atlas_search.stores.words import WordTable

COMPARED_AT_ONCE = 16_384  # vectors; those of more would fill the memory


class LocalStore(ABC):
    """Version of a collection on this machine's disk, by default the live one.

    Everything is opened at once and never changes, so later builds do not disturb it. Its files
    are released when the last reference to it is gone. An engine extends it: it finds the
    candidates of both legs among the passages of the base (`stores/order.py`).
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
        except Exception as error:  # what engines, SQLite and NumPy raise for damage is of no kind
            raise DamagedStore(
                f"{version} is damaged and cannot be opened ({type(error).__name__}: {error}). "
                f"Run `atlas store repair {folder.name}`."
            ) from error

    def _open(self, version: Path) -> None:
        self._version, self._using = version, _in_use(version)
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
        self._using.callback(records.close)
        passages_of = [corpus.passages for corpus in self.manifest.corpora]
        self.tokens = TokenTable.of_version(version / TOKENS, order, passages_of)
        self.words = WordTable.of_version(version / WORDS, order, self.tokens.document_of)
        self._embeddings = read_embeddings(version / EMBEDDINGS, order)
        self._finalizer = weakref.finalize(self, self._using.close)
        self.corpora = tuple(
            Corpus(c.id, c.label, c.documents, c.passages, c.language, c.date, c.description)
            for c in self.manifest.corpora
        )
        self._ids = read_ids(version / IDS, order)
        self._content_types: list[str] | None = None
        documents_of = [corpus.documents for corpus in self.corpora]  # which stand by corpus
        numbers = np.arange(len(self.corpora), dtype=np.int16)
        self._corpus_of_documents = np.repeat(numbers, documents_of)
        self._corpus_of = self._corpus_of_documents.take(self.tokens.document_of)
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
            **self._open_engine(),
            RECORDS: self._records.count,
            IDS: len(self._ids),
            TOKENS: self.tokens.passages,
            EMBEDDINGS: len(self._embeddings.vectors),
            WORDS: len(self.words.firsts),
        }
        wrong = {part: count for part, count in result.items() if count != self.manifest.passages}
        if wrong:
            raise DamagedStore(
                f"The store {version} is damaged: the manifest says {self.manifest.passages} "
                f"passages, but {', '.join(f'{part} has {n}' for part, n in wrong.items())}. "
                f"Run `atlas store repair {version.parent.name}`."
            )

    @abstractmethod
    def _open_engine(self) -> Mapping[str, int]:
        """Open the engine, to be closed by `_using`; return how many of all passages each part of
        it can find. Raises DamagedStore, or ConfigurationError if it cannot be reached."""

    @abstractmethod
    def compares_all(self, corpus: str, how: VectorSearch = "auto") -> bool:
        """Return whether the nearest passages of a whole corpus are found without the engine."""

    @abstractmethod
    def _nearest_indexed(self, corpus: str, vector: NDArray[np.float32], depth: int) -> IntArray:
        """Return at least `depth` passages of the base, as far as there are so many."""

    @abstractmethod
    def matching(
        self, corpus: str, terms: Sequence[str], depth: int, scope: Scope | None
    ) -> LegHits: ...

    @abstractmethod
    def _with_terms(self, terms: Sequence[str]) -> IntArray:
        """Return the passages that may hold every one of `terms`, ascending; all without any."""

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
        return self.tokens.holding(self._with_terms(distinct(phrase)), phrase)

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
        # all are compared here: of the same text the index says a ten-thousandth more or less
        rows = np.concatenate(
            [self._nearest_indexed(corpus, vector, depth), self._recent_of[corpus]]
        )
        rows.sort()
        return best(rows, self.similarities(rows, vector), depth)

    def _own(self, corpus: str, rows: IntArray) -> IntArray:
        number = next(i for i, known in enumerate(self.corpora) if known.id == corpus)
        own: IntArray = rows[self._corpus_of[rows] == number]
        return own

    def _compare(self, rows: IntArray, vector: NDArray[np.float32], stop: Stop) -> FloatArray:
        similarities = np.empty(len(rows))
        for start in range(0, len(rows), COMPARED_AT_ONCE):
            stop.check()
            block = slice(start, start + COMPARED_AT_ONCE)
            similarities[block] = self.similarities(rows[block], vector)
        return similarities

    def corpus_of(self, rows: IntArray) -> IntArray:
        return self._corpus_of.take(rows)

    def corpus_of_documents(self, documents: IntArray) -> IntArray:
        return self._corpus_of_documents.take(documents)

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
        vectors: NDArray[np.float32] = self._embeddings.vectors[rows].astype(np.float32)
        return vectors

    def similarities(self, rows: IntArray, vector: NDArray[np.float32]) -> FloatArray:
        return self._embeddings.similarities(rows, vector)

    def text_digests(self) -> list[bytes]:
        """Return the digest of what was embedded for each passage, by row."""
        return [digest.tobytes() for digest in self._embeddings.digests[:]]

    def passage_ids(self, rows: Sequence[int]) -> list[str]:
        return self._ids.of_rows(rows)

    def problem(self) -> str:
        return ""  # of an engine in this process

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


def _nearest(rows: IntArray, similarities: FloatArray, depth: int) -> LegHits:
    """Return the best of many passages, of which few are sorted."""
    if len(rows) > depth:
        # ties with the last are kept, for the row decides between them
        enough = similarities >= np.partition(similarities, -depth)[-depth]
        rows, similarities = rows[enough], similarities[enough]
    return best(rows, similarities, depth)


def best(rows: IntArray, scores: FloatArray, depth: int) -> LegHits:
    """Return the best of some passages, in order."""
    order = np.lexsort((rows, -scores))[:depth]
    return LegHits(rows[order], scores[order])
