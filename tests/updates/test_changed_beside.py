"""A version that shares the files of the one before tells what one written whole tells."""

import random
from pathlib import Path

import pytest

from atlas_search.build import change
from atlas_search.stores.versions import ORDER
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, live, write_sources
from tests.updates.all_of import all_of
from tests.updates.changes import problems
from tests.updates.test_updated_equals_new import random_edit, random_file, random_table


@pytest.fixture(autouse=True)
def _of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version of a few passages may share files, whatever has changed."""
    monkeypatch.setattr(change, "WHOLE_UP_TO", 0)
    monkeypatch.setattr(change, "RECENT_SHARE", 100)
    monkeypatch.setattr(change, "REBUILD_SHARE", 100)


@pytest.mark.parametrize("seed", range(8))
def test_a_store_that_was_changed_tells_what_a_new_one_tells(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    files, tables = {"a/first.txt": "The first text stays."}, {"b/t.csv": random_table(chance)}
    for _ in range(6):
        random_edit(chance, files, random_file(chance))
    sources = [(tmp_path / "texts", files, "txt"), (tmp_path / "tables", tables, "csv")]
    hashes, folder, shared = HashEmbedder(), tmp_path / "c", 0
    for step in range(5):
        if step:
            for _ in range(chance.randint(1, 3)):
                random_edit(chance, files, random_file(chance))
            if chance.random() < 0.5:
                tables["b/t.csv"] = random_table(chance)
        for root, now, kind in chance.sample(sources, k=2):
            build_tiny(write_sources(root, now), folder, hashes, kind=kind, size=100, overlap=0)
        shared += (live(folder) / ORDER).exists()
        assert not problems(folder)
        for root, _, kind in sources:
            at_once = tmp_path / f"fresh{step}"
            build_tiny(root, at_once, HashEmbedder(), kind=kind, size=100, overlap=0, force=True)
        was, new = all_of(folder), all_of(at_once)
        for name in new:
            assert was[name] == new[name], name
    assert shared > 2
