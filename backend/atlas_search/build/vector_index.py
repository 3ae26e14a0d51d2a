"""Writing the vector index of a version, and seeing that it finds what is near."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from atlas_search.build.live_version import Live
from atlas_search.build.write import REBUILD_SHARE, Written
from atlas_search.stores import embedded
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.manifest import IndexRecall
from atlas_search.stores.vectors import (
    HNSW,
    AnyEmbeddings,
    CorpusVectors,
    Embeddings,
    Vectors,
    change_vectors,
    count_vectors,
    index_recall,
    set_ef_search,
    write_vectors,
)
from atlas_search.stores.versions import CHROMA, check_files

LEAST_RECALL = 0.99
MOST_EF = 16_000
"""Neighbours a search looks at; 1000 take 6 ms in a corpus of 229,000, and so many about 70."""

Progress = Callable[[int, int], None]


class WrittenIndex(NamedTuple):
    """`tombstones` are vectors that the index still holds but no longer finds; `recalls` are as in
    `Manifest.index_recalls`."""

    tombstones: int
    recalls: Mapping[str, IndexRecall]


def write_index(
    folder: Path,
    written: Written,
    embeddings: Embeddings,
    live: Live | None,
    progress: Progress,
) -> WrittenIndex:
    """Write the vector index, from the `live` one where little has changed, and see that it finds
    what is near."""
    tombstones = _write_index(folder, written, embeddings, live, progress)
    known = live.manifest.index_recalls if live and tombstones is not None else {}
    recalls = {
        own.corpus: known.get(own.corpus) or _see_to_recall(folder / CHROMA, own)
        for own in _by_corpus(written.ids, embeddings, written.counter.passages())
        if len(own.ids) > embedded.EXACT_UP_TO
    }
    return WrittenIndex(tombstones or 0, recalls)


def _see_to_recall(folder: Path, own: CorpusVectors) -> IndexRecall:
    """Have searches of a corpus look at more and more, until they find LEAST_RECALL of the nearest
    or look at MOST_EF."""
    rows = {id_: row for row, id_ in enumerate(own.ids)}
    ef = HNSW["ef_search"]
    while True:
        index = Vectors(folder, [own.corpus])
        recall = index_recall(index, own.corpus, rows, own.vectors)
        index.close()
        if recall >= LEAST_RECALL or ef >= MOST_EF:
            return IndexRecall(ef_search=ef, recall=round(recall, 4))
        ef *= 2
        set_ef_search(folder, own.corpus, ef)


def _write_index(
    folder: Path,
    written: Written,
    embeddings: Embeddings,
    live: Live | None,
    progress: Progress,
) -> int | None:
    """The tombstones of an index that was changed; None of one that was built anew."""
    done, ids, passages = 0, written.ids, written.counter.passages()

    def advance(count: int) -> None:
        nonlocal done
        done += count
        progress(done, len(ids))

    progress(0, len(ids))
    if live:
        try:
            tombstones = _change(folder / CHROMA, written, embeddings, live, advance)
        except Exception:  # Chroma raises errors of many kinds for what it cannot read
            tombstones = None  # a live index that is damaged is no start for another
        if tombstones is not None:
            progress(len(ids), len(ids))
            return tombstones
        shutil.rmtree(folder / CHROMA, ignore_errors=True)
    done = 0
    write_vectors(folder / CHROMA, _by_corpus(ids, embeddings, passages), advance)
    return None


def _change(
    target: Path,
    written: Written,
    embeddings: Embeddings,
    live: Live,
    advance: Callable[[int], None],
) -> int | None:
    """Copy and change the live index; None if too much has changed, or the copy is not whole."""
    check_files(live.folder, live.manifest, CHROMA)
    before = _Vectors(live.records.passage_ids(), live.embeddings, live.passages_by_corpus)
    now = _Vectors(written.ids, embeddings, written.counter.passages())
    in_index = np.append(live.in_index, False)  # the last is what stood nowhere
    stays = np.zeros(len(before.ids), dtype=bool)
    stays[written.stood[written.stood >= 0]] = True
    were = before.of(np.flatnonzero(~stays & live.in_index)) | live.left_in_index
    are = now.of(np.flatnonzero(~in_index[written.stood]))
    gone: dict[str, list[str]] = {}
    for id_, (corpus, _, _) in were.items():
        if id_ not in are or are[id_][0] != corpus:
            gone.setdefault(corpus, []).append(id_)
    new: dict[str, list[tuple[int, str]]] = {corpus: [] for corpus in now.passages}
    replaced = 0
    for id_, (corpus, row, digest) in are.items():
        known = were.get(id_)
        if known is None or known[0] != corpus:
            new[corpus].append((row, id_))
        elif known[2] != digest:
            new[corpus].append((row, id_))
            replaced += 1
    tombstones = live.manifest.vector_tombstones + sum(map(len, gone.values())) + replaced
    if tombstones > REBUILD_SHARE * len(now.ids):
        return None
    corpora = [
        CorpusVectors(c, [id_ for _, id_ in found], embeddings.vectors[[row for row, _ in found]])
        for c, found in new.items()
    ]
    change_vectors(live.folder / CHROMA, target, corpora, gone, advance)
    whole = count_vectors(target) == now.passages
    return tombstones if whole else None


class _Vectors(NamedTuple):
    """The passages of a version: their ids and vectors, and how many each corpus has, in order."""

    ids: Sequence[str]
    embeddings: AnyEmbeddings
    passages: Mapping[str, int]

    def of(self, rows: IntArray) -> dict[str, tuple[str, int, bytes]]:
        """The corpus, row and text digest of some passages, by id."""
        corpora, ends = list(self.passages), np.cumsum(list(self.passages.values()))
        owners = np.searchsorted(ends, rows, side="right").tolist()
        digests = self.embeddings.digests
        return {
            self.ids[row]: (corpora[owner], row, digests[row].tobytes())
            for row, owner in zip(rows.tolist(), owners, strict=True)
        }


def _by_corpus(
    ids: Sequence[str], embeddings: Embeddings, passages: dict[str, int]
) -> Iterator[CorpusVectors]:
    start = 0
    for corpus, count in passages.items():
        rows = slice(start, start + count)
        yield CorpusVectors(corpus, ids[rows], embeddings.vectors[rows])
        start += count
