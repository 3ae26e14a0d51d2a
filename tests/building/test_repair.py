"""`atlas store repair` and a build from sources: what mends each part of a damaged collection."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from atlas_search.building.chunking import chunking
from atlas_search.building.maintain import drop, repair
from atlas_search.building.source_file import CorpusRule
from atlas_search.building.sources import CorpusNote, Sources, by_folder, by_rule
from atlas_search.core.errors import DamagedStore, EmbedderMismatch
from atlas_search.server.ingest.work import build_kept
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.versions import rollback, versions
from tests.building.conftest import AtlasStore
from tests.building.damage import (
    DAMAGE,
    PARTS,
    change,
    chroma,
    damaged,
    exchange_one,
    flip,
    lose,
    problems,
    sql,
)
from tests.hash_embedder import HashEmbedder
from tests.tiny import (
    READERS,
    all_vectors,
    build_tiny,
    contents,
    document_ids,
    index,
    json_lines,
    live,
    rows,
    silent,
    write_sources,
)


def lose_all(folder: Path, *parts: str) -> None:
    for part in parts:
        lose(part)(live(folder))
        (live(folder) / "lost").rename(live(folder) / f"lost {part}")


def test_exact_vectors_are_kept_where_only_files_beside_them_are_lost(folder: Path) -> None:
    """Chroma gives vectors back with an error in the eighth digit."""
    before = Manifest.read(folder).files["embeddings/vectors.npy"]
    lose("embeddings/tokens.npy")(live(folder))
    assert repair(folder, HashEmbedder(), silent)[0].files["embeddings/vectors.npy"] == before


def test_only_vectors_that_are_nowhere_are_embedded(folder: Path) -> None:
    chroma(exchange_one)(live(folder))
    lose("embeddings")(live(folder))
    assert damaged(folder) == ["embeddings", "chroma"]
    assert repair(folder, HashEmbedder(), silent)[2] == 1
    assert damaged(folder) == []
    assert index(folder)["farm"][0] == ["farm.cows:0-15", "farm.sheep:0-16"]


def test_everything_but_the_documents_can_be_made_anew(folder: Path, two: list[str]) -> None:
    before = contents(folder)
    parts = [part for part in PARTS if part != "records.sqlite"]
    lose_all(folder, *parts)
    assert damaged(folder) == parts
    assert repair(folder, HashEmbedder(), silent)[2] == 1  # the version before has three of four
    assert (contents(folder), damaged(folder)) == (before, [])


def test_without_any_vectors_all_are_embedded(folder: Path) -> None:
    lose_all(folder, "embeddings", "chroma")
    hashes = HashEmbedder()
    assert (repair(folder, hashes, silent)[2], hashes.embedded) == (3, 3)
    assert damaged(folder) == []


def test_vectors_of_an_earlier_version_are_not_trusted_if_they_are_damaged(
    folder: Path, two: list[str]
) -> None:
    before = all_vectors(folder)
    flip(folder / two[0] / "embeddings" / "vectors.npy", 130)
    lose("embeddings")(live(folder))
    repair(folder, HashEmbedder(), silent)
    assert np.allclose(all_vectors(folder), before, atol=1e-6)


def test_a_damaged_version_that_is_in_use_is_not_one_to_go_back_to(
    folder: Path, two: list[str], source: Path
) -> None:
    flip(live(folder) / "embeddings" / "vectors.npy", 130)
    served = EmbeddedStore(folder)
    repaired, _, _ = repair(folder, HashEmbedder(), silent)
    assert [m.version for m in versions(folder)] == [repaired.version, two[0]]
    assert served.document("farm.cows").text == "Cows give milk."
    assert rollback(folder).version == two[0]
    served.close()
    build_tiny(source, folder, HashEmbedder())
    assert not (folder / two[1]).exists()


def test_a_repair_keeps_labels_and_origins(folder: Path, source: Path) -> None:
    tables = write_sources(source.parent / "tables", {"port/t.csv": "id,text\n1,Ships.\n"})
    plain = by_folder([tables], READERS["csv"].suffixes, "")
    named = Sources(
        plain.files, (), {"port": CorpusNote(label="The old port", description="Ships.")}
    )
    build_tiny(named, folder, HashEmbedder(), kind="csv")
    before = contents(folder)
    lose("tokens")(live(folder))
    repair(folder, HashEmbedder(), silent)
    assert contents(folder) == before
    assert [c.label for c in Manifest.read(folder).corpora] == ["Farm", "The old port", "Town"]
    assert Manifest.read(folder).corpora[1].description == "Ships."
    assert build_tiny(named, folder, HashEmbedder(), kind="csv").unchanged
    assert build_tiny(source, folder, HashEmbedder()).unchanged


def test_a_repair_leaves_the_work_of_an_unfinished_build(
    folder: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (source / "farm/new.txt").write_text("New.")
    with monkeypatch.context() as patch:
        patch.setattr("atlas_search.building.flow.write_live", _fail)
        with pytest.raises(OSError, match="disk full"):
            build_tiny(source, folder, HashEmbedder())
    lose("tokens")(live(folder))
    repair(folder, HashEmbedder(), silent)
    assert build_tiny(source, folder, HashEmbedder()).read == 0
    assert "farm.new" in document_ids(folder)


def _fail(*_: object) -> None:
    raise OSError("disk full")


def test_a_repair_that_is_broken_off_can_run_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(folder)
    flip(live(folder) / "embeddings/vectors.npy", 200)
    with monkeypatch.context() as patch:
        patch.setattr("atlas_search.building.maintain.write_version", _fail)
        with pytest.raises(OSError, match="disk full"):
            repair(folder, HashEmbedder(), silent)
    assert "embeddings" in damaged(folder)
    assert repair(folder, HashEmbedder(), silent)[2] == 0
    assert (contents(folder), damaged(folder)) == (before, [])


@pytest.mark.thorough
def test_large_indexes_are_checked_and_mended_too(tmp_path: Path) -> None:
    """Up to a thousand vectors Chroma has no index file that could be damaged."""
    texts = {f"d{number:04}": f"Text {number}." for number in range(1100)}
    source = write_sources(tmp_path / "s", {"farm/all.jsonl": json_lines(texts)})
    build_tiny(source, tmp_path / "c", HashEmbedder(), kind="jsonl")
    before = contents(tmp_path / "c")
    (file,) = (live(tmp_path / "c") / "chroma").glob("*/data_level0.bin")
    file.unlink()
    assert damaged(tmp_path / "c") == ["chroma"]
    assert repair(tmp_path / "c", HashEmbedder(), silent)[2] == 0
    assert (contents(tmp_path / "c"), damaged(tmp_path / "c")) == (before, [])


def test_another_model_is_refused_before_anything_is_embedded(folder: Path) -> None:
    other, version = HashEmbedder("other"), Manifest.read(folder).version
    assert repair(folder, other, silent)[2] == 0  # nothing to do
    lose("keywords")(live(folder))
    for work in (
        lambda: repair(folder, other, silent),
        lambda: drop(folder, "town", other, silent),
    ):
        with pytest.raises(EmbedderMismatch, match=r"c was built with hash .*EMBEDDING_MODEL=hash"):
            work()
    assert (other.embedded, Manifest.read(folder).version) == (0, version)


# a build of a live version that is damaged


def test_a_build_does_not_take_over_damaged_vectors(
    source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    flip(live(folder) / "embeddings" / "vectors.npy", -2)
    change(source, {"farm/goats.txt": "Goats climb."})
    build_tiny(source, folder, hashes)
    store = EmbeddedStore(folder)
    for ids, vectors in index(folder).values():
        texts = [store.passage(id_).embedded for id_ in ids]
        assert np.allclose(vectors, HashEmbedder().embed(texts), rtol=1e-3)
    store.close()
    assert not problems(folder)


@pytest.mark.parametrize(
    ("part", "force"),
    [
        *((part, False) for part in ("chroma", "embeddings", "tokens", "words", "keywords")),
        *((part, True) for part in ("tokens", "records.sqlite")),
    ],
)
def test_a_build_from_sources_mends_what_the_live_version_has_lost(
    source: Path, folder: Path, hashes: HashEmbedder, part: str, force: bool
) -> None:
    whole = contents(folder)
    lose(part)(live(folder))
    change(source, {"farm/goats.txt": "Goats climb."})
    build_tiny(source, folder, hashes, force=force)
    change(source, {"farm/goats.txt": None})
    build_tiny(source, folder, hashes, force=force)
    assert contents(folder) == whole


def test_a_build_does_not_forget_other_origins_where_the_live_documents_are_lost(
    two_origins: Path, source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    before = sorted(path.name for path in folder.iterdir())
    (live(folder) / "records.sqlite").unlink()
    with pytest.raises(DamagedStore, match=r"Build it again .*`atlas store rollback c`"):
        build_tiny(source, folder, hashes)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_forced_build_of_a_damaged_collection_keeps_the_version_before(
    two_origins: Path, source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    before, now = sorted(path.name for path in folder.glob("2*"))
    (folder / now / "records.sqlite").unlink()
    build_tiny(source, folder, hashes, force=True)
    assert (folder / before).exists()
    assert not (folder / now).exists()
    build_tiny(two_origins, folder, hashes, kind="csv", force=True)
    assert len(document_ids(folder)) == 7
    assert not problems(folder)


# documents that are damaged need their sources, or an earlier version


def test_damaged_documents_need_their_sources_or_an_earlier_version(
    folder: Path, two: list[str], source: Path, atlas_store: AtlasStore
) -> None:
    flip(live(folder) / "records.sqlite", 5000)
    code, _, error = atlas_store("repair")
    assert code == 1
    assert "The documents of c are damaged: records.sqlite is not as it was written." in error
    assert f"`atlas create txt {source} --collection c --force`" in error
    assert "or go back: `atlas store rollback c`" in error
    assert Manifest.read(folder).version == two[1]
    assert atlas_store("rollback", "c")[0] == 0
    assert damaged(folder) == []


def test_the_command_that_is_named_has_all_options_that_were_given(
    tmp_path: Path, folder: Path, atlas_store: AtlasStore
) -> None:
    source = write_sources(tmp_path / "my tables", {"t.csv": "id,text\n1,Ships.\n"})
    arguments = {
        "source": [str(source)],
        "splitter": "fixed",
        "chunk_size": 500,
        "chunk_overlap": None,
        "chunk_unit": "characters",
        "across_pages": True,
        "corpora": None,
        "corpus": "port",
        "quotes": False,
        "rename": "a=b,c=d",
    }
    sources = by_rule([source], READERS["csv"].suffixes, CorpusRule("port"))
    build_tiny(sources, folder, HashEmbedder(), kind="csv", arguments=arguments)
    lose("records.sqlite")(live(folder))
    _, _, error = atlas_store("repair")
    assert (
        f"`atlas create csv '{source}' --collection c --splitter fixed --chunk-size 500 "
        "--across-pages --corpus port --no-quotes --rename a=b,c=d --force`"
    ) in error
    assert "`atlas create txt " in error


@pytest.mark.parametrize("name", [n for n, (part, _) in DAMAGE.items() if part == "records.sqlite"])
def test_a_forced_build_brings_damaged_documents_back(
    folder: Path, source: Path, whole: tuple[dict[str, Any], NDArray[np.float32]], name: str
) -> None:
    DAMAGE[name][1](live(folder))
    assert build_tiny(source, folder, HashEmbedder(), force=True).embedded == 0
    assert (contents(folder), damaged(folder)) == (whole[0], [])


def test_a_forged_title_does_not_outlive_a_forced_build(folder: Path, source: Path) -> None:
    sql("records.sqlite", "UPDATE documents SET title = 'Forged'")(live(folder))
    build_tiny(source, folder, HashEmbedder(), force=True)
    assert "Forged" not in {row["title"] for row in rows(folder, "SELECT title FROM documents")}


# files that a server was handed and keeps


def test_damaged_documents_come_back_from_the_kept_files(
    tmp_path: Path, folder: Path, atlas_store: AtlasStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INGEST_ROOT", str(tmp_path / "ingest"))
    kept = write_sources(tmp_path / "ingest" / "c", {"garden/bees.txt": "Bees give honey.\n"})
    build_kept(kept, folder, HashEmbedder(), silent, cut=chunking(size=300))
    lose("records.sqlite")(live(folder))
    code, _, error = atlas_store("repair")
    assert code == 1
    assert "`atlas store ingest c --force`" in error
    code, _, error = atlas_store("ingest", "c", "--force")
    assert code == 0, error
    assert document_ids(folder) == ["garden.bees"]
    assert Manifest.read(folder).origins["ingest"].size == 300


def test_a_lost_collection_comes_back_from_the_kept_files(
    tmp_path: Path, folder: Path, atlas_store: AtlasStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INGEST_ROOT", str(tmp_path / "ingest"))
    code, _, error = atlas_store("ingest", "c")
    assert code == 1
    assert "Check INGEST_ROOT." in error
    write_sources(tmp_path / "ingest" / "c", {"garden/bees.txt": "Bees give honey.\n"})
    shutil.rmtree(folder)
    code, _, error = atlas_store("ingest", "c")
    assert code == 0, error
    assert document_ids(folder) == ["garden.bees"]
