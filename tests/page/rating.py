"""Rating answers in the page."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
from playwright.sync_api import Browser, Locator, Page, expect

from atlas_search.server.app import create_app
from tests.access.two_corpora import QUESTION, two_corpora
from tests.hash_embedder import HashEmbedder
from tests.page.asking import ask, latest
from tests.page.watching import watched
from tests.servers import served

VOTER = "localStorage.getItem('atlas-reader')"


@contextmanager
def rated_server(folder: Path, **settings: object) -> Iterator[str]:
    """A server of two corpora whose answers can be rated, in this process; its address."""
    settings = {"atlas_state_directory": folder / "state"} | settings
    with (
        two_corpora(folder / "parish", HashEmbedder(), **settings) as opened,
        served(create_app(lambda: opened), threads=16) as address,
    ):
        yield address


@contextmanager
def opened(browser: Browser, address: str, **options: object) -> Iterator[Page]:
    """The page in a browser of its own; what it does wrong fails the test."""
    with watched(browser, **options) as context:
        page = context.new_page()
        page.goto(address)
        expect(page.locator("select#collection option")).to_have_count(3)
        yield page


def ask_for_id(page: Page, question: str = QUESTION) -> str:
    """Ask; the id of the answer."""
    with page.expect_request("**/api/ask/stream") as sent:
        ask(page, question)
    qa_id: str = sent.value.post_data_json["qa_id"]
    return qa_id


def rating(page: Page) -> Locator:
    """The controls of the last answer, unfolded."""
    section = latest(page).get_by_role("group", name="Your rating")
    more = section.get_by_role("button", name="More")
    if more.get_attribute("aria-expanded") == "false":
        more.click()
    return section


def expect_saved(page: Page) -> None:
    status = latest(page).get_by_role("group", name="Your rating").get_by_role("status")
    expect(status).to_have_text("Saved")


def kept(page: Page, address: str, qa_id: str) -> dict:
    """What the server holds of this browser's rating."""
    query = {"user_id": page.evaluate(VOTER)}
    response = httpx2.get(f"{address}/api/feedback/{qa_id}", params=query)
    assert response.status_code == 200, response.text
    document: dict = response.json()
    return document
