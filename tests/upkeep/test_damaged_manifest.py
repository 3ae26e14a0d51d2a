"""A manifest that is lost or damaged is taken from its version."""

import json
from pathlib import Path

import pytest

from atlas_search.building.maintain import repair
from atlas_search.core.errors import DamagedStore
from atlas_search.stores.manifest import SCHEMA_VERSION, Manifest
from atlas_search.stores.versions import versions
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, live, silent
from tests.upkeep.damage import Atlas, cut_short


@pytest.mark.parametrize(
    "garbage", ["garbage", "{", "[]", json.dumps({"schema_version": SCHEMA_VERSION}), "\x00"]
)
def test_a_damaged_manifest_is_taken_from_its_version(
    folder: Path, two: list[str], atlas: Atlas, garbage: str
) -> None:
    before = Manifest.read(folder)
    (folder / "manifest.json").write_text(garbage)
    code, _, said = atlas("verify")
    assert code == 1
    assert f"{folder / 'manifest.json'} " in said
    code, said, _ = atlas("repair")
    assert (code, Manifest.read(folder)) == (0, before)
    assert f"Repaired: version {two[1]} is live, 0 passages embedded." in said
    assert atlas("repair")[1].endswith("Every part is whole.\n")


def test_a_manifest_cut_short_is_taken_from_its_version(folder: Path) -> None:
    before = Manifest.read(folder)
    cut_short(folder / "manifest.json")
    assert repair(folder, HashEmbedder(), silent)[0] == Manifest.read(folder) == before
    (folder / "manifest.json").unlink()
    assert repair(folder, HashEmbedder(), silent)[0] == Manifest.read(folder) == before


def test_without_any_manifest_there_is_nothing_to_repair(folder: Path) -> None:
    (live(folder) / "manifest.json").unlink()
    (folder / "manifest.json").write_text("garbage")
    with pytest.raises(DamagedStore, match="is not valid JSON"):
        repair(folder, HashEmbedder(), silent)


@pytest.mark.parametrize("force", [False, True], ids=["plain", "forced"])
@pytest.mark.parametrize("lost", [False, True], ids=["garbage", "lost"])
def test_a_build_does_not_take_the_place_of_what_a_lost_manifest_named(
    folder: Path, source: Path, atlas: Atlas, lost: bool, force: bool
) -> None:
    before, held = Manifest.read(folder), sorted(versions(folder), key=lambda m: m.version)
    if lost:
        (folder / "manifest.json").unlink()
    else:
        (folder / "manifest.json").write_text("garbage")
    assert f"atlas store repair {folder.name}" in atlas("verify")[2]
    with pytest.raises(DamagedStore, match=f"atlas store repair {folder.name}"):
        build_tiny(source, folder, HashEmbedder(), force=force)
    assert sorted(versions(folder), key=lambda m: m.version) == held
    assert repair(folder, HashEmbedder(), silent)[0] == before
