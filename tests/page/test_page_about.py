"""About this collection: what it holds, what is missing, what was refused, and its documents."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from tests.hash_embedder import HashEmbedder
from tests.ingest.handing import settings_for
from tests.page.watching import watched
from tests.servers import served
from tests.tiny import build_tiny, write_sources

pytestmark = pytest.mark.browser

ARCHIVE = {
    "north/a.md": "---\ntitle: Apples & <pears\ndate: 1901\n---\nApples are red.\n",
    "north/b.md": "---\ntitle: Boats\ndate: 1904\n---\nBoats are wet.\n",
    "south/c.md": "---\ntitle: Undated\n---\nNothing is known.\n",
    "south/empty.txt": " \n",
    "south/hollow.txt": "",
}


def open_about(page: Page) -> Locator:
    page.get_by_role("navigation", name="Views").get_by_role("button", name="About").click()
    view = page.get_by_role("region", name="About", exact=True)
    expect(view.get_by_role("heading", name="About this collection")).to_be_visible()
    return view


def figures(view: Locator) -> dict[str, list[str]]:
    """The rows of the table of corpora, by their label."""
    rows = view.get_by_role("region", name="Corpora").locator("table").first.locator("tbody tr")
    return {
        row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows.all()
    }


def test_the_figures_are_those_of_the_server(page: Page, server: str) -> None:
    stats = httpx2.get(f"{server}/api/stats", timeout=60).json()
    view = open_about(page)
    assert figures(view) == {
        corpus["label"]: [
            *(f"{corpus[name]:,}" for name in ("documents", "passages", "words")),
            *(corpus["dates"][end] for end in ("first", "last")),
            str(corpus["dates"]["undated"]),
            "English",
        ]
        for corpus in stats["corpora"]
    }
    drawn = view.get_by_role("figure", name="Words by corpus").get_by_role("listitem")
    assert [row.inner_text().split("\n") for row in drawn.all()] == [
        [corpus["label"], f"{corpus['words']:,} words"] for corpus in stats["corpora"]
    ]
    widths = [row.locator(".bar").bounding_box()["width"] for row in drawn.all()]
    words = [corpus["words"] for corpus in stats["corpora"]]
    full = max(widths)
    assert [width / full for width in widths] == pytest.approx(
        [count / max(words) for count in words], abs=0.02
    )
    expect(view.get_by_role("figure", name="Words by language")).to_have_count(0)
    made = view.get_by_role("region", name="How it was made")
    for digest in (stats["content_digest"], stats["embedding"]["digest"], stats["version"]):
        expect(made).to_contain_text(digest)
    expect(view.get_by_role("region", name="What was refused")).to_contain_text(
        "every one gave a document. Nothing was left out of them."
    )

    # the bars are the documents of the years, and a bar lists them
    over = view.get_by_role("region", name="Documents over time")
    over.get_by_label("By", exact=True).select_option("Year")
    by_year: dict[str, int] = {}
    for each in stats["years"]:
        by_year[each["year"]] = by_year.get(each["year"], 0) + each["documents"]
    expect(over.locator("svg .chart-column")).to_have_count(len(by_year))
    span = int(max(by_year)) - int(min(by_year)) + 1
    expect(over).to_contain_text(f"{span - len(by_year)} years have no document: 1766–1802, ")
    over.get_by_role("group", name="Documents by year").focus()
    page.keyboard.press("End")
    last = max(by_year)
    page.keyboard.press("Enter")
    listing = view.get_by_role("region", name="Documents", exact=True)
    expect(listing).to_contain_text(f"Only {last}")
    expect(listing.get_by_role("status")).to_have_text(f"1 to {by_year[last]} of {by_year[last]}")


def test_documents_are_found_turned_over_and_opened(page: Page, server: str) -> None:
    view = open_about(page)
    listing = view.get_by_role("region", name="Documents", exact=True)
    items = listing.locator("li")
    expect(items).to_have_count(50)
    listing.get_by_role("button", name="Next").click()
    expect(listing.get_by_role("status")).to_have_text("51 to 84 of 84")
    expect(listing.get_by_role("button", name="Next")).to_have_attribute("aria-disabled", "true")
    listing.get_by_label("Sort").select_option("Newest first")
    expect(listing.get_by_role("status")).to_have_text("1 to 50 of 84")
    listing.get_by_label("Words of the title").fill("times derbyshire")
    expect(items).to_have_count(1)
    items.get_by_role("button").click()
    expect(page.locator("#reader-title")).to_have_text(
        "Derbyshire County Council v Times Newspapers"
    )


def test_a_question_that_is_typed_here_is_answered(page: Page) -> None:
    open_about(page)
    page.get_by_label("Question").fill("Can a public body sue for libel?")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("article.answer").first).to_be_visible()


@pytest.fixture
def archive(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    source = write_sources(tmp_path / "source", ARCHIVE)
    build_tiny(source, tmp_path / "stores" / "farm", HashEmbedder())
    collections = ServedCollections(settings_for(tmp_path), HashEmbedder())
    with (
        served(create_app(collections)) as address,
        watched(browser, viewport={"width": 360, "height": 740}) as context,
    ):
        opened = context.new_page()
        opened.goto(f"{address}/?view=about")
        yield opened
    collections.close()


def test_what_was_refused_and_what_is_missing_is_said_on_a_phone_too(archive: Page) -> None:
    refused = archive.get_by_role("region", name="What was refused")
    expect(refused).to_contain_text("Of 5 files that were read, 2 gave no document.")
    expect(refused.locator("strong")).to_have_text(["south/empty.txt", "south/hollow.txt"])
    reasons = refused.get_by_role("list", name="Why")
    expect(reasons).to_have_count(2)
    expect(reasons.first).not_to_be_empty()
    over = archive.get_by_role("region", name="Documents over time")
    expect(over).to_contain_text("Between 1901 and 1904, 2 years have no document: 1902–1903.")
    expect(over.locator("svg .chart-gap").first).to_be_attached()
    expect(archive.get_by_text("1 document has no date that can be read.")).to_be_visible()
    expect(archive.get_by_role("button", name="Apples & <pears")).to_be_visible()
    assert archive.evaluate("() => document.documentElement.scrollWidth") <= 360
