"""A collection of an open corpus and of a vault, whose every word of its own is a planted one; and
servers of it that ask for keys."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from flask.testing import FlaskClient
from pydantic import SecretStr

from atlas_search import Atlas
from atlas_search.providers.embedding import Embedder
from tests.servers import app_of
from tests.tiny import write_sources

COLLECTION = "parish"
TOKEN = "the administrator's word"
OPEN = "meadow"
VAULT = "zqxvault"
PLANTED = "zqx"
"""Begins every word that only the vault has: corpus, label, file, title, text, field and value."""
QUESTION = "Who keeps the granite bridge over the river in repair?"
SECRET_QUESTION = "Who holds the zqxamulet in the zqxtower?"
SOURCES = {
    f"{OPEN}/bridge.md": "---\ntitle: The granite bridge\nauthor: Alma Reed\ndate: 1931\n---\n"
    "The parish keeps the granite bridge over the river in repair.\n\n"
    "The miller pays a toll for every cart that crosses the granite bridge.\n",
    f"{OPEN}/mill.md": "---\ntitle: The mill\nauthor: Alma Reed\ndate: 1934\n---\n"
    "The miller grinds the corn of the parish in autumn, and keeps a tenth of it.\n",
    f"{VAULT}/zqxfile.md": "---\ntitle: The zqxtitle of the granite bridge\nauthor: Zqxauthor\n"
    "zqxfield: zqxvalue\ndate: 1977\n---\n"
    "The zqxwarden keeps the granite bridge over the river in repair.\n\n"
    "The zqxwarden holds the zqxamulet in the zqxtower until the winter, by the zqxtitle.\n",
}
MAPPING = f"""
[[corpus]]
id = "{OPEN}"
label = "The meadow"
include = ["{OPEN}/**"]

[[corpus]]
id = "{VAULT}"
label = "The zqxlabel"
include = ["{VAULT}/**"]
"""


def two_corpora(folder: Path, embedder: Embedder, **settings: object) -> Atlas:
    """The collection, built below `folder` and open."""
    sources = write_sources(folder / "sources", SOURCES | {"corpora.toml": MAPPING})
    Atlas.build(sources, folder / "stores" / "parish", embedder=embedder)
    return _open(folder, embedder, settings)


def build_open(folder: Path, embedder: Embedder) -> Atlas:
    """A collection of the open corpus alone, which never held the vault; open."""
    own = {name: text for name, text in SOURCES.items() if name.startswith(OPEN)}
    mapping = f"[[corpus]]{MAPPING.split('[[corpus]]')[1]}"
    sources = write_sources(folder / "sources", own | {"corpora.toml": mapping})
    Atlas.build(sources, folder / "stores" / "parish", embedder=embedder)
    return _open(folder, embedder, {})


def _open(folder: Path, embedder: Embedder, settings: Mapping[str, object]) -> Atlas:
    """The collection, with a target that answers however unlikely it is."""
    targets = folder / "targets"
    targets.mkdir(exist_ok=True)
    (targets / "certain.txt").write_text("ANSWER_THRESHOLD=0\nANSWER_LIKELIHOOD=0\n")
    chosen = {"targets_directory": targets, "test_target": "certain"} | settings
    return Atlas.open(folder / "stores" / "parish", embedder=embedder, **chosen)


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


def guard(atlas: Atlas, keys_file: Path | None, **settings: object) -> Atlas:
    """Give the collection a file of keys, and other settings."""
    services = atlas.services
    own = {"api_keys_file": keys_file, "atlas_admin_token": SecretStr(TOKEN)}
    state = services.settings.chroma_persist_directory.parent / "state"
    changed = own | {"atlas_state_directory": state} | settings
    copy = services.settings.model_copy(update=changed)
    return Atlas(replace(services, settings=copy, targets=dict(services.targets)))


def client_of(atlas: Atlas, keys_file: Path | None, **settings: object) -> FlaskClient:
    """A client of a server of the guarded collection, without a key."""
    guarded = guard(atlas, keys_file, **settings)
    # no context manager: a test with two clients would mix their contexts
    return app_of(guarded).test_client()
