"""The keyword index in tantivy, fed with the stems of `atlas_search.language.text`."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from stat import S_IMODE
from typing import NamedTuple, cast

import tantivy

from atlas_search.core.errors import DamagedStore
from atlas_search.stores.links import Linked

OVERFETCH = 64  # ties are common in BM25; the caller orders them by row and cuts


class Entry(NamedTuple):
    """One passage for the index: its row, its document's index, its corpus and its stems."""

    row: int
    document: int
    corpus: str
    terms: Sequence[str]


class KeywordHits(NamedTuple):
    """Passage rows with their BM25 score, best first."""

    rows: list[int]
    scores: list[float]


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
    writer = tantivy.Index(_schema(), path=str(folder)).writer(heap_size=64_000_000, num_threads=1)
    for entry in entries:
        document = tantivy.Document(corpus=entry.corpus, body=" ".join(entry.terms))
        document.add_unsigned("row", entry.row)
        document.add_unsigned("document", entry.document)
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    _give_one_mode(folder)


def _give_one_mode(folder: Path) -> None:
    """Whoever may read one file may read all: tantivy writes some for this user alone, whatever
    the umask says."""
    files = [path for path in folder.iterdir() if path.is_file()]
    mode = max(S_IMODE(path.stat().st_mode) for path in files)
    for path in files:
        path.chmod(mode)


class Keywords:
    """The keyword index of an existing store."""

    def __init__(self, folder: Path):
        self._linked = Linked(folder, lambda _: True, lambda _: False)
        try:
            self._index = tantivy.Index.open(str(self._linked.folder))
        except (ValueError, OSError) as error:
            raise DamagedStore(
                f"The keyword index {folder} cannot be opened ({error}). Run `atlas store repair`."
            ) from error
        self._schema = self._index.schema
        self._searcher = self._index.searcher()

    @property
    def count(self) -> int:
        """Passages in the index."""
        return self._searcher.num_docs

    def matching(
        self, corpus: str, terms: Sequence[str], depth: int, within: Sequence[int] | None = None
    ) -> KeywordHits:
        """Up to `depth` + OVERFETCH passages of `corpus` with any of `terms`.

        `within`, if given, are the indices of the only documents allowed.
        """
        if not terms or (within is not None and not within):
            return KeywordHits([], [])
        must, should = tantivy.Occur.Must, tantivy.Occur.Should
        words = [(should, self._term(term)) for term in terms]
        # a constant score of 0: a filter must not change the order
        filters = [tantivy.Query.term_query(self._schema, "corpus", corpus, "basic")]
        if within is not None:
            filters.append(tantivy.Query.term_set_query(self._schema, "document", list(within)))
        clauses = [(must, tantivy.Query.const_score_query(query, 0.0)) for query in filters]
        query = tantivy.Query.boolean_query([(must, tantivy.Query.boolean_query(words)), *clauses])
        return self._search(query, depth + OVERFETCH)

    def holding(self, terms: Sequence[str]) -> list[int]:
        """The rows of all passages with every one of `terms`, ascending; all without any."""
        every = [(tantivy.Occur.Must, self._term(term)) for term in terms]
        query = tantivy.Query.boolean_query(every) if every else tantivy.Query.all_query()
        return sorted(self._search(query, max(self.count, 1)).rows)

    def close(self) -> None:
        """Remove what was made to open it."""
        self._linked.close()

    def _term(self, term: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, "body", term, "freq")

    def _search(self, query: tantivy.Query, limit: int) -> KeywordHits:
        hits = self._searcher.search(query, limit=limit, count=False).hits
        rows = self._searcher.fast_field_values("row", [address for _, address in hits])
        return KeywordHits(cast("list[int]", rows), [float(score) for score, _ in hits])
