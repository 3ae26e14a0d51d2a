"""A real Chromium and the servers whose page it shows, begun once; the page is opened anew for
every test. `tests/page/test_views.py` is what `make test` runs; the other files are thorough."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from atlas_search.atlas import Atlas
from atlas_search.building.flow import BuildReport
from atlas_search.providers.embedding_local import LocalEmbedder
from tests.browser import chromium
from tests.chat_server import KEY
from tests.cohere_server import cohere_server
from tests.collector import Collector, collecting
from tests.conftest import require
from tests.hash_embedder import HashEmbedder
from tests.openai_server import OpenAIServer, openai_server
from tests.page.documents import library
from tests.page.watching import EXPECT_MILLISECONDS, watched
from tests.places import ROOT
from tests.server.two_corpora import two_corpora
from tests.servers import app_of, served
from tests.zotero_server import ZoteroServer, zotero_server

TARGETS = {
    "model": "LLM_PROVIDER=openai",
    "judged": "LLM_PROVIDER=openai\nVERIFY=model",
    "keyless": "LLM_PROVIDER=mistral",
    "replaced": "LLM_PROVIDER=mistral\nLLM_MODEL=mistral-small\nLLM_FALLBACK=extractive",
    "reread": "RERANKER=cohere",
}

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

Read = Callable[..., dict[str, Any]]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    path = chromium()
    require("browser", present=path is not None, remedy="no Chromium was found: `make browser`")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        expect.set_options(timeout=EXPECT_MILLISECONDS)
        yield opened
        opened.close()


@pytest.fixture(scope="package")
def model() -> Iterator[OpenAIServer]:
    """The language model of the targets `model` and `judged`."""
    with openai_server() as started:
        yield started


@pytest.fixture(scope="package")
def traces() -> Iterator[Collector]:
    """What takes the traces in the place of Phoenix."""
    with collecting() as started:
        yield started


@pytest.fixture(scope="package")
def zotero() -> Iterator[ZoteroServer]:
    with zotero_server() as started:
        yield started


@pytest.fixture(scope="package")
def server(
    stores: Path,
    demo: BuildReport,
    embedder: LocalEmbedder,
    model: OpenAIServer,
    traces: Collector,
    zotero: ZoteroServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[str]:
    """A server of the bundled collection, with TARGETS and the default one; its address."""
    folder = tmp_path_factory.mktemp("page")
    shutil.copy(ROOT / "targets" / "k10_extractive.txt", folder)
    for name, lines in TARGETS.items():
        (folder / f"{name}.txt").write_text(lines)
    with (
        cohere_server() as reranker,
        Atlas.open(
            stores / demo.manifest.collection,
            embedder=embedder,
            targets_directory=folder,
            atlas_state_directory=folder / "state",
            phoenix_collector_endpoint=traces.address,
            otel_bsp_schedule_delay=200,
            openai_base_url=model.address,
            openai_api_key=KEY,
            cohere_server_url=reranker.address,
            cohere_api_key=KEY,
            zotero_address=zotero.address,
        ) as atlas,
        served(app_of(atlas), threads=16) as address,
    ):
        yield address


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser that may use the clipboard; what its pages do wrong fails the test, unless
    `expect_faults` says so."""
    with watched(browser) as opened:
        opened.grant_permissions(["clipboard-read", "clipboard-write"])
        yield opened


@pytest.fixture
def tab(context: BrowserContext) -> Page:
    """An empty tab."""
    return context.new_page()


@pytest.fixture
def page(tab: Page, server: str) -> Page:
    """The page of the bundled collection, opened."""
    return open_page(tab, server)


def open_page(tab: Page, server: str, choices: int = 5) -> Page:
    """The page of a server, once it offers its corpora."""
    tab.goto(server)
    expect(tab.locator("select#collection option")).to_have_count(choices)
    return tab


@pytest.fixture(scope="package")
def parish(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Atlas]:
    """A collection of two corpora, of which one is a vault."""
    folder = tmp_path_factory.mktemp("parish")
    with two_corpora(folder, HashEmbedder(), atlas_state_directory=folder / "state") as opened:
        yield opened


@pytest.fixture(scope="package")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the files to read."""
    return tmp_path_factory.mktemp("library") / "files"


@pytest.fixture(scope="package")
def reading(files: Path) -> Iterator[str]:
    """A server of documents to read, which traces nothing; its address."""
    with library(files) as atlas, served(app_of(atlas), threads=16) as address:
        yield address


@pytest.fixture
def read(tab: Page, reading: str) -> Read:
    """Opens a document by its address, at some words of it; what the API says of it."""

    def open_(document: str, at: str = "", **more: object) -> dict[str, Any]:
        said: dict[str, Any] = httpx2.get(f"{reading}/api/documents/{document}").json()
        place = {"document": document} | more
        if at:
            start = said["text"].index(at)
            place |= {"start": start, "end": start + len(at)}
        tab.goto(f"{reading}/?{urlencode(place)}")
        expect(tab.locator("#reader .document-text")).to_be_attached()
        return said

    return open_
