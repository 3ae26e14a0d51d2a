"""Rating answers in the page."""

from typing import Any

import httpx2
from playwright.sync_api import Locator, Page, expect

from tests.page.asking import QUESTION, ask, latest, request_body

VOTER = "localStorage.getItem('atlas-reader')"


def ask_for_id(page: Page, question: str = QUESTION) -> str:
    """Ask; the id of the answer."""
    return str(request_body(page, lambda: ask(page, question))["qa_id"])


def rating(page: Page) -> Locator:
    """The controls of the last answer, unfolded."""
    section = latest(page).get_by_role("group", name="Your rating")
    more = section.get_by_role("button", name="Rate", exact=True)
    if more.get_attribute("aria-expanded") == "false":
        more.click()
    return section


def expect_saved(page: Page) -> None:
    status = latest(page).get_by_role("group", name="Your rating").get_by_role("status")
    expect(status).to_have_text("Saved")


def saved_rating(page: Page, server: str, qa_id: str, voter: str = "") -> dict[str, Any]:
    """This browser's rating as the server holds it; empty if there is none."""
    query = {"user_id": voter or page.evaluate(VOTER)}
    response = httpx2.get(f"{server}/api/feedback/{qa_id}", params=query)
    if response.status_code == 404:
        return {}
    assert response.status_code == 200, response.text
    document: dict[str, Any] = response.json()
    return document
