"""`atlas store repair`: what it keeps, what it embeds again, and what it refuses."""

from pathlib import Path

import numpy as np
import pytest

from atlas_search.building.maintain import drop, repair
from atlas_search.building.sources import Sources, by_folder
from atlas_search.core.errors import EmbedderMismatch
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.versions import rollback, versions
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
    silent,
    write_sources,
)
from tests.upkeep.damage import PARTS, chroma, damaged, exchange_one, flip, lose


def test_exact_vectors_are_kept_where_only_files_beside_them_are_lost(folder: Path) -> None:
    """Chroma gives vectors back with an error in the eighth digit."""
    before = Manifest.read(folder).files["embeddings/vectors.npy"]
    lose("embeddings/tokens.npy")(live(folder))
    assert repair(folder, HashEmbedder(), silent)[0].files["embeddings/vectors.npy"] == before


def test_only_vectors_that_are_nowhere_are_embedded(folder: Path) -> None:
    exchange = chroma(exchange_one)
    exchange(live(folder))
    lose("embeddings")(live(folder))
    assert damaged(folder) == ["embeddings", "chroma"]
    assert repair(folder, HashEmbedder(), silent)[2] == 1
    assert damaged(folder) == []
    assert index(folder)["farm"][0] == ["farm.cows:0-15", "farm.goats:0-18", "farm.sheep:0-16"]


def test_everything_but_the_documents_can_be_made_anew(folder: Path, two: list[str]) -> None:
    before = contents(folder)
    for part in ("ids", "embeddings", "tokens", "words", "keywords", "chroma", "manifest.json"):
        lose(part)(live(folder))
        (live(folder) / "lost").rename(live(folder) / f"lost {part}")
    assert damaged(folder) == [part for part in PARTS if part != "records.sqlite"]
    assert repair(folder, HashEmbedder(), silent)[2] == 0  # the version before has the vectors
    assert (contents(folder), damaged(folder)) == (before, [])


def test_without_any_vectors_all_are_embedded(folder: Path) -> None:
    for part in ("embeddings", "chroma"):
        lose(part)(live(folder))
        (live(folder) / "lost").rename(live(folder) / f"lost {part}")
    hashes = HashEmbedder()
    assert (repair(folder, hashes, silent)[2], hashes.embedded) == (4, 4)
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
    found = by_folder([tables], READERS["csv"].suffixes, "")
    named = Sources(found.files, (), {"port": "The old port"})
    build_tiny(named, folder, HashEmbedder(), kind="csv")
    before = contents(folder)
    lose("tokens")(live(folder))
    repair(folder, HashEmbedder(), silent)
    assert contents(folder) == before
    assert [c.label for c in Manifest.read(folder).corpora] == ["Farm", "The old port", "Town"]
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


def test_large_indexes_are_checked_and_mended_too(tmp_path: Path) -> None:
    """Up to a thousand vectors Chroma has no index file that could be damaged."""
    texts = {f"d{number:04}": f"Text {number}." for number in range(1100)}
    source = write_sources(tmp_path / "s", {"farm/all.jsonl": json_lines(texts)})
    build_tiny(source, tmp_path / "c", HashEmbedder(), kind="jsonl")
    before = contents(tmp_path / "c")
    (found,) = (live(tmp_path / "c") / "chroma").glob("*/data_level0.bin")
    found.unlink()
    assert damaged(tmp_path / "c") == ["chroma"]
    assert repair(tmp_path / "c", HashEmbedder(), silent)[2] == 0
    assert (contents(tmp_path / "c"), damaged(tmp_path / "c")) == (before, [])


def test_another_model_is_refused_before_anything_is_embedded(folder: Path) -> None:
    other, version = HashEmbedder("other"), Manifest.read(folder).version
    assert repair(folder, other, silent)[2] == 0  # nothing to do
    lose("keywords")(live(folder))
    for change in (
        lambda: repair(folder, other, silent),
        lambda: drop(folder, "town", other, silent),
    ):
        with pytest.raises(EmbedderMismatch, match=r"c was built with hash .*EMBEDDING_MODEL=hash"):
            change()
    assert (other.embedded, Manifest.read(folder).version) == (0, version)
