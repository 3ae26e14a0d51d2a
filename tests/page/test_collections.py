"""A server of several collections, of which one is chosen; a collection that is built anew; and one
with gaps: refused files, years without a document, hits without a year."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from atlas_search.core.settings import Settings
from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from atlas_search.server.serving import Serving
from tests.hash_embedder import HashEmbedder
from tests.page.asking import ask, latest
from tests.servers import served
from tests.tiny import FARM, build_tiny, write_sources

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
MARKUP = "<img src=x onerror=alert(1)>"
COLLECTIONS = {
    "farm": FARM,
    "sea": {"sea/fish.txt": "Fish give oil.\n", "sea/ships.txt": "Ships carry cloth.\n"},
    "gaps": {
        "north/a.md": "---\ntitle: Apples & <pears\ndate: 1901\n---\nA strike. A strike again.\n",
        "north/b.md": "---\ntitle: Boats\ndate: 1904\n---\nNobody spoke of it.\n",
        "north/c.md": "---\ntitle: Carts\ndate: 1901\n---\nNo strike here.\n",
        "south/d.md": f"---\ntitle: Undated\n---\nA strike of {MARKUP} no year.\n",
        "south/empty.txt": " \n",
        "south/hollow.txt": "",
    },
    "years": {
        f"west/{year}.md": f"---\ndate: {year}\n---\n{'Early ' * 6 if year < 1903 else 'Late '}.\n"
        for year in (1901, 1902, 1903, 1904)
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("collections")


@pytest.fixture(scope="module")
def collections(folder: Path) -> Iterator[ServedCollections]:
    for name, files in COLLECTIONS.items():
        make(folder, name, files)
    settings = Settings(
        chroma_persist_directory=folder / "stores",
        chroma_collection_name="farm",
        collections=",".join(COLLECTIONS),
        atlas_state_directory=folder / "state",
    )
    opened = ServedCollections(Serving(settings, HashEmbedder()))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def address(collections: ServedCollections) -> Iterator[str]:
    with served(create_app(collections), threads=8) as started:
        yield started


def make(folder: Path, name: str, files: Mapping[str, str]) -> None:
    source = write_sources(folder / "sources" / name, files)
    build_tiny(source, folder / "stores" / name, HashEmbedder())


def test_another_collection_is_chosen_and_kept(tab: Page, address: str) -> None:
    store, held = tab.get_by_label("Store"), tab.locator("#served")
    tab.goto(address)
    expect(held).to_contain_text("Ask 3 documents in 2 corpora.")
    store.select_option("sea")
    expect(held).to_contain_text("Ask 2 documents in 1 corpus.")
    assert tab.url == f"{address}/?collection=sea"
    expect(store).to_have_value("sea")
    expect(ask(tab, "Who gives oil?")).to_contain_text("Searched 1 corpus")
    tab.goto(f"{address}/?collection=sea&passage=sea.fish:0-14")
    reader = tab.locator("#reader")
    expect(reader).to_contain_text("Fish give oil.")
    link = reader.get_by_role("link", name="Link to this passage")
    expect(link).to_have_attribute("href", f"{address}/?collection=sea&passage=sea.fish%3A0-14")
    tab.goto(f"{address}/?collection=sea")
    store.select_option("farm")
    expect(held).to_contain_text("Ask 3 documents")
    assert tab.url == f"{address}/"
    tab.goto(f"{address}/?collection=wood é")
    expect(tab.locator("#page-alert")).to_contain_text("Served: farm, ")
    store.select_option("sea")
    expect(held).to_contain_text("Ask 2 documents")


def test_of_a_single_collection_nothing_is_offered(page: Page) -> None:
    expect(page.get_by_label("Store")).to_have_count(0)


def test_the_page_goes_on_with_a_collection_that_is_built_anew(
    tab: Page, address: str, collections: ServedCollections, folder: Path
) -> None:
    tab.goto(f"{address}/?collection=sea")
    expect(tab.locator("#served")).to_contain_text("2 documents")
    ask(tab, "Who carries cloth?")
    tab.fill("textarea#question", "Who gives ink?")
    try:
        make(folder, "sea", COLLECTIONS["sea"] | {"sea/squid.txt": "Squids give ink.\n"})
        collections.refresh("sea")
        tab.reload()
        expect(tab.locator("#served")).to_contain_text("3 documents")
        # the answer of before stays as it was given, and the question as it was typed
        expect(latest(tab).locator("h2")).to_have_text("Who carries cloth?")
        expect(tab.locator("textarea#question")).to_have_value("Who gives ink?")
        tab.get_by_role("button", name="Ask", exact=True).click()
        expect(latest(tab).locator(".sources")).to_contain_text("Squids give ink.")
    finally:
        make(folder, "sea", COLLECTIONS["sea"])
        collections.refresh("sea")


def test_refused_files_and_missing_years_are_told_on_a_phone_too(tab: Page, address: str) -> None:
    tab.set_viewport_size({"width": 360, "height": 740})
    tab.goto(f"{address}/?collection=gaps&view=about")
    refused = tab.get_by_role("region", name="What was refused")
    expect(refused).to_contain_text("Of 6 files that were read, 2 gave no document.")
    expect(refused.locator("strong")).to_have_text(["south/empty.txt", "south/hollow.txt"])
    reasons = refused.get_by_role("list", name="Why")
    expect(reasons).to_have_count(2)
    expect(reasons.first).not_to_be_empty()
    over = tab.get_by_role("region", name="Documents over time")
    expect(over).to_contain_text("Between 1901 and 1904, 2 years have no document: 1902–1903.")
    expect(over.locator("svg .chart-gap").first).to_be_attached()
    expect(tab.get_by_text("1 document has no date that can be read.")).to_be_visible()
    expect(tab.get_by_role("button", name="Apples & <pears")).to_be_visible()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360


def test_gaps_are_no_zeros_and_undated_hits_are_told(tab: Page, address: str) -> None:
    tab.goto(f"{address}/?collection=gaps&view=words&q=strike&tab=time")
    view = tab.get_by_role("region", name="Words", exact=True)
    expect(view.locator(".chart-column")).to_have_count(2)
    expect(view.locator("svg .chart-gap")).to_have_count(2)  # in the drawing and its key
    view.get_by_text("Show as a table", exact=True).click()
    rows = view.locator("details.data tbody tr")
    assert [row.locator("th, td").all_inner_texts()[:2] for row in rows.all()] == [
        ["1901", "3"],
        ["1902", "no text"],
        ["1903", "no text"],
        ["1904", "0"],
        ["no exact year", "1"],
    ]
    view.locator("p").get_by_role("button", name="Concordance: no exact year").click()
    expect(view.locator(".line-hit mark")).to_have_text(["strike"])
    expect(view.locator(".line-after").last).to_contain_text(MARKUP)
    expect(view).to_contain_text("Only: no exact year")


def test_keywords_of_a_single_corpus_are_those_of_its_earlier_half(tab: Page, address: str) -> None:
    tab.goto(f"{address}/?collection=years&view=words&tab=apart")
    view = tab.get_by_role("region", name="Words", exact=True)
    expect(view.locator(".words-said")).to_contain_text(
        "Texts up to 1902 (12 words, 2 documents) compared with everything else"
    )
    view.get_by_role("button", name="Concordance: early").click()
    expect(view.locator(".words-said")).to_contain_text("12 hits in 2 documents")
    tab.goto(f"{address}/?collection=sea&view=words&tab=apart")
    expect(view).to_contain_text("Choose a corpus, years or another filter first.")
