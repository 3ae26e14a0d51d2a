"""Upkeep of a collection that is not there, or that a build is changing."""

import shutil
from pathlib import Path

import pytest

from atlas_search.building.maintain import drop, repair
from atlas_search.core.errors import DamagedStore, SourceError
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.versions import lock, rollback
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, live, silent
from tests.upkeep.damage import Atlas, cut_short


@pytest.mark.parametrize("command", ["verify", "repair", "rollback"])
def test_a_collection_that_is_not_there_is_named_and_not_made(
    folder: Path, atlas: Atlas, command: str
) -> None:
    code, _, error = atlas(command, "nowhere")
    assert code == 1
    assert error.startswith(f"atlas: There is no collection at {folder.parent / 'nowhere'}")
    assert not (folder.parent / "nowhere").exists()


def test_nothing_is_dropped_from_a_collection_that_is_not_there(folder: Path, atlas: Atlas) -> None:
    assert atlas("drop", "town", "nowhere")[0] == 1
    assert not (folder.parent / "nowhere").exists()


def test_nothing_is_looked_after_while_a_build_runs(folder: Path) -> None:
    version = Manifest.read(folder).version
    for change in (
        lambda: repair(folder, HashEmbedder(), silent),
        lambda: drop(folder, "town", HashEmbedder(), silent),
        lambda: rollback(folder),
    ):
        with lock(folder), pytest.raises(SourceError, match="Another build of c is running"):
            change()
    assert Manifest.read(folder).version == version


def test_what_mends_a_copy_is_said_of_the_copy(folder: Path, source: Path, two: list[str]) -> None:
    copy = shutil.copytree(folder, folder.parent / "other")
    cut_short(live(copy) / "records.sqlite")
    (source / "farm" / "new.txt").write_text("New.")
    with pytest.raises(DamagedStore, match=r"other is damaged: .* --collection other --force`"):
        build_tiny(source, copy, HashEmbedder())
    (live(copy) / "tokens" / "words.flat.npy").unlink()
    with pytest.raises(DamagedStore, match="`atlas store repair other`"):
        EmbeddedStore(copy)
