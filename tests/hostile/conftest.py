"""A small collection with nothing in it worth attacking, and its server."""

from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from atlas_search import Atlas
from atlas_search.server.app import create_app
from tests.hash_embedder import HashEmbedder
from tests.tiny import FARM, write_sources


@pytest.fixture(scope="package")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Atlas]:
    """Its corpora are `farm` and `town`."""
    root, embedder = tmp_path_factory.mktemp("farm"), HashEmbedder()
    Atlas.build(write_sources(root / "source", FARM), root / "stores" / "c", embedder=embedder)
    with Atlas.open(root / "stores" / "c", embedder=embedder) as opened:
        yield opened


@pytest.fixture(scope="package")
def farm_client(farm: Atlas) -> FlaskClient:
    return create_app(lambda: farm).test_client()
