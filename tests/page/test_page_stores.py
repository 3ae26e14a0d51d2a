"""A server of several collections: the page lets choose one, and stays with it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from tests.collections.conftest import SEA
from tests.hash_embedder import HashEmbedder
from tests.ingest.handing import settings_for
from tests.page.watching import watched
from tests.servers import served
from tests.tiny import FARM, build_tiny, write_sources

pytestmark = pytest.mark.browser


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, files in {"farm": FARM, "sea": SEA}.items():
        source = write_sources(tmp_path / "sources" / name, files)
        build_tiny(source, tmp_path / "stores" / name, HashEmbedder())
    return tmp_path


@pytest.fixture
def plain(browser: Browser) -> Iterator[Page]:
    with watched(browser) as context:
        yield context.new_page()


def test_another_collection_is_chosen_and_kept(plain: Page, folder: Path) -> None:
    collections = ServedCollections(settings_for(folder, collections="farm,sea"), HashEmbedder())
    with served(create_app(collections)) as address:
        plain.goto(address)
        expect(plain.locator("#served")).to_have_text("Collection farm: 3 documents in 2 corpora")
        plain.get_by_label("Store").select_option("sea")
        expect(plain.locator("#served")).to_have_text("Collection sea: 2 documents in 1 corpus")
        assert plain.url == f"{address}/?collection=sea"
        expect(plain.get_by_label("Store")).to_have_value("sea")
        plain.get_by_label("Question").fill("Who gives oil?")
        plain.get_by_role("button", name="Ask", exact=True).click()
        expect(plain.locator("#answers article").first).to_contain_text("Searched 1 corpus")
        plain.goto(f"{address}/?collection=sea&passage=sea.fish:0-14")
        reader = plain.locator("#reader")
        expect(reader).to_contain_text("Fish give oil.")
        link = reader.get_by_role("link", name="Link to this passage")
        expect(link).to_have_attribute("href", f"{address}/?collection=sea&passage=sea.fish%3A0-14")
        plain.goto(f"{address}/?collection=sea")
        plain.get_by_label("Store").select_option("farm")
        expect(plain.locator("#served")).to_contain_text("Collection farm")
        assert plain.url == f"{address}/"
    collections.close()


def test_one_that_is_not_served_is_said(plain: Page, folder: Path) -> None:
    collections = ServedCollections(settings_for(folder, collections="farm,sea"), HashEmbedder())
    with served(create_app(collections)) as address:
        plain.goto(f"{address}/?collection=wood é")
        expect(plain.locator("#page-alert")).to_contain_text("Served are: farm, sea.")
        plain.get_by_label("Store").select_option("sea")
        expect(plain.locator("#served")).to_contain_text("Collection sea")
    collections.close()


def test_of_a_single_one_nothing_is_offered(plain: Page, folder: Path) -> None:
    collections = ServedCollections(settings_for(folder), HashEmbedder())
    with served(create_app(collections)) as address:
        plain.goto(address)
        expect(plain.locator("#served")).to_contain_text("Collection farm")
        expect(plain.get_by_label("Store")).to_have_count(0)
    collections.close()
