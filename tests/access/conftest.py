"""A collection of two corpora, and a file of keys to it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from pydantic import SecretStr

from atlas_search import Atlas
from atlas_search.server.access.keys import add_key
from atlas_search.server.app import create_app
from tests.access.two_corpora import OPEN, two_corpora
from tests.hash_embedder import HashEmbedder

COLLECTION = "parish"
TOKEN = "the administrator's word"


class Signed:
    """A client that sends one key with everything."""

    def __init__(self, client: FlaskClient, key: str):
        self.client = client
        self.headers = {"Authorization": f"Bearer {key}"}

    def get(self, path: str, **options: Any) -> Any:
        return self.client.get(path, headers=self.headers, **options)

    def post(self, path: str, body: object, **options: Any) -> Any:
        return self.client.post(path, json=body, headers=self.headers, **options)

    def open(self, method: str, path: str, **options: Any) -> Any:
        return self.client.open(path, method=method, headers=self.headers, **options)


@pytest.fixture(scope="package")
def parish(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Atlas]:
    with two_corpora(tmp_path_factory.mktemp("parish"), HashEmbedder()) as opened:
        yield opened


@pytest.fixture
def keys_file(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


@pytest.fixture
def narrow_key(keys_file: Path) -> str:
    """A key that sees the open corpus alone."""
    return add_key(keys_file, "narrow", corpora={COLLECTION: [OPEN]}).text


@pytest.fixture
def whole_key(keys_file: Path) -> str:
    """A key that sees everything."""
    return add_key(keys_file, "whole").text


@pytest.fixture
def guarded(parish: Atlas, keys_file: Path, narrow_key: str, whole_key: str) -> Atlas:
    """The collection with settings that name the file of keys."""
    return guard(parish, keys_file)


@pytest.fixture
def client(guarded: Atlas) -> FlaskClient:
    # no context manager: a test with two clients would mix their contexts
    return create_app(lambda: guarded).test_client()


@pytest.fixture
def narrow(client: FlaskClient, narrow_key: str) -> Signed:
    return Signed(client, narrow_key)


@pytest.fixture
def whole(client: FlaskClient, whole_key: str) -> Signed:
    return Signed(client, whole_key)


def guard(atlas: Atlas, keys_file: Path | None, **settings: object) -> Atlas:
    """The same collection with a file of keys, and other settings."""
    services = atlas.services
    own = {"api_keys_file": keys_file, "atlas_admin_token": SecretStr(TOKEN)}
    state = services.settings.chroma_persist_directory.parent / "state"
    changed = own | {"atlas_state_directory": state} | settings
    copy = services.settings.model_copy(update=changed)
    return Atlas(replace(services, settings=copy, targets=dict(services.targets)))
