"""The manifest: absent, unreadable, of another Atlas or another model; mended from its version."""

import json
from pathlib import Path

import pytest

from atlas_search.building.maintain import repair
from atlas_search.core.errors import (
    DamagedStore,
    EmbedderMismatch,
    MissingStore,
    OutdatedStore,
)
from atlas_search.core.settings import Settings
from atlas_search.services import open_services
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.manifest import SCHEMA_VERSION, Manifest
from atlas_search.stores.versions import versions
from tests.building.conftest import AtlasStore
from tests.building.damage import cut_short
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, live, silent, write_manifest

REPAIR = r"(?s)manifest\.json .*`atlas store repair"
CREATE = r"another version of Atlas.*`atlas create`"


def test_a_missing_collection_is_named_with_those_that_are_there(tmp_path: Path) -> None:
    with pytest.raises(MissingStore) as alone:
        Manifest.read(tmp_path / "c")
    assert "Collections there" not in str(alone.value)
    assert "`atlas create files SOURCE --collection c`" in str(alone.value)
    for name in ("sea", "farm"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text("{}")
    with pytest.raises(MissingStore, match=r"Collections there: farm, sea\. `atlas demo`"):
        Manifest.read(tmp_path / "c")


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        ("", DamagedStore, REPAIR),
        ("[]", DamagedStore, REPAIR),
        ("{}", DamagedStore, REPAIR),
        (
            json.dumps({"schema_version": SCHEMA_VERSION}),
            DamagedStore,
            REPAIR,
        ),
        ('{"schema_version": 2}', OutdatedStore, CREATE),
        ('{"schema_version": 4}', OutdatedStore, CREATE),
        ('{"schema_version": 8, "files": {}}', OutdatedStore, CREATE),
    ],
)
def test_a_manifest_that_cannot_be_used_says_what_to_do(
    tmp_path: Path, content: str, error: type[Exception], message: str
) -> None:
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(error, match=message):
        Manifest.read(tmp_path)


@pytest.mark.parametrize(
    "lacking",
    ["embeddings/sums.npy", "ids/ends.npy", "words/ends.npy"],
)
def test_a_store_of_an_earlier_form_is_built_anew(folder: Path, lacking: str) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["files"][lacking]
    write_manifest(folder, manifest)
    with pytest.raises(OutdatedStore, match="`atlas create`"):
        EmbeddedStore(folder)


@pytest.mark.parametrize(
    ("other", "runtime"),
    [
        ({"name": "models/other", "runtime": "torch 2.1"}, "auto"),
        ({"name": "models/other", "runtime": "onnxruntime 1.2 int8"}, "int8"),
    ],
)
def test_a_store_built_with_another_model_is_refused(
    folder: Path, other: dict[str, str], runtime: str
) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["embedding"] |= {"fingerprint": "0" * 64, **other}
    write_manifest(folder, manifest)
    settings = Settings(chroma_persist_directory=folder.parent, chroma_collection_name="c")
    message = f"Set EMBEDDING_MODEL=models/other.* and EMBEDDING_RUNTIME={runtime}, or build"
    with pytest.raises(EmbedderMismatch, match=message):
        open_services(settings, HashEmbedder())


def test_a_build_replaces_a_manifest_of_another_schema(folder: Path, source: Path) -> None:
    (folder / "manifest.json").write_text('{"schema_version": 1}')
    assert build_tiny(source, folder, HashEmbedder()).manifest.documents == 3
    EmbeddedStore(folder).close()


def test_garbage_without_a_version_is_replaced_with_force(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    (folder / "manifest.json").write_text("garbage")
    with pytest.raises(DamagedStore, match="not valid JSON"):
        build_tiny(source, folder, HashEmbedder())
    assert build_tiny(source, folder, HashEmbedder(), force=True).manifest.documents == 3


# a manifest that is lost or damaged is taken from its version


@pytest.mark.parametrize(
    "garbage", ["garbage", "{", "[]", json.dumps({"schema_version": SCHEMA_VERSION}), "\x00"]
)
def test_a_damaged_manifest_is_taken_from_its_version(
    folder: Path, two: list[str], atlas_store: AtlasStore, garbage: str
) -> None:
    before = Manifest.read(folder)
    (folder / "manifest.json").write_text(garbage)
    code, _, error = atlas_store("verify")
    assert code == 1
    assert f"{folder / 'manifest.json'} " in error
    code, output, _ = atlas_store("repair")
    assert (code, Manifest.read(folder)) == (0, before)
    assert f"Repaired: version {two[1]} is live, 0 passages embedded." in output
    assert atlas_store("repair")[1].endswith("Every part is whole.\n")


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
def test_a_build_does_not_replace_the_versions_of_a_lost_manifest(
    folder: Path, source: Path, atlas_store: AtlasStore, lost: bool, force: bool
) -> None:
    before, held = Manifest.read(folder), versions(folder)
    if lost:
        (folder / "manifest.json").unlink()
    else:
        (folder / "manifest.json").write_text("garbage")
    assert f"atlas store repair {folder.name}" in atlas_store("verify")[2]
    with pytest.raises(DamagedStore, match=f"atlas store repair {folder.name}"):
        build_tiny(source, folder, HashEmbedder(), force=force)
    assert versions(folder) == held
    assert repair(folder, HashEmbedder(), silent)[0] == before
