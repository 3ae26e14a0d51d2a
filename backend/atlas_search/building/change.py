"""Writing a version as the one before it, with what is new beside it.

It takes time for what has changed, and for what every version has: a number for each passage. The
rest is links to the files of the base (`stores/order.py`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from atlas_search.building.document_ids import KeptDocuments, PlacedDocument
from atlas_search.building.materials import Live, Materials, former_places
from atlas_search.building.vectorise import VectorSources, fill
from atlas_search.building.write import (
    REBUILD_SHARE,
    Counter,
    add_words,
    entries,
    exact_up_to,
    indexed_corpora,
    two_passages,
)
from atlas_search.core.targets import VectorSearch
from atlas_search.stores.arrays import IntArray, map_array
from atlas_search.stores.keywords import Keys, change_keywords, is_taken_over
from atlas_search.stores.manifest import Engine
from atlas_search.stores.order import RECENT, Order
from atlas_search.stores.passage_ids import PassageIds
from atlas_search.stores.record_writer import RecentWriter, SourceRow, metadata_values
from atlas_search.stores.staging import Staging
from atlas_search.stores.terms import TokenTable, TokenWriter
from atlas_search.stores.vectors import Embeddings, link_or_copy
from atlas_search.stores.versions import (
    CHROMA,
    EMBEDDINGS,
    IDS,
    KEYWORDS,
    ORDER,
    RECENT_RECORDS,
    RECORDS,
    TOKENS,
    WORDS,
    damaged_files,
    files_of,
    visible_problem,
)
from atlas_search.stores.words import WordTable, WordWriter

WHOLE_UP_TO = 5_000
"""Passages of a version that is always written whole: that takes a second."""

MOST_RECENT, RECENT_SHARE = 20_000, 0.05
"""Passages beside the base, and gone from it, and their share of all, from which on a version is
written whole again: the recent ones are written anew by each change."""

_SHARED = (RECORDS, IDS, TOKENS, WORDS, EMBEDDINGS, CHROMA)
"""The parts whose files a change takes over, but for those that are RECENT."""


@dataclass(frozen=True)
class VersionChange:
    """Version to be written: parts of the live one and new documents, in an order.

    `stood` and `documents_stood` say where each passage and document stands in the live version;
    -1 for a new one.
    """

    live: Live
    parts: Sequence[KeptDocuments | PlacedDocument]
    passages: Sequence[int]
    order: Order
    stood: IntArray
    documents_stood: IntArray

    @property
    def taken_over(self) -> dict[str, str]:
        """Digests of the files that it takes over as they are, by name.

        They hold on a disk without links too: a copy of what is damaged must not get a new one.
        """
        return {
            name: digest
            for name, digest in self.live.manifest.files.items()
            if name.split("/")[0] in (*_SHARED, KEYWORDS) and not _is_copied(name)
        }

    @property
    def only_links(self) -> bool:
        """Return whether no document of the live version is written anew, under another id, say."""
        return not any(isinstance(part, PlacedDocument) and part.found.kept for part in self.parts)

    @cached_property
    def gone(self) -> list[int]:
        """Indices of the documents of the live version that the coming one does not have."""
        is_gone = np.ones(self.live.manifest.documents, dtype=bool)
        is_gone[self.documents_stood[self.documents_stood >= 0]] = False
        result: list[int] = np.flatnonzero(is_gone).tolist()
        return result

    @cached_property
    def is_recent(self) -> NDArray[np.bool_]:
        """Return whether each document of the live version is not in its base."""
        return self.before.documents >= self.before.counts.base_documents

    def recent_of(self, kept: KeptDocuments) -> tuple[range, range]:
        """Return which recent documents of the live version are kept, and which passages."""
        return _within(self.is_recent, kept.documents), _within(self.before.is_recent, kept.rows)

    @property
    def passages_of(self) -> IntArray:
        """Number of passages of each document of the coming version."""
        return np.concatenate(
            [
                self.live.passages_of(part) if isinstance(part, KeptDocuments) else [count]
                for part, count in zip(self.parts, self.passages, strict=True)
            ]
        )

    @cached_property
    def keyword_keys(self) -> Keys:
        return self.live.keyword_keys.after(self.stood, self.documents_stood)

    @cached_property
    def before(self) -> Order:
        return _order_of(self.live)


def change_of(
    live: Live,
    parts: Sequence[KeptDocuments | PlacedDocument],
    materials: Materials,
    how: VectorSearch,
    engine: Engine,
) -> VersionChange | None:
    """Return how to write a version with these documents beside the live one; None if it is to
    be written whole, for too much is new or gone, or the live one cannot be the base, or has not
    the vector indexes or the engine of the coming one."""
    manifest = live.manifest
    if visible_problem(live.folder, manifest):
        return None
    # what is linked keeps its digest, so that damage is found later; what is copied gets a new one
    if damaged_files(live.folder, manifest, filter(_is_copied, manifest.files)):
        return None
    passages = [
        len(p.rows) if isinstance(p, KeptDocuments) else materials.passages(p) for p in parts
    ]
    if sum(passages) < WHOLE_UP_TO:
        return None
    stood, documents_stood = former_places(parts, passages)
    before = _order_of(live)
    order = before.after(stood, documents_stood, _leaving(live, before, stood))
    change = VersionChange(live, parts, passages, order, stood, documents_stood)
    return change if _is_small(change, how, engine) else None


def _is_copied(name: str) -> bool:
    """Return whether a change reads or copies a file of the live version, and does not link it."""
    is_of_keywords = name.split("/")[0] == KEYWORDS
    return _is_recent(name) or (is_of_keywords and not is_taken_over(name))


def _is_recent(name: str) -> bool:
    """Return whether a file of a version belongs to what is beside its base, and is written
    anew."""
    return RECENT in Path(name).parts or name == RECENT_RECORDS


def _order_of(live: Live) -> Order:
    return live.order or Order.whole(*live.size)


def _within(is_recent: NDArray[np.bool_], items: range) -> range:
    """Return the numbers of some items among the recent ones."""
    first = int(np.count_nonzero(is_recent[: items.start]))
    return range(first, first + int(np.count_nonzero(is_recent[items.start : items.stop])))


def _leaving(live: Live, before: Order, stood: IntArray) -> Mapping[str, Sequence[str]]:
    """Return the ids of the passages that leave the base, by corpus."""
    leaves = ~before.is_recent
    leaves[stood[stood >= 0]] = False
    rows = np.flatnonzero(leaves)
    corpora, ends = list(live.passages_by_corpus), np.cumsum([*live.passages_by_corpus.values()])
    result: dict[str, list[str]] = {}
    owners = np.searchsorted(ends, rows, side="right").tolist()
    for owner, id_ in zip(owners, live.records.ids_of(rows.tolist()), strict=True):
        result.setdefault(corpora[owner], []).append(id_)
    return result


def _is_small(change: VersionChange, how: VectorSearch, engine: Engine) -> bool:
    order, live = change.order, change.live
    most = min(MOST_RECENT, int(RECENT_SHARE * len(order.rows)))
    if max(order.recent, order.left_out) > most:
        return False
    base = order.rows[~order.is_recent]
    if not (np.diff(base) > 0).all():  # documents have changed places
        return False
    if change.keyword_keys.tombstones > REBUILD_SHARE * len(order.rows):
        return False
    sizes: dict[str, int] = {}
    for part, count in zip(change.parts, change.passages, strict=True):
        corpus = part.corpus if isinstance(part, KeptDocuments) else part.found.corpus
        sizes[corpus] = sizes.get(corpus, 0) + count
    before = live.manifest
    if (how, engine) != (before.index.vector_search, before.index.engine):
        return False
    # a corpus of which searches ask the index has a recall that was measured
    large = {corpus for corpus, size in sizes.items() if size > exact_up_to(engine)}
    return large.intersection(indexed_corpora(sizes, how, engine)) <= before.index_recalls.keys()


def write_change(
    folder: Path, change: VersionChange, sources: Iterable[SourceRow], materials: Materials
) -> Counter:
    """Write everything but the vectors of what is new."""
    live = change.live
    names = (name for part in _SHARED for name in files_of(live.manifest, part))
    for name in names:
        if not _is_recent(name):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            link_or_copy(live.folder / name, folder / name)
    change.order.write(folder / ORDER)
    return _Writer(folder, change, materials).write(sources)


class _Writer:
    """Writer of the documents, words and keyword index of a changed version."""

    def __init__(self, folder: Path, change: VersionChange, materials: Materials):
        self._folder, self._change, self._materials = folder, change, materials
        self._live = change.live
        self._tokens, self._words, self._counter = TokenWriter(), WordWriter(), Counter()
        self._seen: set[str] = set()
        self._recent_ids: list[str] = []
        self._gone = {self._live.columns.ids[document] for document in change.gone}

    def write(self, sources: Iterable[SourceRow]) -> Counter:
        counts = self._change.before.counts
        records = RecentWriter(
            self._folder / RECENT_RECORDS,
            next(iter(self._live.record_files[1:]), None),
            counts.next_document,
            counts.next_row,
        )
        records.remove(self._change.before.documents[self._change.gone].tolist())
        _change_sources(records, self._live, sources)
        ready_from = self._materials.reader(self._tokens)
        for part in self._change.parts:
            if isinstance(part, KeptDocuments):
                self._keep(part)
                continue
            ready = ready_from(part)
            ids = [passage.id for passage in ready.passages]
            self._require_new(ids, part.found.source)
            self._recent_ids += ids
            records.document(ready.document, ready.provenance, ready.passages)
            add_words(part, ready, self._tokens, self._words, self._counter)
        records.close()
        PassageIds.of(self._recent_ids).write(self._folder / IDS / RECENT)
        table = self._tokens.table()
        table.write(self._folder / TOKENS / RECENT)
        self._words.table().write(self._folder / WORDS / RECENT)
        if self._live.manifest.index.engine == "embedded":
            self._change_keywords(table)
        return self._counter

    def _keep(self, kept: KeptDocuments) -> None:
        characters, metadata = self._live.described(kept)
        documents, rows = self._change.recent_of(kept)
        if documents:
            is_recent = self._change.is_recent[kept.documents.start : kept.documents.stop]
            fields = [
                field
                for own, recent in zip(metadata, is_recent.tolist(), strict=True)
                if recent
                for field, _ in metadata_values(own)
            ]
            ids, tokens, words = self._recent_tables
            self._recent_ids += ids.of_rows(rows)
            self._tokens.keep(tokens, documents, rows, kept.corpus, fields)
            self._words.keep(words, documents, rows)
        sizes = self._words_of[kept.documents.start : kept.documents.stop]
        self._counter.keep(kept, characters, sizes, self._live.passages_of(kept), metadata)

    @cached_property
    def _recent_tables(self) -> tuple[PassageIds, TokenTable, WordTable]:
        folder = self._live.folder
        return (
            PassageIds.read(folder / IDS / RECENT),
            TokenTable.read(folder / TOKENS / RECENT),
            WordTable.read(folder / WORDS / RECENT),
        )

    @cached_property
    def _words_of(self) -> IntArray:
        """Number of words of each document of the live version."""
        folder = self._live.folder / WORDS
        folders = [folder, folder / RECENT] if self._live.order else [folder]
        sizes = np.concatenate([np.diff(map_array(each / "ends.npy")) for each in folders])
        return sizes[self._change.before.document_splice.every()]

    def _require_new(self, ids: Sequence[str], source: str) -> None:
        """Raise SourceError if an id that came with its passage is another's."""
        holders = self._live.records.holders(ids)
        held = {id_ for id_, document in holders.items() if document not in self._gone}
        for id_ in ids:
            if id_ in held or id_ in self._seen:
                raise two_passages(id_, source)
            self._seen.add(id_)

    def _change_keywords(self, table: TokenTable) -> None:
        change, keys = self._change, self._change.keyword_keys
        gone = np.setdiff1d(self._live.keyword_keys.documents, keys.documents).tolist()
        # the recent passages in order, of which some are new
        rows = np.flatnonzero(change.order.is_recent)
        new = np.flatnonzero(change.stood[rows] < 0)
        documents = np.repeat(np.arange(len(change.documents_stood)), change.passages_of)
        passages = self._counter.passages()
        ends = np.cumsum([*passages.values()])
        corpora = np.array([*passages])[np.searchsorted(ends, rows[new], side="right")]
        added = entries(
            table, new, keys.rows[rows[new]], keys.documents[documents[rows[new]]], corpora
        )
        source = self._live.folder / KEYWORDS
        change_keywords(source, self._folder / KEYWORDS, keys, gone, added)


def _change_sources(records: RecentWriter, live: Live, sources: Iterable[SourceRow]) -> None:
    """Write the sources that the live version does not have so, and take out those it has else.

    Those that stay are the very rows of the live version, of which there are tens of thousands.
    """
    sources = list(sources)
    known, now = set(map(id, live.sources)), set(map(id, sources))
    gone = {(row.origin, row.name): row for row in live.sources if id(row) not in now}
    for source in sources:
        if id(source) not in known and gone.pop((source.origin, source.name), None) != source:
            records.source(source)
    for origin, name in gone:
        records.remove_source(origin, name)


def write_recent_vectors(
    target: Embeddings, change: VersionChange, vectors: VectorSources, staging: Staging, model: str
) -> None:
    """Write the vectors of what is recent; `vectors` are those of all parts, in order."""
    live = change.live
    recent = Embeddings.read(live.folder / EMBEDDINGS / RECENT) if live.order else None
    parts = [
        change.recent_of(part)[1] if isinstance(part, KeptDocuments) else of_part
        for part, of_part in zip(change.parts, vectors.parts, strict=True)
    ]
    own = [part for part in parts if len(part)]
    fill(target, VectorSources(own, vectors.known, vectors.embedded), recent, staging, model)
