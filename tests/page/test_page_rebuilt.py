"""A store that is built anew while the page is open, and a server that is started again."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from tests.hash_embedder import HashEmbedder
from tests.ingest.handing import settings_for
from tests.page.asking import ask, latest
from tests.page.watching import watched
from tests.servers import served
from tests.tiny import FARM, build_tiny, write_sources

pytestmark = pytest.mark.browser
GOATS = {"farm/goats.md": "---\ntitle: On goats\n---\nGoats give cheese.\n"}


def test_the_page_goes_on_with_the_new_version(browser: Browser, tmp_path: Path) -> None:
    source, folder = tmp_path / "sources", tmp_path / "stores" / "farm"
    build_tiny(write_sources(source, FARM), folder, HashEmbedder())
    collections = ServedCollections(settings_for(tmp_path, collections="farm"), HashEmbedder())
    with served(create_app(collections)) as address, watched(browser) as context:
        page = context.new_page()
        page.goto(address)
        expect(page.locator("#served")).to_contain_text("3 documents")
        ask(page, "Who gives wool?")
        page.fill("textarea#question", "Who gives cheese?")
        build_tiny(write_sources(source, FARM | GOATS), folder, HashEmbedder())
        collections.refresh("farm")
        page.reload()
        expect(page.locator("#served")).to_contain_text("4 documents")
        # the answer of before stays as it was given, and the question as it was typed
        expect(latest(page).locator("h2")).to_have_text("Who gives wool?")
        expect(page.locator("textarea#question")).to_have_value("Who gives cheese?")
        page.get_by_role("button", name="Ask", exact=True).click()
        expect(latest(page).locator(".sources")).to_contain_text("Goats give cheese.")
    collections.close()
