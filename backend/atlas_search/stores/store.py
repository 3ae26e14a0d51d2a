"""Protocol of a collection as search and answering use it, and the part of one for a key.

`PermittedStore` is a store as if it held some corpora alone: for those who may not see the others.
Rows and document numbers stay those of the whole store. Whatever is counted, listed, spelt or
looked up is of the permitted corpora. Two statistics stay those of the whole: the weights of words
in the keyword index, and with them the scores of its leg.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import fields as fields_of
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.domain import Corpus, Document, Passage
from atlas_search.core.errors import NotFound
from atlas_search.core.metadata import Metadata
from atlas_search.core.stop import Stop
from atlas_search.core.targets import VectorSearch
from atlas_search.stores.arrays import IntArray, Ragged, sorted_unique
from atlas_search.stores.filters import DocumentDays, Filter
from atlas_search.stores.manifest import Field, Manifest
from atlas_search.stores.record_files import (
    DocumentOrigin,
    ListedBy,
    ListedDocument,
    OriginCounts,
    ReadSources,
    ValueCount,
)
from atlas_search.stores.records import no_document, no_passage
from atlas_search.stores.terms import FloatArray, TokenTable
from atlas_search.stores.vectors import Cosines
from atlas_search.stores.words import WordTable


@dataclass(frozen=True)
class Scope:
    """Only passages that a search may find: rows, and indices of their documents, ascending.

    Within a scope both legs are exact: its passages are compared one by one.
    """

    rows: IntArray
    documents: IntArray


Phrases = Sequence[Sequence[str]]
"""Stems of words that stand one after the other, phrase by phrase."""


class LegHits(NamedTuple):
    """Passage rows with the leg's own score, best first, ties by row."""

    rows: IntArray
    scores: FloatArray


class Store(Protocol):
    """Collection as search and answering use it. Safe to use from several threads."""

    manifest: Manifest
    corpora: tuple[Corpus, ...]
    tokens: TokenTable
    days: DocumentDays

    words: WordTable  # of every corpus

    def scope(self, filters: Filter, required: Phrases = (), excluded: Phrases = ()) -> Scope:
        """Return the passages that meet every condition of `filters`.

        They hold every phrase that is `required` and none that is `excluded`.
        """

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
        """Return the `depth` passages of `corpus` closest to the unit vector, by cosine.

        In a scope, and where it `compares_all`, every passage is compared, and Cancelled raised
        soon after the `stop`; else the index is asked, which may miss a few. `known` keeps the
        cosines where those of a whole corpus were worked out. Raises DamagedStore.
        """

    def compares_all(self, corpus: str, how: VectorSearch = "auto") -> bool:
        """Return whether the nearest passages of a whole corpus are found without the index.

        They are in a corpus that was built without one, whatever `how` says.
        """

    def matching(
        self, corpus: str, terms: Sequence[str], depth: int, scope: Scope | None
    ) -> LegHits:
        """Return the `depth` passages of `corpus` with the best keyword score for `terms`."""

    def corpus_of(self, rows: IntArray) -> IntArray:
        """Return the index into `corpora` of each passage."""

    def corpus_of_documents(self, documents: IntArray) -> IntArray:
        """Return the index into `corpora` of each document."""

    def documents_of(self, corpora: Collection[str]) -> IntArray:
        """Return the documents of some corpora, in order."""

    def corpus_holding_passage(self, id_: str) -> str:
        """Return the corpus of the passage with this id; empty without one."""

    def corpus_holding_document(self, id_: str) -> str:
        """Return the corpus of the document with this id; empty without one."""

    def content_types(self, rows: IntArray) -> list[str]:
        """Return the content type of each passage's document."""

    def vectors(self, rows: IntArray) -> NDArray[np.float32]:
        """Return the unit vectors of passages, shape (n, d)."""

    def similarities(self, rows: IntArray, vector: NDArray[np.float32]) -> FloatArray:
        """Return the cosines of ascending `rows` and the unit vector, each within .001."""

    def passage_ids(self, rows: Sequence[int]) -> list[str]:
        """Return passage ids by row, in the order of `rows`."""

    def passages(self, rows: Sequence[int]) -> list[Passage]:
        """Return passages by row, in the order of `rows`."""

    def texts(self, spans: Sequence[tuple[int, int, int]]) -> list[str]:
        """Return pieces of documents: (index of the document, first character, end)."""

    def field_values(self, field: str) -> Sequence[tuple[int, str]]:
        """Return (document, value) pairs of all values of a metadata field, by document.

        A date within one year is that year, and values that differ in capitals of A to Z alone are
        one, written as the one of them that sorts first.
        """

    def passage(self, id_: str) -> Passage:
        """Return one passage. Raises NotFound."""

    def document(self, id_: str) -> Document:
        """Return one document with its whole text. Raises NotFound."""

    def document_passages(self, id_: str) -> list[Passage]:
        """Return the passages of one document, in order of place."""

    def origin_of(self, id_: str) -> DocumentOrigin:
        """Return where a document comes from. Raises NotFound."""

    def list_documents(
        self, documents: IntArray, order: ListedBy, limit: int, offset: int
    ) -> list[ListedDocument]:
        """Return at most `limit` of these documents, after the first `offset`."""

    def titled(self, documents: IntArray, words: str) -> IntArray:
        """Return documents whose title holds all of these words, or parts of words; ascending."""

    def read_sources(
        self, limit: int, offset: int, corpora: Collection[str] | None = None
    ) -> ReadSources:
        """Return what the source files gave, and of which something was left out and why.

        With `corpora` only those whose documents are all of these. A file without a document is of
        no corpus.
        """

    def value_counts(self, documents: IntArray, fields: Sequence[str]) -> list[ValueCount]:
        """Count the documents with each value of `fields`, most frequent first."""

    def metadata(self, corpora: Collection[str]) -> Iterator[Metadata]:
        """Return the metadata of every document of some corpora."""

    def origins(self, corpora: Collection[str]) -> Mapping[str, OriginCounts]:
        """Count what some corpora have of each kind of source."""

    def problem(self) -> str:
        """Return why the engine cannot be asked now; empty if it can."""

    def close(self) -> None:
        """Release files and memory."""


def by_language(store: Store, corpora: Collection[str]) -> dict[str, list[int]]:
    """Return the indices of some corpora, by their language."""
    numbers: dict[str, list[int]] = {}
    for number, corpus in enumerate(store.corpora):
        if corpus.id in corpora:
            numbers.setdefault(corpus.language, []).append(number)
    return numbers


PhrasesIn = Callable[[str], Sequence[Phrases]]
"""Return the phrases that are required, and those that are excluded, as a language stems them."""


def scope_of(
    store: Store, corpora: Collection[str], filters: Filter, phrases_in: PhrasesIn, stop: Stop
) -> Scope:
    """Return the passages of some corpora that meet the filters and have the phrases, which each
    corpus has in its language. Raises Cancelled soon after the `stop`."""
    rows: list[IntArray] = [np.empty(0, dtype=np.int64)]
    for language, numbers in by_language(store, corpora).items():
        stop.check()
        required, excluded = phrases_in(language)
        allowed = store.scope(filters, required, excluded).rows
        rows.append(allowed[np.isin(store.corpus_of(allowed), numbers)])
    return scope_of_rows(store, np.sort(np.concatenate(rows), kind="stable"))


def scope_of_rows(store: Store, rows: IntArray) -> Scope:
    """Return a scope of these passages, ascending, alone."""
    return Scope(rows, sorted_unique(store.tokens.document_of[rows]))


class PermittedStore:
    """Fulfils `Store`. What lies outside is not found, in the words for what does not exist.

    `fields` are the metadata fields of the permitted documents. Closing it closes nothing: the
    whole store may serve others.
    """

    def __init__(self, whole: Store, corpora: Collection[str], fields: Mapping[str, Field]):
        self._whole = whole
        self._numbers = [n for n, corpus in enumerate(whole.corpora) if corpus.id in corpora]
        self.corpora: tuple[Corpus, ...] = tuple(whole.corpora[n] for n in self._numbers)
        self._ids = frozenset(corpus.id for corpus in self.corpora)
        self._number_of: IntArray = np.full(len(whole.corpora), -1, dtype=np.int16)
        self._number_of[self._numbers] = np.arange(len(self._numbers))
        owners = self.corpus_of_documents(np.arange(whole.manifest.documents))
        self._documents: IntArray = np.flatnonzero(owners >= 0)
        self._holds = self.corpus_of(np.arange(whole.manifest.passages)) >= 0
        self.manifest = _manifest(whole, self._ids, fields)
        self.tokens: TokenTable = _tokens(
            whole.tokens, self._numbers, self._documents, np.flatnonzero(self._holds)
        )
        self.words: WordTable = whole.words
        self.days: DocumentDays = whole.days
        self.content_types, self.problem = whole.content_types, whole.problem
        self.vectors, self.similarities = whole.vectors, whole.similarities

    def scope(self, filters: Filter, required: Phrases = (), excluded: Phrases = ()) -> Scope:
        rows = self._whole.scope(filters, required, excluded).rows
        return scope_of_rows(self, rows[self._holds[rows]])

    def nearest(self, corpus: str, *wanted: Any, **options: Any) -> LegHits:
        self._check(corpus)
        return self._whole.nearest(corpus, *wanted, **options)

    def compares_all(self, corpus: str, how: VectorSearch = "auto") -> bool:
        self._check(corpus)
        return self._whole.compares_all(corpus, how)

    def matching(self, corpus: str, *wanted: Any, **options: Any) -> LegHits:
        self._check(corpus)
        return self._whole.matching(corpus, *wanted, **options)

    def _check(self, corpus: str) -> None:
        if corpus not in self._ids:
            raise NotFound(f"There is no corpus {corpus!r} in this collection.")

    def corpus_of(self, rows: IntArray) -> IntArray:
        return self._number_of.take(self._whole.corpus_of(rows))

    def corpus_of_documents(self, documents: IntArray) -> IntArray:
        return self._number_of.take(self._whole.corpus_of_documents(documents))

    def documents_of(self, corpora: Collection[str]) -> IntArray:
        return self._whole.documents_of(self._ids.intersection(corpora))

    def corpus_holding_passage(self, id_: str) -> str:
        corpus = self._whole.corpus_holding_passage(id_)
        return corpus if corpus in self._ids else ""

    def corpus_holding_document(self, id_: str) -> str:
        corpus = self._whole.corpus_holding_document(id_)
        return corpus if corpus in self._ids else ""

    def passage_ids(self, rows: Sequence[int]) -> list[str]:
        self._check_rows(rows)
        return self._whole.passage_ids(rows)

    def passages(self, rows: Sequence[int]) -> list[Passage]:
        self._check_rows(rows)
        return self._whole.passages(rows)

    def _check_rows(self, rows: Sequence[int]) -> None:
        if not self._holds[np.asarray(rows, dtype=np.int64)].all():
            raise NotFound("There is no such passage in this collection.")

    def texts(self, spans: Sequence[tuple[int, int, int]]) -> list[str]:
        owners = self.corpus_of_documents(np.array([span[0] for span in spans], dtype=np.int64))
        if (owners < 0).any():
            raise NotFound("There is no such document in this collection.")
        return self._whole.texts(spans)

    def field_values(self, field: str) -> Sequence[tuple[int, str]]:
        result = self._whole.field_values(field)
        own = set(self._documents.tolist())
        return [(document, value) for document, value in result if document in own]

    def passage(self, id_: str) -> Passage:
        # looked up first: reading it would take a time that tells that it is there
        if not self.corpus_holding_passage(id_):
            raise no_passage(id_)
        return self._whole.passage(id_)

    def document(self, id_: str) -> Document:
        if not self.corpus_holding_document(id_):
            raise no_document(id_)
        return self._whole.document(id_)

    def document_passages(self, id_: str) -> list[Passage]:
        return self._whole.document_passages(id_) if self.corpus_holding_document(id_) else []

    def origin_of(self, id_: str) -> DocumentOrigin:
        if not self.corpus_holding_document(id_):
            raise no_document(id_)
        return self._whole.origin_of(id_)

    def list_documents(
        self, documents: IntArray, order: ListedBy, limit: int, offset: int
    ) -> list[ListedDocument]:
        own = documents[self.corpus_of_documents(documents) >= 0]
        return self._whole.list_documents(own, order, limit, offset)

    def titled(self, documents: IntArray, words: str) -> IntArray:
        own = documents[self.corpus_of_documents(documents) >= 0]
        return self._whole.titled(own, words)

    def read_sources(
        self, limit: int, offset: int, corpora: Collection[str] | None = None
    ) -> ReadSources:
        own = self._ids if corpora is None else self._ids.intersection(corpora)
        return self._whole.read_sources(limit, offset, own)

    def value_counts(self, documents: IntArray, fields: Sequence[str]) -> list[ValueCount]:
        own = documents[self.corpus_of_documents(documents) >= 0]
        return self._whole.value_counts(own, fields)

    def metadata(self, corpora: Collection[str]) -> Iterator[Metadata]:
        return self._whole.metadata(self._ids.intersection(corpora))

    def origins(self, corpora: Collection[str]) -> Mapping[str, OriginCounts]:
        return self._whole.origins(self._ids.intersection(corpora))

    def close(self) -> None:
        """Close nothing: the whole store may serve others."""


@dataclass(frozen=True)
class _PermittedTokens(TokenTable):
    """Words of some passages, `rows`; the arrays by row and document are those of all."""

    rows: IntArray

    def mean_length(self) -> float:
        return max(float(self.lengths(self.rows).sum()) / max(len(self.rows), 1), 1.0)


def _tokens(
    table: TokenTable, corpora: Sequence[int], documents: IntArray, rows: IntArray
) -> TokenTable:
    """Return the table without the words that only other corpora hold."""
    frequency = table.frequencies(corpora)
    occurs = frequency > 0
    values = table.values_of.take(documents).value
    occurs[table.values.take(values).value] = True  # words of metadata are in no other count
    own = {field.name: getattr(table, field.name) for field in fields_of(TokenTable)} | {
        "vocabulary": {term: id_ for term, id_ in table.vocabulary.items() if occurs[id_]},
        "passage_frequency": frequency,
        "terms_of": Ragged.of([table.terms_of.row(corpus) for corpus in corpora]),
        "counts_of": Ragged.of([table.counts_of.row(corpus) for corpus in corpora]),
        "passages_of": table.passages_of[list(corpora)],
    }
    return _PermittedTokens(**own, rows=rows)


def _manifest(whole: Store, corpora: Collection[str], fields: Mapping[str, Field]) -> Manifest:
    """Return the manifest as if of these corpora alone; the calibration stays."""
    manifest, counts = whole.manifest, whole.origins(corpora)
    return manifest.model_copy(
        update={
            "corpora": tuple(corpus for corpus in manifest.corpora if corpus.id in corpora),
            "fields": dict(fields),
            "origins": {
                kind: origin.model_copy(
                    update={
                        "arguments": {},
                        "documents": counts[kind].documents,
                        "passages": counts[kind].passages,
                    }
                )
                for kind, origin in manifest.origins.items()
                if kind in counts
            },
            "sizes": {},
            "files": {},
            "durations": {},
        }
    )
