"""A small collection with its sources."""

from pathlib import Path

import pytest

from atlas_search.building.document_ids import Changes
from tests.hash_embedder import HashEmbedder
from tests.tiny import FARM, build_tiny, write_sources
from tests.updates.changes import TABLE


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_sources(tmp_path / "source", FARM)


@pytest.fixture
def folder(tmp_path: Path, source: Path) -> Path:
    """A collection that was built from `source` with another embedder object."""
    build_tiny(source, tmp_path / "c", HashEmbedder())
    return tmp_path / "c"


@pytest.fixture
def hashes() -> HashEmbedder:
    """Counts only what is embedded after the first build."""
    return HashEmbedder()


@pytest.fixture
def two_origins(tmp_path: Path, folder: Path, hashes: HashEmbedder) -> Path:
    """The folder of tables that went into the collection after the texts."""
    tables = write_sources(tmp_path / "tables", {"port/ships.csv": TABLE, "farm/eggs.csv": TABLE})
    report = build_tiny(tables, folder, hashes, kind="csv")
    assert (report.changes, report.embedded) == (Changes(4, 0, 3, 0), 2)
    return tables
