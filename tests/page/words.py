"""Counting words in the page, and by the API that it asks."""

import re
from typing import Any

import httpx2
from playwright.sync_api import Locator, Page, expect

from tests.conftest import sample_documents
from tests.page.asking import open_view

TABS = ["Concordance", "Trends", "Distribution", "Collocates", "Keywords", "Frequency list"]


def open_words(page: Page) -> Locator:
    view = open_view(page, "Words")
    expect(view.get_by_role("tablist")).to_be_visible()
    return view


def count(page: Page, query: str, tab: str = "Concordance") -> Locator:
    """The view, after a query was counted and looked at in a tab."""
    view = open_words(page)
    view.get_by_role("tab", name=tab).click()
    search(page, query)
    panel = view.get_by_role("tabpanel", name=tab)
    expect(panel).not_to_have_attribute("aria-busy", "true")
    expect(view.locator(".words-said")).not_to_have_text("Counting …")
    return view


def search(page: Page, query: str) -> None:
    page.get_by_label("Words to count").fill(query)
    page.get_by_label("Words to count").press("Enter")


def show_tab(view: Locator, tab: str) -> None:
    """Open a tab, and wait for what it shows."""
    view.get_by_role("tab", name=tab).click()
    expect(view.locator("#words-panel > *").first).to_be_visible()
    expect(view.locator("#words-panel")).not_to_have_attribute("aria-busy", "true")


def lines(view: Page | Locator) -> Locator:
    return view.get_by_role("grid", name="Concordance").locator(".line:not(.head)")


def counted(server: str, route: str, **body: Any) -> dict[str, Any]:
    """The counts of the API."""
    response = httpx2.post(f"{server}/api/{route}", json=body, timeout=60)
    assert response.status_code == 200, response.text
    counts: dict[str, Any] = response.json()
    return counts


def plain_scan(word: str) -> list[str]:
    """Every hit of a word in the bundled documents, as a plain look through them finds it."""
    pattern = re.compile(rf"(?<!\w)(?<!\w['’]){word}(?!\w)(?!['’]\w)", re.IGNORECASE)
    return [match.group() for d in sample_documents() for match in pattern.finditer(d.text)]
