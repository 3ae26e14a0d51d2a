"""All sets built into one collection, each a corpus, and the record behind every passage."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import numpy as np

from atlas_search.atlas import Atlas
from atlas_search.building.flow import BuildOptions, BuildReport, build
from atlas_search.building.source_file import CorpusRule, SourceFile
from atlas_search.building.sources import Sources
from atlas_search.core.errors import SourceError
from atlas_search.providers.embedding import Embedder
from atlas_search.providers.sparse import EmbedderWithTerms, term_model
from atlas_search.search.run import Searcher
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.store import Store
from benchmarks.quality.embedder import RememberedQuestions
from benchmarks.quality.records import AS_RECORDED, GroupReader
from benchmarks.quality.sets import TestSet

COLLECTION = "quality"
OPTIONS = BuildOptions(COLLECTION, "benchmark", AS_RECORDED)


@dataclass(frozen=True)
class Collection:
    """What is searched. `records` are the ids of the passages' records, by row.

    `groups` are the rows of each document, by set and key of its group.
    """

    atlas: Atlas
    records: Sequence[str]
    groups: Mapping[tuple[str, str], IntArray]

    @property
    def searcher(self) -> Searcher:
        """What searches."""
        return self.atlas.services.searcher


def record_id(set_name: str, record: str) -> str:
    """The id of a record among those of all sets."""
    return f"{set_name}/{record}"


def build_collection(
    store: Path,
    sets: Sequence[TestSet],
    embedder: Embedder,
    reader: GroupReader,
    progress: Callable[[str, int, int], None],
) -> BuildReport:
    """Bring the collection in the folder `store` up to date with `sets`."""
    files = tuple(
        SourceFile(str(s.path), f"{s.name}/{s.path.name}", s.path.name, CorpusRule(s.name))
        for s in sets
    )
    return build(store / COLLECTION, Sources(files, (), {}), reader, embedder, OPTIONS, progress)


@contextmanager
def open_collection(
    store: Path, sets: Sequence[TestSet], embedder: Embedder, served: Sequence[str] = ()
) -> Iterator[Collection]:
    """The built collection, of which "all" means the sets `served`; without names, every one.

    Raises SourceError if its passages are not the records of `sets`.
    """
    asking: Embedder = RememberedQuestions(embedder)
    if terms := term_model(embedder):
        asking = EmbedderWithTerms(asking, terms)
    settings = {"multi_corpus_metadata": ",".join(served), "phoenix_collector_endpoint": ""}
    with Atlas.open(store / COLLECTION, embedder=asking, **settings) as atlas:
        opened = atlas.services.store
        groups = _rows_by_group(opened)
        yield Collection(atlas, _records(opened, sets, groups), groups)


def _rows_by_group(store: Store) -> dict[tuple[str, str], IntArray]:
    rows: dict[tuple[str, str], list[int]] = {}
    for passage in store.passages(range(store.manifest.passages)):
        key = passage.corpus, str(passage.metadata["record_id"])
        rows.setdefault(key, []).append(passage.row)
    return {key: np.array(found, dtype=np.int64) for key, found in rows.items()}


def _records(
    store: Store, sets: Sequence[TestSet], groups: Mapping[tuple[str, str], IntArray]
) -> list[str]:
    """The record of each passage: the passages of a group are its records, in the same order.

    Only a heading at the head of a record may be missing from its passage.
    """
    ids = [""] * store.manifest.passages
    for test_set in sets:
        for group in test_set.groups:
            rows = groups.get((test_set.name, group.key), np.empty(0, dtype=np.int64)).tolist()
            pairs = list(zip_longest(store.passages(rows), group.records))
            if not all(
                passage and record and record.text.strip().endswith(passage.text)
                for passage, record in pairs
            ):
                raise SourceError(
                    f"The passages of {group.key} in {test_set.name} are not its "
                    f"{len(group.records)} records. Remove the store and build it again."
                )
            for row, record in zip(rows, group.records, strict=True):
                ids[row] = record_id(test_set.name, record.key)
    if not all(ids):
        raise SourceError(f"{ids.count('')} passages of the store are of no record. Remove it.")
    return ids
