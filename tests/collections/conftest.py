"""A folder of three tiny collections, and a server that serves them."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from atlas_search.core.settings import Settings
from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from tests.hash_embedder import HashEmbedder
from tests.ingest.handing import ADMINISTRATOR, settings_for
from tests.tiny import FARM, build_tiny, write_sources

SEA = {"sea/fish.txt": "Fish give oil.\n", "sea/ships.txt": "Ships carry cloth.\n"}
WOOD = {"wood/trees.txt": "Trees give timber.\n"}


@pytest.fixture(scope="package")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The collections, to be copied: no test needs builds of its own."""
    root = tmp_path_factory.mktemp("collections")
    for name, files in {"farm": FARM, "sea": SEA, "wood": WOOD}.items():
        source = write_sources(root / "sources" / name, files)
        build_tiny(source, root / "stores" / name, HashEmbedder())
    return root


@pytest.fixture
def settings(built: Path, tmp_path: Path) -> Settings:
    """Those of a server of `farm`, with `sea` and `wood` beside it."""
    shutil.copytree(built, tmp_path, dirs_exist_ok=True)
    return settings_for(tmp_path, collections="farm, sea")


@pytest.fixture
def served(settings: Settings) -> Iterator[ServedCollections]:
    opened = ServedCollections(settings, HashEmbedder())
    yield opened
    opened.close()


@pytest.fixture
def client(served: ServedCollections) -> FlaskClient:
    """The administrator, at that server."""
    client = create_app(served).test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = ADMINISTRATOR["Authorization"]
    return client
