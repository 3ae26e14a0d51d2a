"""What a server was handed can be built again from the files it keeps."""

import shutil
from pathlib import Path

import pytest

from atlas_search.building.chunking import chunking
from atlas_search.server.ingest.work import build_kept
from atlas_search.stores.manifest import Manifest
from tests.hash_embedder import HashEmbedder
from tests.tiny import document_ids, live, silent, write_sources
from tests.upkeep.damage import Atlas, lose


def test_damaged_documents_come_back_from_the_kept_files(
    tmp_path: Path, folder: Path, atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INGEST_ROOT", str(tmp_path / "ingest"))
    kept = write_sources(tmp_path / "ingest" / "c", {"garden/bees.txt": "Bees give honey.\n"})
    build_kept(kept, folder, HashEmbedder(), silent, cut=chunking(size=300))
    lose("records.sqlite")(live(folder))
    code, _, error = atlas("repair")
    assert code == 1
    assert "`atlas store ingest c --force`" in error
    code, _, error = atlas("ingest", "c", "--force")
    assert code == 0, error
    assert document_ids(folder) == ["garden.bees"]
    assert Manifest.read(folder).origins["ingest"].size == 300


def test_a_lost_collection_comes_back_from_the_kept_files(
    tmp_path: Path, folder: Path, atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INGEST_ROOT", str(tmp_path / "ingest"))
    write_sources(tmp_path / "ingest" / "c", {"garden/bees.txt": "Bees give honey.\n"})
    shutil.rmtree(folder)
    code, _, error = atlas("ingest", "c")
    assert code == 0, error
    assert document_ids(folder) == ["garden.bees"]


def test_without_kept_files_that_is_said(
    tmp_path: Path, folder: Path, atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INGEST_ROOT", str(tmp_path / "ingest"))
    code, _, error = atlas("ingest", "c")
    assert code == 1
    assert "Check INGEST_ROOT." in error
