"""What Chroma opens of an index: links, and a small copy of its database."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from atlas_search.core.errors import DamagedStore, UnwritableFolder
from atlas_search.stores.vectors import DATABASE, Vectors
from atlas_search.stores.versions import CHROMA
from tests.hash_embedder import HashEmbedder
from tests.test_full_disk import longest_file
from tests.tiny import build_tiny, json_lines, live, write_sources

MANY, FEW = 1200, 12  # more and fewer than Chroma keeps outside of an index


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("opened")
    texts = {
        f"{corpus}/all.jsonl": json_lines({f"d{n:04}": f"Text {n}." for n in range(count)})
        for corpus, count in {"many": MANY, "few": FEW}.items()
    }
    build_tiny(write_sources(folder / "s", texts), folder / "c", HashEmbedder(), kind="jsonl")
    return live(folder / "c") / CHROMA


def test_the_list_of_ids_is_not_copied_and_nothing_else_is_missing(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    query = HashEmbedder().embed_query("Text 7.")
    before = (index / DATABASE).read_bytes()
    small, whole = (Vectors(index, ["many", "few"], lists=lists) for lists in (False, True))
    for corpus, count in {"many": MANY, "few": FEW}.items():
        found, expected = (each.nearest(corpus, query, 5) for each in (small, whole))
        assert found.ids == expected.ids
        assert np.array_equal(found.similarities, expected.similarities)
        assert small.count(corpus) == whole.count(corpus) == count
    assert sum(len(ids) for ids, _ in whole.items("many")) == MANY
    assert sorted(_listed(tmp_path)) == [0, MANY + FEW]
    small.close()
    whole.close()
    assert not list(tmp_path.iterdir())
    assert (index / DATABASE).read_bytes() == before


def test_without_room_for_the_copy_the_setting_is_named(index: Path) -> None:
    with longest_file(50_000), pytest.raises(UnwritableFolder, match="set TMPDIR"):
        Vectors(index, ["many"])


def test_a_database_that_is_none_is_damage(index: Path, tmp_path: Path) -> None:
    (tmp_path / DATABASE).write_bytes((index / DATABASE).read_bytes()[512:])
    with pytest.raises(DamagedStore, match="atlas store repair"):
        Vectors(tmp_path, ["many"])


def _listed(folder: Path) -> list[int]:
    """How many ids each database below a folder lists."""
    found = []
    for path in folder.rglob(DATABASE):
        with closing(sqlite3.connect(path)) as database:
            found += database.execute("SELECT COUNT(*) FROM embeddings").fetchone()
    return found
