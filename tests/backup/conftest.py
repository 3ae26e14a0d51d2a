"""A small collection, and what `atlas store export` makes of it."""

from pathlib import Path

import pytest

from atlas_search.building.backup import export_collection
from tests.backup.exports import LETTERS, copied
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, silent, write_sources


@pytest.fixture(scope="package")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with sources, and with the collection that they make."""
    root = tmp_path_factory.mktemp("letters")
    source = write_sources(root / "source", LETTERS)
    build_tiny(source, root / "stores" / "c", HashEmbedder())
    return root


@pytest.fixture(scope="package")
def written(letters: Path) -> Path:
    """Its export, not to be changed."""
    export_collection(letters / "stores" / "c", letters / "export", silent)
    return letters / "export"


@pytest.fixture
def export(written: Path, tmp_path: Path) -> Path:
    """A copy of the export."""
    return copied(written, tmp_path / "export")
