"""Small collections, built once, and what opens them."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from pydantic import SecretStr

from atlas_search import Atlas
from atlas_search.core.settings import Settings
from atlas_search.server.state import OpenState, open_states
from tests.hash_embedder import HashEmbedder
from tests.postgres import Postgres, postgres
from tests.server.two_corpora import two_corpora
from tests.servers import app_of
from tests.tiny import FARM, build_tiny, write_sources

SEA = {"sea/fish.txt": "Fish give oil.\n", "sea/ships.txt": "Ships carry cloth.\n"}
WOOD = {"wood/trees.txt": "Trees give timber.\n"}


@pytest.fixture(scope="session")
def parish(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Atlas]:
    """The collection of an open corpus and a vault."""
    with two_corpora(tmp_path_factory.mktemp("parish"), HashEmbedder()) as opened:
        yield opened


@pytest.fixture(scope="session")
def farm_stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the collection `farm` of three documents, only to be read or copied."""
    root = tmp_path_factory.mktemp("farm")
    build_tiny(write_sources(root / "source", FARM), root / "stores" / "farm", HashEmbedder())
    return root / "stores"


@pytest.fixture(scope="session")
def three_stores(farm_stores: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `sea` and `wood` beside `farm`, only to be read or copied."""
    root = tmp_path_factory.mktemp("three")
    shutil.copytree(farm_stores, root / "stores")
    for name, files in {"sea": SEA, "wood": WOOD}.items():
        build_tiny(write_sources(root / name, files), root / "stores" / name, HashEmbedder())
    return root / "stores"


@pytest.fixture
def own_stores(farm_stores: Path, tmp_path: Path) -> Path:
    """A copy of that folder, to be changed."""
    return Path(shutil.copytree(farm_stores, tmp_path / "stores"))


@pytest.fixture(scope="session")
def farm(farm_stores: Path) -> Iterator[Atlas]:
    """Its corpora are `farm` and `town`."""
    with Atlas.open(farm_stores / "farm", embedder=HashEmbedder()) as opened:
        yield opened


@pytest.fixture(scope="session")
def farm_client(farm: Atlas) -> FlaskClient:
    return app_of(farm).test_client()


@pytest.fixture
def keys_file(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


@pytest.fixture(scope="session")
def database() -> Iterator[Postgres]:
    with postgres() as server:
        yield server


@pytest.fixture(params=["files", "postgres"])
def kept_in(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """Settings of where state is kept, once in files and once in a new database."""
    url = request.getfixturevalue("database").url() if request.param == "postgres" else ""
    return {"atlas_state_directory": tmp_path / "state", "state_url": SecretStr(url)}


@pytest.fixture
def open_state(kept_in: dict[str, Any]) -> OpenState:
    return open_states(Settings(**kept_in))
