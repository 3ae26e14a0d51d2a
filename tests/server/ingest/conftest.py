"""A server over a tiny collection that takes files in, with hashes for vectors."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from atlas_search.core.settings import Settings
from tests.server.ingest.handing import served_by, settings_for


@pytest.fixture
def settings(own_stores: Path) -> Settings:
    return settings_for(own_stores.parent)


@pytest.fixture
def client(settings: Settings) -> Iterator[FlaskClient]:
    """The administrator, at that server."""
    with served_by(settings) as client:
        yield client
