"""A real Chromium with the page of a real server, opened anew for every test."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from atlas_search.building.flow import BuildReport
from tests.browser import chromium
from tests.chat_server import KEY
from tests.conftest import require
from tests.openai_server import OpenAIServer, openai_server
from tests.page.watching import EXPECT_MILLISECONDS, watched
from tests.places import ROOT
from tests.servers import ATLAS, running

TARGETS = {
    "model": "LLM_PROVIDER=openai",
    "judged": "LLM_PROVIDER=openai\nVERIFY=model",
    "keyless": "LLM_PROVIDER=mistral",
    "replaced": "LLM_PROVIDER=mistral\nLLM_MODEL=mistral-small\nLLM_FALLBACK=extractive",
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
    """The language model of the target `model`."""
    with openai_server() as started:
        yield started


@pytest.fixture(scope="package")
def server(
    stores: Path, demo: BuildReport, phoenix: str, model: OpenAIServer, tmp_path_factory
) -> Iterator[str]:
    """A real server of the bundled collection, with TARGETS and the default one; its address."""
    folder = tmp_path_factory.mktemp("browser")
    shutil.copy(ROOT / "targets" / "k10_extractive.txt", folder)
    for name, lines in TARGETS.items():
        (folder / f"{name}.txt").write_text(lines)
    environment = {
        "CHROMA_PERSIST_DIRECTORY": str(stores),
        "CHROMA_COLLECTION_NAME": demo.manifest.collection,
        "ATLAS_PORT": "0",
        "PHOENIX_COLLECTOR_ENDPOINT": phoenix,
        "TARGETS_DIRECTORY": str(folder),
        "OPENAI_BASE_URL": model.address,
        "OPENAI_API_KEY": KEY,
    }
    with running(*ATLAS, "serve", environment=environment, folder=folder) as started:
        yield started.address("Atlas")


@pytest.fixture
def page(browser: Browser, server: str) -> Iterator[Page]:
    """The page, opened; what it does wrong fails the test, unless `expect_faults` says so."""
    with watched(browser) as context:
        opened = context.new_page()
        opened.goto(server)
        expect(opened.locator("select#collection option")).to_have_count(5)
        yield opened
