"""A collection with corpora in two languages, built."""

from pathlib import Path

import pytest

from tests.hash_embedder import HashEmbedder
from tests.languages.german_sources import FILES, mapped
from tests.tiny import build_tiny, write_sources


@pytest.fixture
def hashes() -> HashEmbedder:
    return HashEmbedder()


@pytest.fixture
def folder(tmp_path: Path, hashes: HashEmbedder) -> Path:
    """A collection with a German and an English corpus."""
    source = write_sources(tmp_path / "source", FILES)
    build_tiny(mapped(source), tmp_path / "c", hashes)
    return tmp_path / "c"
