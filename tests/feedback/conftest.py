"""A small collection whose answers can be rated."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from atlas_search import Atlas
from atlas_search.server.app import create_app
from tests.access.conftest import guard
from tests.access.two_corpora import QUESTION, two_corpora
from tests.hash_embedder import HashEmbedder

ASKED = {"question": QUESTION, "qa_id": "q1", "include_context": True}


@pytest.fixture(scope="package")
def parish(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Atlas]:
    with two_corpora(tmp_path_factory.mktemp("parish"), HashEmbedder()) as opened:
        yield opened


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def client(parish: Atlas, state: Path) -> FlaskClient:
    """A server where no keys are used."""
    return server_of(parish, state)


@pytest.fixture
def answer(client: FlaskClient) -> dict:
    """An answer that was given."""
    return client.post("/api/ask", json=ASKED).get_json()


def server_of(parish: Atlas, state: Path, **settings: object) -> FlaskClient:
    """A server of the collection that keeps its votes below `state`."""
    atlas = guard(parish, None, atlas_state_directory=state, **settings)
    return create_app(lambda: atlas).test_client()
