"""What search and answering need of a collection."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.domain import Corpus, Document, Metadata, Passage
from atlas_search.core.stop import Stop
from atlas_search.stores.cosines import Cosines
from atlas_search.stores.document_days import DocumentDays
from atlas_search.stores.filters import Filter
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.record_rows import (
    DocumentOrigin,
    ListedBy,
    ListedDocument,
    OriginCounts,
    ReadSources,
    ValueCount,
)
from atlas_search.stores.tokens import FloatArray, IntArray, TokenTable
from atlas_search.stores.words import WordTable


@dataclass(frozen=True)
class Scope:
    """The only passages a search may find: their rows, and indices of their documents, ascending.

    Within a scope both legs are exact: its passages are compared one by one.
    """

    rows: IntArray
    documents: IntArray


Phrases = Sequence[Sequence[str]]
"""Each the stems of words that stand one after the other."""


class Hits(NamedTuple):
    """Passage rows with the leg's own score, best first, ties by row."""

    rows: IntArray
    scores: FloatArray


class Store(Protocol):
    """What search and answering need of a collection. Safe to use from several threads."""

    manifest: Manifest
    corpora: tuple[Corpus, ...]
    tokens: TokenTable
    days: DocumentDays

    @property
    def words(self) -> WordTable:
        """All words of all documents, those of every corpus."""

    def scope(self, filters: Filter, required: Phrases = (), excluded: Phrases = ()) -> Scope:
        """The passages that meet every condition of `filters`.

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
    ) -> Hits:
        """The `depth` passages of `corpus` closest to the unit vector, by cosine.

        In a scope, and in a corpus that `compares_all`, every passage is compared, and Cancelled
        raised soon after the `stop`; else the index is asked, which may miss a few. `known` keeps
        the cosines where those of a whole corpus were worked out.
        """

    def nearest_in_index(self, corpus: str, vector: NDArray[np.float32], depth: int) -> Hits:
        """What the index gives for them, in every corpus. Raises DamagedStore.

        For an audit: where `compares_all`, no search asks it, and it is opened when first asked.
        """

    def compares_all(self, corpus: str) -> bool:
        """Whether the nearest passages of a whole corpus are found without the index."""

    def matching(self, corpus: str, terms: Sequence[str], depth: int, scope: Scope | None) -> Hits:
        """The `depth` passages of `corpus` with the best keyword score for `terms`."""

    def corpus_of(self, rows: IntArray) -> IntArray:
        """Index into `corpora` of each passage."""

    def corpus_of_documents(self, documents: IntArray) -> IntArray:
        """Index into `corpora` of each document."""

    def documents_of(self, corpora: Collection[str]) -> IntArray:
        """The documents of some corpora, in order."""

    def corpus_holding_passage(self, id_: str) -> str:
        """The corpus of the passage with this id; empty without one."""

    def corpus_holding_document(self, id_: str) -> str:
        """The corpus of the document with this id; empty without one."""

    def content_types(self, rows: IntArray) -> list[str]:
        """The content type of each passage's document."""

    def vectors(self, rows: IntArray) -> NDArray[np.float32]:
        """Unit vectors of passages, shape (n, d)."""

    def passage_ids(self, rows: Sequence[int]) -> list[str]:
        """Passage ids by row, in the order asked for."""

    def passages(self, rows: Sequence[int]) -> list[Passage]:
        """Passages by row, in the order asked for."""

    def texts(self, spans: Sequence[tuple[int, int, int]]) -> list[str]:
        """Pieces of documents: of the document with this index, from a character to another."""

    def field_values(self, field: str) -> Sequence[tuple[int, str]]:
        """(document, value) pairs of all that documents say in a metadata field, by document.

        A date within one year is that year, and values that differ in capitals of A to Z alone are
        one, written as the one of them that sorts first.
        """

    def passage(self, id_: str) -> Passage:
        """One passage. Raises NotFound."""

    def document(self, id_: str) -> Document:
        """One document with its whole text. Raises NotFound."""

    def document_passages(self, id_: str) -> list[Passage]:
        """The passages of one document, in order."""

    def origin_of(self, id_: str) -> DocumentOrigin:
        """Where a document comes from. Raises NotFound."""

    def list_documents(
        self, documents: IntArray, order: ListedBy, limit: int, offset: int
    ) -> list[ListedDocument]:
        """Of the documents with these indices at most `limit`, after the first `offset`."""

    def titled(self, documents: IntArray, words: str) -> IntArray:
        """Those of `documents` whose title holds all of these words, or parts of words."""

    def read_sources(
        self, limit: int, offset: int, corpora: Collection[str] | None = None
    ) -> ReadSources:
        """What the source files gave, and of which something was left out and why.

        With `corpora` only those whose documents are all of these. A file without a document is of
        no corpus.
        """

    def value_counts(self, documents: IntArray, fields: Sequence[str]) -> list[ValueCount]:
        """How many of `documents` have each value of `fields`, most frequent first."""

    def metadata(self, corpora: Collection[str]) -> Iterator[Metadata]:
        """The metadata of every document of some corpora."""

    def origins(self, corpora: Collection[str]) -> Mapping[str, OriginCounts]:
        """How much of some corpora came from each kind of source."""

    def close(self) -> None:
        """Release files and memory."""
