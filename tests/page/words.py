"""Counting words in the page, and by the API that it asks."""

import re
from typing import Any

import httpx2
from playwright.sync_api import Locator, Page, expect

from tests.conftest import sample_documents


def open_words(page: Page) -> Locator:
    """The view of words."""
    page.get_by_role("navigation", name="Views").get_by_role("button", name="Words").click()
    view = page.get_by_role("region", name="Words", exact=True)
    expect(view.get_by_role("tablist")).to_be_visible()
    return view


def count(page: Page, query: str, tab: str = "Lines") -> Locator:
    """The view, after a query was counted and looked at in a tab."""
    view = open_words(page)
    view.get_by_role("tab", name=tab).click()
    page.get_by_label("Words to count").fill(query)
    page.get_by_role("button", name="Count", exact=True).click()
    panel = view.get_by_role("tabpanel", name=tab)
    expect(panel).not_to_have_attribute("aria-busy", "true")
    expect(view.locator(".words-said")).not_to_have_text("Counting …")
    return view


def asked(server: str, route: str, **body: Any) -> dict[str, Any]:
    """What the API says."""
    found = httpx2.post(f"{server}/api/{route}", json=body, timeout=60)
    assert found.status_code == 200, found.text
    return found.json()


def scanned(word: str) -> list[str]:
    """Every hit of a word in the bundled documents, as a plain look through them finds it."""
    pattern = re.compile(rf"(?<!\w)(?<!\w['’]){word}(?!\w)(?!['’]\w)", re.IGNORECASE)
    return [match.group() for d in sample_documents() for match in pattern.finditer(d.text)]
