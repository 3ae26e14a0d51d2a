"""A server of the open corpus and the vault, a key that sees the one, and a key that sees both."""

from pathlib import Path

import pytest
from flask.testing import FlaskClient

from atlas_search import Atlas
from atlas_search.server.access.keys import KeyFile, add_key
from tests.server.two_corpora import COLLECTION, OPEN, Signed, guard
from tests.servers import app_of


@pytest.fixture
def narrow_key(keys_file: Path) -> str:
    return add_key(KeyFile(keys_file), "narrow", corpora={COLLECTION: [OPEN]}).text


@pytest.fixture
def whole_key(keys_file: Path) -> str:
    return add_key(KeyFile(keys_file), "whole").text


@pytest.fixture
def guarded(parish: Atlas, keys_file: Path, narrow_key: str, whole_key: str) -> Atlas:
    return guard(parish, keys_file)


@pytest.fixture
def client(guarded: Atlas) -> FlaskClient:
    return app_of(guarded).test_client()


@pytest.fixture
def narrow(client: FlaskClient, narrow_key: str) -> Signed:
    return Signed(client, narrow_key)


@pytest.fixture
def whole(client: FlaskClient, whole_key: str) -> Signed:
    return Signed(client, whole_key)
