"""The vector index after many changes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from atlas_search.building import write as vector_index
from atlas_search.building.maintain import repair, write_digests
from atlas_search.building.write import LEAST_RECALL, REBUILD_SHARE
from atlas_search.stores import vectors
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.vectors import HNSW, set_ef_search
from atlas_search.stores.versions import CHROMA
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, index, json_lines, live, silent, write_sources
from tests.updates.changes import problems


def records(numbers: Sequence[int], *, marked: Sequence[int] = ()) -> str:
    """A document for each number; those `marked` say something else."""
    return json_lines({f"d{n:04}": f"Text {n}{' again' if n in marked else ''}." for n in numbers})


MANY = 1200  # more than Chroma keeps outside of its index


@pytest.mark.usefixtures("indexed")
def test_a_changed_index_finds_as_much_and_is_made_anew_after_enough_changes(
    tmp_path: Path, hashes: HashEmbedder
) -> None:
    folder, file = tmp_path / "c", "a/all.jsonl"
    seen = []
    for numbers, marked in (
        (range(MANY), range(0)),
        (range(MANY), range(100)),  # 100 replaced
        (range(100, MANY + 100), range(0)),  # 100 removed, 100 added
        (range(100, MANY + 100), range(100, 150)),  # 50 replaced: 250 of 1200 are more than a fifth
        (range(100, MANY + 100), range(100, 149)),  # one replaced
    ):
        source = write_sources(tmp_path / "s", {file: records(numbers, marked=marked)})
        build_tiny(source, folder, hashes, kind="jsonl")
        assert nearest(folder, hashes, "Text 500.") == "a.d0500:0-9"
        seen.append(Manifest.read(folder).vector_tombstones)
        assert seen[-1] != 200 or not problems(folder)
    assert seen == [0, 100, 200, 0, 1]
    assert 200 <= REBUILD_SHARE * MANY < 250


def nearest(folder: Path, hashes: HashEmbedder, text: str) -> str:
    """The id of the passage that the store finds first for the vector of a text."""
    store = EmbeddedStore(folder)
    query: NDArray[np.float32] = hashes.embed_query(text)
    (row, *_) = store.nearest("a", query, 10, None).rows
    (id_,) = store.passage_ids([row])
    store.close()
    return id_


def test_forcing_makes_the_index_anew(tmp_path: Path, hashes: HashEmbedder) -> None:
    tombstones = []
    for marked, force in ((0, False), (1, False), (1, True)):
        files = {"a/all.jsonl": records(range(10), marked=range(marked))}
        source = write_sources(tmp_path / "s", files)
        report = build_tiny(source, tmp_path / "c", hashes, kind="jsonl", force=force)
        tombstones.append(report.manifest.vector_tombstones)
    assert tombstones == [0, 1, 0]


@pytest.mark.usefixtures("indexed")
def test_an_index_that_finds_too_little_is_made_to_look_at_more(
    tmp_path: Path, hashes: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for option, value in (("ef_search", 10), ("ef_construction", 10), ("max_neighbors", 4)):
        monkeypatch.setitem(HNSW, option, value)  # type: ignore[misc]
    folder = tmp_path / "c"
    source = write_sources(tmp_path / "s", {"a/all.jsonl": records(range(MANY))})
    build_tiny(source, folder, hashes, kind="jsonl")
    manifest = Manifest.read(folder)
    measured = manifest.index_recalls["a"]
    assert measured.ef_search == manifest.ef_search("a") > manifest.index.ef_search == 10
    assert measured.recall >= LEAST_RECALL
    assert not problems(folder)

    source = write_sources(tmp_path / "s", {"a/all.jsonl": records(range(MANY), marked=[3])})
    build_tiny(source, folder, hashes, kind="jsonl")
    assert Manifest.read(folder).index_recalls == {"a": measured}
    assert not problems(folder)

    set_ef_search(live(folder) / CHROMA, "a", 10)
    write_digests(folder)
    assert any("finds only" in problem for problem in problems(folder))
    repair(folder, hashes, silent)
    assert not problems(folder)


@pytest.mark.usefixtures("indexed")
def test_an_index_that_never_finds_enough_looks_at_no_more_than_it_may(
    tmp_path: Path, hashes: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_index, "LEAST_RECALL", 1.1)
    monkeypatch.setattr(vector_index, "MOST_EF", 4 * HNSW["ef_search"])
    source = write_sources(tmp_path / "s", {"a/all.jsonl": records(range(20))})
    build_tiny(source, tmp_path / "c", hashes, kind="jsonl")
    measured = Manifest.read(tmp_path / "c").index_recalls["a"]
    assert (measured.ef_search, measured.recall) == (4 * HNSW["ef_search"], 1.0)


def test_corpora_that_are_compared_whole_are_not_measured(folder: Path) -> None:
    assert Manifest.read(folder).index_recalls == {}


def test_an_index_that_cannot_be_changed_is_made_anew(
    tmp_path: Path, hashes: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, real, failures = tmp_path / "c", vectors._upsert, [RuntimeError("Chroma failed")]

    def fail_once(*arguments: Any) -> None:
        if failures:
            raise failures.pop()
        real(*arguments)

    build_tiny(write_sources(tmp_path / "s", {"a/1.txt": "One."}), folder, hashes)
    monkeypatch.setattr(vectors, "_upsert", fail_once)
    source = write_sources(tmp_path / "s", {"a/1.txt": "One.", "a/2.txt": "Two."})
    build_tiny(source, folder, hashes)
    assert not failures
    assert not problems(folder)
    assert index(folder)["a"][0] == ["a.1:0-4", "a.2:0-4"]
