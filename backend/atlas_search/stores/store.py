"""The store protocol, and the embedded store that reads Chroma, SQLite and tantivy from disk."""

import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.domain import Corpus, Document, Metadata, Passage
from atlas_search.core.errors import AtlasError, DamagedStore, OutdatedStore
from atlas_search.core.stop import Stop
from atlas_search.language.text import ANALYSER_VERSION, distinct
from atlas_search.stores.digests import check_sizes, files_of
from atlas_search.stores.document_days import DocumentDays
from atlas_search.stores.embeddings import Embeddings
from atlas_search.stores.filters import PASSAGE_FIELDS, Filter
from atlas_search.stores.keywords import Keywords
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.record_rows import (
    DocumentOrigin,
    ListedDocument,
    Order,
    OriginCounts,
    ReadSources,
    ValueCount,
)
from atlas_search.stores.records import Records
from atlas_search.stores.tokens import FloatArray, IntArray, TokenTable
from atlas_search.stores.vectors import Vectors
from atlas_search.stores.versions import (
    CHROMA,
    EMBEDDINGS,
    KEYWORDS,
    RECORDS,
    TOKENS,
    WORDS,
    in_use,
)
from atlas_search.stores.words import WordTable, no_words


@dataclass(frozen=True)
class Scope:
    """The only passages a search may find: their rows, and indices of their documents, ascending.

    Within a scope both legs are exact: its passages are compared one by one.
    """

    rows: IntArray
    documents: IntArray


Phrases = Sequence[Sequence[str]]
"""Each the stems of words that stand one after the other."""

COMPARED_AT_ONCE = 16_384  # vectors; those of more would fill the memory


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
        """All words of all documents, those of every corpus.

        Raises OutdatedStore for a version without, which an earlier Atlas wrote.
        """

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
    ) -> Hits:
        """The `depth` passages of `corpus` closest to the unit vector, by cosine.

        Without a scope the index is asked, which may miss a few; with one it is exact, and raises
        Cancelled soon after the `stop`.
        """

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
        self, documents: IntArray, order: Order, limit: int, offset: int
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


class EmbeddedStore:
    """A version of a collection on this machine's disk, by default the live one.

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
                f"Run `atlas store repair {self.manifest.collection}`."
            ) from error

    def _open(self, version: Path) -> None:
        using = _in_use(version)
        self._records = Records(version / RECORDS, self.manifest.languages)
        self._keywords = Keywords(version / KEYWORDS)
        self.tokens = TokenTable.read(version / TOKENS)
        has_words = bool(files_of(self.manifest, WORDS))
        self._words = WordTable.read(version / WORDS) if has_words else None
        self._embeddings = Embeddings.read(version / EMBEDDINGS)
        self._vectors = Vectors(version / CHROMA, [c.id for c in self.manifest.corpora])
        self._finalizer = weakref.finalize(
            self, _release, self._records, self._keywords, self._vectors, using
        )
        self.corpora = tuple(
            Corpus(c.id, c.label, c.documents, c.passages, c.language)
            for c in self.manifest.corpora
        )
        self._ids = self._records.passage_ids()
        self._content_types: list[str] | None = None
        self._check_counts(version)
        self._rows: Mapping[str, int] = {id_: row for row, id_ in enumerate(self._ids)}
        index = {corpus.id: number for number, corpus in enumerate(self.corpora)}
        owners = [index[corpus] for corpus in self._records.document_corpora()]
        self._corpus_of_documents = np.array(owners, dtype=np.int16)
        self._corpus_of: IntArray = self._corpus_of_documents[self.tokens.document_of]
        self.days = DocumentDays.of(len(owners), self._records.days_of_documents())

    def _check_counts(self, version: Path) -> None:
        found = {
            CHROMA: sum(self._vectors.count(corpus.id) for corpus in self.corpora),
            KEYWORDS: self._keywords.count,
            RECORDS: len(self._ids),
            TOKENS: self.tokens.passages,
            EMBEDDINGS: len(self._embeddings.vectors),
        }
        if self._words:
            found[WORDS] = len(self._words.firsts)
        wrong = {part: count for part, count in found.items() if count != self.manifest.passages}
        if wrong:
            raise DamagedStore(
                f"The store {version} is damaged: the manifest says {self.manifest.passages} "
                f"passages, but {', '.join(f'{part} has {n}' for part, n in wrong.items())}. "
                f"Run `atlas store repair {self.manifest.collection}`."
            )

    @property
    def words(self) -> WordTable:
        """See Store."""
        if self._words is None:
            raise OutdatedStore(no_words(self.manifest.collection))
        return self._words

    def scope(self, filters: Filter, required: Phrases = (), excluded: Phrases = ()) -> Scope:
        """See Store."""
        of_passages = {field: c for field, c in filters.items() if field in PASSAGE_FIELDS}
        of_documents = {field: c for field, c in filters.items() if field not in PASSAGE_FIELDS}
        allowed = np.zeros(self.manifest.documents, dtype=bool)
        allowed[self._records.matching_documents(of_documents)] = True
        rows = np.flatnonzero(allowed[self.tokens.document_of])
        if of_passages:
            matching = np.array(self._records.matching_passages(of_passages), dtype=np.int64)
            rows = np.intersect1d(rows, matching)
        for phrase in required:
            rows = np.intersect1d(rows, self._holding(phrase))
        for phrase in excluded:
            rows = np.setdiff1d(rows, self._holding(phrase))
        return Scope(rows, np.unique(self.tokens.document_of[rows]))

    def _holding(self, phrase: Sequence[str]) -> IntArray:
        rows = np.array(self._keywords.holding(distinct(phrase)), dtype=np.int64)
        return self.tokens.holding(rows, phrase)

    def nearest(
        self,
        corpus: str,
        vector: NDArray[np.float32],
        depth: int,
        scope: Scope | None,
        stop: Stop | None = None,
    ) -> Hits:
        """See Store."""
        if scope is not None:
            return self._compare(self._own(corpus, scope.rows), vector, depth, stop or Stop())
        found = self._vectors.nearest(corpus, vector, depth)
        rows = np.array([self._rows[id_] for id_ in found.ids], dtype=np.int64)
        return _best(rows, found.similarities, depth)

    def _own(self, corpus: str, rows: IntArray) -> IntArray:
        number = next(i for i, known in enumerate(self.corpora) if known.id == corpus)
        own: IntArray = rows[self._corpus_of[rows] == number]
        return own

    def _compare(self, rows: IntArray, vector: NDArray[np.float32], depth: int, stop: Stop) -> Hits:
        """The nearest of `rows`, found by comparing every one."""
        similarities = np.empty(len(rows))
        for start in range(0, len(rows), COMPARED_AT_ONCE):
            stop.check()
            block = slice(start, start + COMPARED_AT_ONCE)
            similarities[block] = self._embeddings.vectors[rows[block]] @ vector
        if len(rows) > depth:
            # ties with the last are kept, for the row decides between them
            enough = similarities >= np.partition(similarities, -depth)[-depth]
            rows, similarities = rows[enough], similarities[enough]
        return _best(rows, similarities, depth)

    def matching(self, corpus: str, terms: Sequence[str], depth: int, scope: Scope | None) -> Hits:
        """See Store."""
        allowed = None if scope is None else self._own(corpus, scope.rows)
        if allowed is not None and not len(allowed):
            return _best(np.empty(0, dtype=np.int64), np.empty(0), depth)
        whole = scope is None or len(scope.documents) == self.manifest.documents
        within = None if whole or scope is None else scope.documents.tolist()
        asked = depth
        while True:
            found = self._keywords.matching(corpus, terms, asked, within)
            rows, scores = np.array(found.rows, dtype=np.int64), np.array(found.scores)
            if allowed is not None:
                inside = np.isin(rows, allowed)
                rows, scores = rows[inside], scores[inside]
            if len(rows) >= depth or len(found.rows) < asked:
                return _best(rows, scores, depth)
            asked *= 4

    def corpus_of(self, rows: IntArray) -> IntArray:
        """See Store."""
        corpora: IntArray = self._corpus_of[rows]
        return corpora

    def corpus_of_documents(self, documents: IntArray) -> IntArray:
        """See Store."""
        corpora: IntArray = self._corpus_of_documents[documents]
        return corpora

    def documents_of(self, corpora: Collection[str]) -> IntArray:
        """See Store."""
        numbers = [n for n, corpus in enumerate(self.corpora) if corpus.id in corpora]
        return np.flatnonzero(np.isin(self._corpus_of_documents, numbers))

    def corpus_holding_passage(self, id_: str) -> str:
        """See Store."""
        row = self._rows.get(id_)
        return "" if row is None else self.corpora[self._corpus_of[row]].id

    def corpus_holding_document(self, id_: str) -> str:
        """See Store."""
        return self._records.corpus_holding_document(id_)

    def content_types(self, rows: IntArray) -> list[str]:
        """See Store."""
        if self._content_types is None:  # only targets with caps need them
            self._content_types = self._records.content_types()
        return [self._content_types[document] for document in self.tokens.document_of[rows]]

    def vectors(self, rows: IntArray) -> NDArray[np.float32]:
        """See Store."""
        return self._embeddings.vectors[rows]

    def passage_ids(self, rows: Sequence[int]) -> list[str]:
        """See Store."""
        return [self._ids[row] for row in rows]

    def passages(self, rows: Sequence[int]) -> list[Passage]:
        """See Store."""
        return self._records.passages(rows)

    def texts(self, spans: Sequence[tuple[int, int, int]]) -> list[str]:
        """See Store."""
        return [self._records.text(*span) for span in spans]

    def field_values(self, field: str) -> Sequence[tuple[int, str]]:
        """See Store."""
        return self._records.field_values(field)

    def passage(self, id_: str) -> Passage:
        """See Store."""
        return self._records.passage(id_)

    def document(self, id_: str) -> Document:
        """See Store."""
        return self._records.document(id_)

    def document_passages(self, id_: str) -> list[Passage]:
        """See Store."""
        return self._records.document_passages(id_)

    def origin_of(self, id_: str) -> DocumentOrigin:
        """See Store."""
        return self._records.origin_of(id_)

    def list_documents(
        self, documents: IntArray, order: Order, limit: int, offset: int
    ) -> list[ListedDocument]:
        """See Store."""
        return self._records.list_documents(documents.tolist(), order, limit, offset)

    def titled(self, documents: IntArray, words: str) -> IntArray:
        """See Store."""
        return np.array(self._records.titled(documents.tolist(), words), dtype=np.int64)

    def read_sources(
        self, limit: int, offset: int, corpora: Collection[str] | None = None
    ) -> ReadSources:
        """See Store."""
        return self._records.read_sources(limit, offset, corpora)

    def value_counts(self, documents: IntArray, fields: Sequence[str]) -> list[ValueCount]:
        """See Store."""
        return self._records.value_counts(documents.tolist(), fields)

    def metadata(self, corpora: Collection[str]) -> Iterator[Metadata]:
        """See Store."""
        return self._records.metadata(corpora)

    def origins(self, corpora: Collection[str]) -> Mapping[str, OriginCounts]:
        """See Store."""
        return self._records.origins(corpora)

    def close(self) -> None:
        """See Store."""
        self._finalizer()


def _in_use(version: Path) -> ExitStack:
    using = ExitStack()
    try:
        using.enter_context(in_use(version))
    except OSError as error:
        raise DamagedStore(
            f"{version} cannot be opened ({error}). Run `atlas store repair`."
        ) from error
    return using


def _release(records: Records, keywords: Keywords, vectors: Vectors, using: ExitStack) -> None:
    records.close()
    keywords.close()
    vectors.close()
    using.close()


def _best(rows: IntArray, scores: FloatArray, depth: int) -> Hits:
    order = np.lexsort((rows, -scores))[:depth]
    return Hits(rows[order], scores[order])
