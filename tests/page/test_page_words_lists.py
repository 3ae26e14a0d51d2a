"""Words near the hits, and words that set what is looked through apart."""

import pytest
from playwright.sync_api import Page, expect

from tests.page.words import asked, count, open_words

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
