"""The vector index after many changes, the part of it that is opened, and cosines."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from atlas_search.building import write
from atlas_search.building.maintain import repair, write_digests
from atlas_search.building.write import LEAST_RECALL, REBUILD_SHARE
from atlas_search.core.errors import DamagedStore, UnwritableFolder
from atlas_search.stores import vectors
from atlas_search.stores.arrays import FloatArray, IntArray
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.vectors import (
    AT_ONCE,
    DATABASE,
    HNSW,
    Cosines,
    Vectors,
    cosines,
    set_ef_search,
)
from atlas_search.stores.versions import CHROMA
from tests.building.damage import problems
from tests.hash_embedder import HashEmbedder
from tests.stores.disks import longest_file
from tests.tiny import build_tiny, index, json_lines, live, silent, write_sources

MANY, FEW = 1200, 12  # more and fewer than Chroma keeps outside of its index


def records(numbers: Sequence[int], *, marked: Sequence[int] = ()) -> str:
    """A document for each number; those `marked` say something else."""
    return json_lines({f"d{n:04}": f"Text {n}{' again' if n in marked else ''}." for n in numbers})


@pytest.mark.thorough
@pytest.mark.usefixtures("indexed")
def test_a_changed_index_finds_as_much_and_is_made_anew_after_enough_changes(
    tmp_path: Path, hashes: HashEmbedder
) -> None:
    folder, file = tmp_path / "c", "a/all.jsonl"
    tombstones = []
    for numbers, marked in (
        (range(MANY), range(0)),
        (range(MANY), range(100)),  # 100 replaced
        (range(100, MANY + 100), range(0)),  # 100 removed, 100 added
        (range(100, MANY + 100), range(100, 150)),  # 50 replaced: 250 of 1200 are more than a fifth
        (range(100, MANY + 100), range(100, 149)),  # one replaced
    ):
        source = write_sources(tmp_path / "s", {file: records(numbers, marked=marked)})
        build_tiny(source, folder, hashes, kind="jsonl")
        assert nearest_id(folder, hashes, "Text 500.") == "a.d0500:0-9"
        tombstones.append(Manifest.read(folder).vector_tombstones)
        assert tombstones[-1] != 200 or not problems(folder)
    assert tombstones == [0, 100, 200, 0, 1]
    assert 200 <= REBUILD_SHARE * MANY < 250


def nearest_id(folder: Path, hashes: HashEmbedder, text: str) -> str:
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


@pytest.mark.thorough
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
    monkeypatch.setattr(write, "LEAST_RECALL", 1.1)
    monkeypatch.setattr(write, "MOST_EF", 4 * HNSW["ef_search"])
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


# Chroma opens: links, and a small copy of its database


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("opened")
    texts = {
        f"{corpus}/all.jsonl": json_lines({f"d{n:04}": f"Text {n}." for n in range(count)})
        for corpus, count in {"many": MANY, "few": FEW}.items()
    }
    build_tiny(write_sources(folder / "s", texts), folder / "c", HashEmbedder(), kind="jsonl")
    return live(folder / "c") / CHROMA


def test_the_list_of_ids_is_not_copied_and_nothing_else_is_missing(
    large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    query = HashEmbedder().embed_query("Text 7.")
    before = (large / DATABASE).read_bytes()
    small, whole = (Vectors(large, ["many", "few"], lists=lists) for lists in (False, True))
    for corpus, count in {"many": MANY, "few": FEW}.items():
        hits, expected = (each.nearest(corpus, query, 5) for each in (small, whole))
        assert hits == expected
        assert small.count(corpus) == whole.count(corpus) == count
    assert sum(len(ids) for ids, _ in whole.items("many")) == MANY
    assert sorted(_listed(tmp_path)) == [0, MANY + FEW]
    small.close()
    whole.close()
    assert not list(tmp_path.iterdir())
    assert (large / DATABASE).read_bytes() == before


def test_without_room_for_the_copy_the_setting_is_named(large: Path) -> None:
    with longest_file(50_000), pytest.raises(UnwritableFolder, match="set TMPDIR"):
        Vectors(large, ["many"])


def test_a_database_that_cannot_be_read_is_damage(large: Path, tmp_path: Path) -> None:
    (tmp_path / DATABASE).write_bytes((large / DATABASE).read_bytes()[512:])
    with pytest.raises(DamagedStore, match="atlas store repair"):
        Vectors(tmp_path, ["many"])


def _listed(folder: Path) -> list[int]:
    """The number of ids that each database below a folder lists."""
    counts = []
    for path in folder.rglob(DATABASE):
        with closing(sqlite3.connect(path)) as database:
            counts += database.execute("SELECT COUNT(*) FROM embeddings").fetchone()
    return counts


# cosines of a question and passages: each worked out once, and the same however it was

COUNT = 40
SOME = np.random.default_rng(3).normal(size=(COUNT, 24)).astype(np.float32)
SOME /= np.linalg.norm(SOME, axis=1, keepdims=True)
HALVES = SOME.astype(np.float16)
ROWS = st.lists(st.integers(0, COUNT - 1), unique=True).map(
    lambda rows: np.array(sorted(rows), int)
)
STRETCHES = st.lists(st.integers(0, COUNT), unique=True, max_size=6).map(sorted)


@given(ROWS, STRETCHES)
def test_known_cosines_are_not_worked_out_again(rows: NDArray[np.int64], edges: list[int]) -> None:
    compared: list[int] = []

    def similarities(rows: IntArray, vector: NDArray[np.float32]) -> FloatArray:
        compared.extend(rows.tolist())
        return cosines(HALVES[rows], vector)

    known_cosines = Cosines(SOME[0], similarities)
    known: set[int] = set()
    for start, end in zip(edges[::2], edges[1::2], strict=False):
        known_cosines.keep(start, cosines(HALVES[start:end], SOME[0]))
        known.update(range(start, end))
    np.testing.assert_array_equal(known_cosines.of(rows), cosines(HALVES, SOME[0])[rows])
    assert compared == [row for row in rows.tolist() if row not in known]


def test_a_passage_has_one_cosine_whichever_way_it_is_worked_out(large: Path) -> None:
    store = EmbeddedStore(large.parents[1])
    every = np.arange(store.manifest.passages)
    vector = store.vectors(np.array([7]))[0]
    alone, after = (Cosines(vector, store.similarities) for _ in range(2))
    hits = [store.nearest(corpus.id, vector, 9, None, None, after) for corpus in store.corpora]
    np.testing.assert_array_equal(after.of(every), alone.of(every))
    for each in hits:
        own = after.of(np.sort(each.rows))[np.argsort(np.argsort(each.rows))]
        np.testing.assert_array_equal(own, each.scores)
    store.close()


def test_equal_vectors_have_equal_cosines_wherever_they_stand() -> None:
    many = np.tile(HALVES, (2 * AT_ONCE // COUNT, 1))
    every = Cosines(SOME[1], lambda rows, vector: cosines(many[rows], vector)).of(
        np.arange(len(many))
    )
    assert len(np.unique(every[::COUNT])) == 1


@pytest.mark.parametrize("dimension", [1, 7, 24, 33, 384, 1024, 3072])
def test_half_precision_changes_a_cosine_by_less_than_a_thousandth(dimension: int) -> None:
    every = np.random.default_rng(dimension).normal(size=(50, dimension))
    every /= np.linalg.norm(every, axis=1, keepdims=True)
    vectors, vector = every.astype(np.float16), every[3].astype(np.float32)
    np.testing.assert_allclose(cosines(vectors, vector), every @ every[3], atol=1e-3)
    assert cosines(vectors[:0], vector).tolist() == []
