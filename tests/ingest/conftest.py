"""A server over a tiny collection that takes files in, with hashes for vectors."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from atlas_search.core.settings import Settings
from tests.hash_embedder import HashEmbedder
from tests.ingest.handing import COLLECTION, served_by, settings_for
from tests.tiny import FARM, build_tiny, write_sources


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Those of a server of a collection of three documents."""
    stores = tmp_path / "stores"
    build_tiny(write_sources(tmp_path / "source", FARM), stores / COLLECTION, HashEmbedder())
    return settings_for(tmp_path)


@pytest.fixture
def client(settings: Settings) -> Iterator[FlaskClient]:
    """The administrator, at that server."""
    with served_by(settings) as client:
        yield client
