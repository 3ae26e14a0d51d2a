"""A small collection whose answers can be rated."""

from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from atlas_search import Atlas
from tests.server.two_corpora import QUESTION, client_of

ASKED = {"question": QUESTION, "qa_id": "q1", "include_context": True}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def client(parish: Atlas, state: Path) -> FlaskClient:
    """A server where no keys are used."""
    return server_of(parish, state)


@pytest.fixture
def answer(client: FlaskClient) -> dict[str, Any]:
    return client.post("/api/ask", json=ASKED).get_json()


def server_of(parish: Atlas, state: Path, **settings: object) -> FlaskClient:
    """A server of the collection that keeps its votes below `state`."""
    return client_of(parish, None, atlas_state_directory=state, **settings)
