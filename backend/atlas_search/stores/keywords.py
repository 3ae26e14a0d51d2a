"""The keyword index in tantivy, fed with the stems of `atlas_search.language.text`.

An index that was changed shares the files of the one before: what is new is in files of its own,
and what is gone is marked. So passages and documents keep the keys that they got when they were
added; an index that was never changed has rows and indices for keys.
"""

import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from stat import S_IMODE
from typing import NamedTuple, Self

import numpy as np
import tantivy

from atlas_search.core.errors import DamagedStore
from atlas_search.stores.arrays import IntArray, map_array
from atlas_search.stores.order import assign_keys
from atlas_search.stores.vectors import FloatArray, LinkedFolder, link_or_copy

MOST_TIES = 10_000  # rows of a table are of one length: a million may be equally good
OVERFETCH = 64  # ties are common in BM25; the caller orders them by row and cuts
_KEY_FILES = ("rows.npy", "documents.npy", "next.npy")
_MANAGED = ".managed.json"
"""List of the files that tantivy may remove. It has no digest, so that each change writes it
anew: a damaged one would end it."""


class Entry(NamedTuple):
    """Passage for the index: its key, its document's key, its corpus and its stems."""

    key: int
    document: int
    corpus: str
    terms: Sequence[str]


class Keys(NamedTuple):
    """Key of every passage, by row, and of every document, by index.

    `next_row` and `next_document` are the first that were never given.
    """

    rows: IntArray
    documents: IntArray
    next_row: int
    next_document: int

    @classmethod
    def plain(cls, passages: int, documents: int) -> Self:
        """Return the keys of an index that was never changed."""
        return cls(np.arange(passages), np.arange(documents), passages, documents)

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Read the keys of the index in `folder`; None if it was never changed."""
        if not (folder / _KEY_FILES[-1]).exists():
            return None
        rows, documents, following = (map_array(folder / name) for name in _KEY_FILES)
        return cls(rows, documents, *following.tolist())

    def write(self, folder: Path) -> None:
        """Write them beside their index."""
        result = (self.rows, self.documents, np.array([self.next_row, self.next_document]))
        for name, array in zip(_KEY_FILES, result, strict=True):
            np.save(folder / name, array)

    def after(self, rows: IntArray, documents: IntArray) -> "Keys":
        """Return the keys of a coming version, by where each passage and document stood before.

        That is -1 for a new one, which gets a key of its own.
        """
        rows, next_row = assign_keys(self.rows, rows, self.next_row)
        documents, next_document = assign_keys(self.documents, documents, self.next_document)
        return Keys(rows, documents, next_row, next_document)

    @property
    def tombstones(self) -> int:
        """Number of passages removed from the index since it was made."""
        return self.next_row - len(self.rows)


class KeywordHits(NamedTuple):
    """Passage rows with their BM25 score, best first."""

    rows: IntArray
    scores: FloatArray


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("row", fast=True)
    builder.add_unsigned_field("document", indexed=True)
    builder.add_text_field("corpus", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("body", tokenizer_name="whitespace", index_option="freq")
    return builder.build()


def write_keywords(folder: Path, entries: Iterable[Entry]) -> None:
    """Index `entries` in a new folder; one thread, so the same input gives the same index."""
    folder.mkdir(parents=True)
    _add(tantivy.Index(_schema(), path=str(folder)), entries, ())
    _give_one_mode(folder)


def change_keywords(
    source: Path, folder: Path, keys: Keys, gone: Sequence[int], entries: Iterable[Entry]
) -> None:
    """Make the index in `source` another in a new `folder`, with these `keys`.

    Documents whose key is `gone` are not found any more; `entries` are added. The files that both
    have are links to one. Raises DamagedStore.
    """
    folder.mkdir(parents=True)
    names = [path.name for path in source.iterdir() if _is_of_index(path)]
    for name in names:
        take = link_or_copy if is_taken_over(name) else shutil.copyfile
        take(source / name, folder / name)
    (folder / _MANAGED).write_text(json.dumps(names))
    keys.write(folder)
    try:
        index = tantivy.Index.open(str(folder))
    except ValueError as error:  # what tantivy raises for a damaged file is of no kind of its own
        raise DamagedStore(
            f"The keyword index in {source} cannot be read ({error}). Run `atlas store repair`."
        ) from error
    _add(index, entries, gone)
    _give_one_mode(folder)


def is_taken_over(name: str) -> bool:
    """Return whether a changed index has this file, if at all, as it was in the one before."""
    return not name.endswith((".json", ".npy"))


def _is_of_index(path: Path) -> bool:
    """Return whether tantivy made a file, and not only for itself or to keep others out."""
    return not path.name.startswith(".") and path.suffix != ".npy"


def _add(index: tantivy.Index, entries: Iterable[Entry], gone: Sequence[int]) -> None:
    writer = index.writer(heap_size=64_000_000, num_threads=1)
    if gone:  # by a query: deleting by a term finds no number
        query = tantivy.Query.term_set_query(index.schema, "document", list(gone))
        writer.delete_documents_by_query(query)
    for entry in entries:
        document = tantivy.Document(corpus=entry.corpus, body=" ".join(entry.terms))
        document.add_unsigned("row", entry.key)
        document.add_unsigned("document", entry.document)
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()


def _give_one_mode(folder: Path) -> None:
    """Let whoever may read one file read all: tantivy writes some for this user alone, whatever the
    umask says."""
    files = [path for path in folder.iterdir() if path.is_file()]
    mode = max(S_IMODE(path.stat().st_mode) for path in files)
    for path in files:
        path.chmod(mode)


class KeywordIndex:
    """The keyword index of an existing store."""

    def __init__(self, folder: Path):
        self._linked = LinkedFolder(folder)
        try:
            self._index = tantivy.Index.open(str(self._linked.folder))
        except (ValueError, OSError) as error:
            raise DamagedStore(
                f"The keyword index {folder} cannot be opened ({error}). Run `atlas store repair`."
            ) from error
        self._schema = self._index.schema
        self._searcher = self._index.searcher()
        self._keys = Keys.read(folder)
        if self._keys:
            self._row_of = np.full(self._keys.next_row, -1)
            self._row_of[self._keys.rows] = np.arange(len(self._keys.rows))

    @property
    def count(self) -> int:
        return self._searcher.num_docs

    def matching(
        self, corpus: str, terms: Sequence[str], depth: int, within: Sequence[int] | None = None
    ) -> KeywordHits:
        """Return the passages of `corpus` with any of `terms`, "" is every corpus: at least
        `depth`, with all that are as good as the last of these, for tantivy gives ties in any
        order. Of more than MOST_TIES some are left out.

        `within`, if given, are the indices of the only documents allowed.
        """
        if not terms or (within is not None and not within):
            return KeywordHits(np.empty(0, dtype=np.int64), np.empty(0))
        must, should = tantivy.Occur.Must, tantivy.Occur.Should
        query = tantivy.Query.boolean_query([(should, self._term(term)) for term in terms])
        filters = []
        if corpus:
            filters.append(tantivy.Query.term_query(self._schema, "corpus", corpus, "basic"))
        if within is not None:
            allowed = self._keys.documents[list(within)].tolist() if self._keys else list(within)
            filters.append(tantivy.Query.term_set_query(self._schema, "document", allowed))
        if filters:
            # a constant score of 0: a filter must not change the order
            clauses = [(must, tantivy.Query.const_score_query(each, 0.0)) for each in filters]
            query = tantivy.Query.boolean_query([(must, query), *clauses])
        limit = depth + OVERFETCH
        while True:
            result = self._search(query, limit)
            is_whole = len(result.rows) < limit or result.scores[-1] < result.scores[depth - 1]
            if is_whole or limit > MOST_TIES:
                return result
            limit *= 8

    def holding(self, terms: Sequence[str]) -> IntArray:
        """Return the rows of all passages with every one of `terms`, ascending; all without any."""
        every = [(tantivy.Occur.Must, self._term(term)) for term in terms]
        query = tantivy.Query.boolean_query(every) if every else tantivy.Query.all_query()
        return np.sort(self._search(query, max(self.count, 1)).rows)

    def close(self) -> None:
        self._linked.close()

    def _term(self, term: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, "body", term, "freq")

    def _search(self, query: tantivy.Query, limit: int) -> KeywordHits:
        hits = self._searcher.search(query, limit=limit, count=False).hits
        scores, addresses = zip(*hits, strict=True) if hits else ((), ())
        result = self._searcher.fast_field_values("row", list(addresses))
        rows: IntArray = np.array(result, dtype=np.int64)
        if self._keys:
            rows = self._row_of[rows]
        return KeywordHits(rows, np.array(scores, dtype=np.float64))
