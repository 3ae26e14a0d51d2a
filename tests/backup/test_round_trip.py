"""`atlas store export` and `import`: what comes back is what was there."""

import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from atlas_search.atlas import Atlas
from atlas_search.building.backup import export_collection
from atlas_search.building.document_ids import Changes
from atlas_search.building.flow import BuildReport
from atlas_search.building.maintain import drop
from atlas_search.core.errors import DamagedStore, SourceError
from atlas_search.core.settings import Settings
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.services import open_services
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.manifest import Calibration, Manifest
from atlas_search.stores.versions import versions
from tests.backup.exports import lines, taken_in, unpacked
from tests.hash_embedder import HashEmbedder
from tests.tiny import FARM, all_vectors, build_tiny, contents, live, silent, write_sources
from tests.upkeep.damage import damaged

QUESTIONS = (
    "Who has a right to a lawyer?",
    "What must a person be told before questioning?",
    "freedom of speech in schools",
    "Is segregation lawful?",
)


@pytest.mark.parametrize("name", ["export", "export.zip"])
def test_an_import_holds_all_that_was_exported(letters: Path, tmp_path: Path, name: str) -> None:
    before = letters / "stores" / "c"
    export_collection(before, tmp_path / name, silent)
    done = taken_in(tmp_path / name, tmp_path / "new" / "c")
    assert (done.embedded, done.is_same_model) == (0, True)
    assert contents(tmp_path / "new" / "c") == contents(before)
    assert (all_vectors(tmp_path / "new" / "c") == all_vectors(before)).all()
    assert damaged(tmp_path / "new" / "c") == []
    assert sorted(path.name for path in (tmp_path / "new" / "c").iterdir()) == sorted(
        [".build.lock", done.manifest.version, "manifest.json"]
    )


def test_an_import_finds_the_same_passages_with_the_same_scores(
    settings: Settings, demo: BuildReport, embedder: LocalEmbedder, tmp_path: Path
) -> None:
    export_collection(settings.collection_folder, tmp_path / "demo.zip", silent)
    taken_in(tmp_path / "demo.zip", tmp_path / "stores" / "atlas_demo", embedder)
    moved = settings.model_copy(update={"chroma_persist_directory": tmp_path / "stores"})
    found = []
    for each in (settings, moved):
        with closing(Atlas(open_services(each, embedder))) as atlas:
            results = [atlas.search(question) for question in QUESTIONS]
            found.append([[p.to_dict() for p in result.passages] for result in results])
    assert found[0] == found[1]
    assert all(found[0])


def test_a_build_after_an_import_reads_only_what_changed(letters: Path, tmp_path: Path) -> None:
    source = shutil.copytree(letters / "source", tmp_path / "source")
    export_collection(letters / "stores" / "c", tmp_path / "export", silent)
    folder = tmp_path / "new" / "c"
    taken_in(tmp_path / "export", folder)
    again = build_tiny(source, folder, HashEmbedder())
    assert (again.read, again.unchanged) == (0, True)
    (source / "farm/cows.txt").write_text("Cows give butter.\n")
    changed = build_tiny(source, folder, HashEmbedder())
    assert (changed.read, changed.embedded) == (1, 1)
    assert changed.changes == Changes(added=0, changed=1, unchanged=3, removed=0)


def test_with_another_model_all_passages_are_embedded_anew(written: Path, tmp_path: Path) -> None:
    other = HashEmbedder("another", 16)
    done = taken_in(written, tmp_path / "c", other)
    texts = len({(p["start"], p["end"]) for p in lines(written / "passages.jsonl")})
    assert (done.is_same_model, done.model) == (False, "hash")
    assert done.embedded == other.embedded
    assert done.manifest.passages >= done.embedded >= texts
    assert done.manifest.embedding.dimension == 16
    assert damaged(tmp_path / "c") == []


def test_the_folder_and_the_zip_hold_the_same_files(letters: Path, tmp_path: Path) -> None:
    export_collection(letters / "stores" / "c", tmp_path / "a", silent)
    export_collection(letters / "stores" / "c", tmp_path / "b.zip", silent)
    packed = unpacked(tmp_path / "b.zip")
    names = {path.name for path in packed.iterdir()}
    assert names == {path.name for path in (tmp_path / "a").iterdir()}
    assert len(names) == 6
    for name in names - {"manifest.json"}:
        assert (packed / name).read_bytes() == (tmp_path / "a" / name).read_bytes()


def test_a_calibration_comes_along(letters: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(letters / "stores" / "c", tmp_path / "stores" / "c")
    calibration = Calibration(
        threshold=0.4,
        basis="made",
        good=3,
        off_topic=2,
        lost=0.0,
        rejected=1.0,
        content_digest=Manifest.read(folder).content_digest,
        created="2026-01-01",
    )
    Manifest.read(folder).model_copy(update={"calibration": calibration}).write(folder)
    export_collection(folder, tmp_path / "export", silent)
    assert taken_in(tmp_path / "export", tmp_path / "c").manifest.calibration == calibration
    other = taken_in(tmp_path / "export", tmp_path / "d", HashEmbedder("another")).manifest
    assert other.calibration is None  # its threshold is of the other model's scores


def test_a_collection_is_replaced_only_on_demand_and_can_be_gone_back_to(
    written: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "c"
    first = build_tiny(write_sources(tmp_path / "source", FARM), folder, HashEmbedder()).manifest
    with pytest.raises(SourceError, match="There is a collection c already"):
        taken_in(written, folder)
    assert Manifest.read(folder) == first
    done = taken_in(written, folder, replace=True)
    assert [m.version for m in versions(folder)] == [done.manifest.version, first.version]


def test_what_can_be_gone_back_to_stays_if_the_manifest_of_the_replaced_cannot_be_read(
    written: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "c"
    for text in ("Cows give milk.", "Cows give butter."):
        source = write_sources(tmp_path / "source", {"farm/cows.txt": text})
        build_tiny(source, folder, HashEmbedder())
    before = versions(folder)
    (folder / "manifest.json").write_text("{")
    done = taken_in(written, folder, replace=True)
    assert versions(folder) == [done.manifest, *before]


def test_a_collection_is_exported_while_it_is_open_and_while_a_corpus_is_dropped(
    letters: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(letters / "stores" / "c", tmp_path / "stores" / "c")
    dropped: list[str] = []

    def drop_once(*_: object) -> None:
        if not dropped:
            dropped.append(drop(folder, "town", HashEmbedder(), silent).version)

    with closing(EmbeddedStore(folder)) as store:
        export_collection(folder, tmp_path / "export", drop_once)
        assert store.passage("farm.cows:0-15").text == "Cows give milk."
    assert Manifest.read(folder).version == dropped[0]
    assert contents(letters / "stores" / "c") == contents(
        folder_of(taken_in(tmp_path / "export", tmp_path / "c").manifest, tmp_path)
    )


def folder_of(manifest: Manifest, root: Path) -> Path:
    return root / manifest.collection


def test_a_damaged_collection_is_not_exported(letters: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(letters / "stores" / "c", tmp_path / "stores" / "c")
    vectors = live(folder) / "embeddings" / "vectors.npy"
    vectors.write_bytes(vectors.read_bytes()[:-4])
    with pytest.raises(DamagedStore, match=r"vectors.npy is not as it was written.*repair"):
        export_collection(folder, tmp_path / "out" / "export", silent)
    assert list((tmp_path / "out").iterdir()) == []


def test_an_export_says_what_it_holds(written: Path) -> None:
    said = json.loads((written / "manifest.json").read_text())
    assert said["counts"] == {
        "documents": 4,
        "passages": len(lines(written / "passages.jsonl")),
    } | {"sources": 4}
    assert [(c["id"], c["label"], c["language"]) for c in said["corpora"]] == [
        ("farm", "Farm", "en"),
        ("town", "Town", "en"),
    ]
    (sheep,) = (d for d in lines(written / "documents.jsonl") if d["id"] == "farm.sheep")
    assert (sheep["title"], sheep["date"], sheep["metadata"]["rank"]) == ("On sheep", "1901", 2.5)
    for passage in lines(written / "passages.jsonl"):
        document = {d["id"]: d for d in lines(written / "documents.jsonl")}[passage["document_id"]]
        assert document["text"][passage["start"] : passage["end"]].strip()
    assert "docs/backup.md" in (written / "README.txt").read_text()
