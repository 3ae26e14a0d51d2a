"""A server of documents to read: a PDF, Markdown, a long text, a debate; and ways to open them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
from playwright.sync_api import Page, expect

from atlas_search import Atlas
from atlas_search.building.sources import by_folder
from atlas_search.server.app import create_app
from tests.cited_places import PartsReader
from tests.hash_embedder import HashEmbedder
from tests.page.reader.sources import write_debates, write_files
from tests.servers import served

Open = Callable[..., dict[str, Any]]


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real server of documents to read; its address."""
    root = tmp_path_factory.mktemp("reading")
    collection = root / "stores" / "reading"
    write_files(root / "files")
    write_debates(root / "debates")
    Atlas.build(root / "files", collection, embedder=HashEmbedder())
    Atlas.build(
        root / "debates",
        collection,
        kind="debates",
        reader=PartsReader(),
        locate=lambda paths, reader, _: by_folder(paths, reader.suffixes, ""),
        embedder=HashEmbedder(),
    )
    state = root / "state"
    with (
        Atlas.open(collection, embedder=HashEmbedder(), atlas_state_directory=state) as atlas,
        served(create_app(lambda: atlas)) as address,
    ):
        yield address


@pytest.fixture
def files(server: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the files."""
    return next(tmp_path_factory.getbasetemp().glob("reading*/files"))


@pytest.fixture
def read(page: Page, server: str) -> Open:
    """Opens a document by its address, at some words of it; what the API says of it."""

    def open_(document: str, at: str = "", **more: object) -> dict[str, Any]:
        found = httpx2.get(f"{server}/api/documents/{document}").json()
        place = {"document": document} | more
        if at:
            start = found["text"].index(at)
            place |= {"start": start, "end": start + len(at)}
        page.goto(f"{server}/?{urlencode(place)}")
        expect(page.locator("#reader .document-text")).to_be_attached()
        return found

    return open_
