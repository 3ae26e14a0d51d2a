"""Words near the hits, and words that set what is looked through apart."""

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.versions import WORDS
from tests.hash_embedder import HashEmbedder
from tests.ingest.handing import settings_for
from tests.page.words import asked, count, open_words
from tests.servers import served
from tests.tiny import FARM, build_tiny, live, write_sources

pytestmark = pytest.mark.browser


def test_words_near_open_their_places(page: Page, server: str) -> None:
    view = count(page, "libel*", "Near words")
    body = {"query": "libel*", "function_words": False, "limit": 500}
    api = asked(server, "collocates", **body)["collocates"]
    found = view.locator("tbody tr")
    expect(found).to_have_count(len(api))
    assert [row.locator("th").inner_text() for row in found.all()] == [c["word"] for c in api]
    view.get_by_role("button", name="Closeness").click()
    closest = max(api, key=lambda each: each["log_dice"])
    expect(found.first.locator("td").last).to_have_text(f"{closest['log_dice']:.2f}".rstrip("0"))
    view.get_by_text("What the figures mean").click()
    expect(view).to_contain_text("Above 3.84 chance does it once in twenty times")
    view.get_by_role("button", name=f"Lines of {api[0]['word']}", exact=True).click()
    expect(page.get_by_label("Words to count")).to_have_value(api[0]["query"])
    expect(view.locator(".words-said")).to_contain_text(f"{api[0]['near']} hit")


def test_words_that_set_a_corpus_apart(page: Page, server: str) -> None:
    view = open_words(page)
    page.get_by_label("Collection").select_option("legislation_nz")
    view.get_by_role("tab", name="Setting apart").click()
    page.get_by_label("In at least so many documents").fill("2")
    page.get_by_role("button", name="Count", exact=True).click()
    body = {"corpus_filter": "legislation_nz", "min_documents": 2, "function_words": False}
    api = asked(server, "keywords", **body, limit=500)["keywords"]
    found = view.locator("tbody tr")
    expect(found).to_have_count(len(api))
    assert found.first.locator("th").inner_text() == api[0]["word"]
    view.get_by_role("button", name=f"Lines of {api[0]['word']}", exact=True).click()
    expect(view.locator(".words-said")).to_contain_text(f"{api[0]['frequency']} hit")


def test_a_collection_without_words_says_what_to_do(browser: Browser, tmp_path: Path) -> None:
    source = write_sources(tmp_path / "source", FARM)
    folder = tmp_path / "stores" / "farm"
    build_tiny(source, folder, HashEmbedder())
    without_words(folder)
    collections = ServedCollections(settings_for(tmp_path), HashEmbedder())
    context = browser.new_context()
    with served(create_app(collections)) as address:
        page = context.new_page()
        page.goto(f"{address}/?view=words&q=wool&tab=lines")
        problem = page.locator("#words-problem").get_by_role("alert")
        expect(problem).to_contain_text("Run `atlas store repair farm`")
        expect(page.get_by_label("Words to count")).to_have_value("wool")
    context.close()
    collections.close()


def without_words(folder: Path) -> None:
    """Leave what an Atlas before words of whole documents wrote."""
    manifest = Manifest.read(folder)
    shutil.rmtree(live(folder) / WORDS)
    kept = {name: d for name, d in manifest.files.items() if name.split("/")[0] != WORDS}
    sizes = {part: size for part, size in manifest.sizes.items() if part != WORDS}
    manifest.model_copy(update={"files": kept, "sizes": sizes}).write(folder)
