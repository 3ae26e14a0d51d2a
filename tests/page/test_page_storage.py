"""A browser that keeps nothing, or has no room left: the page loads, asks and takes ratings."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.access.two_corpora import QUESTION
from tests.page.asking import ask, latest
from tests.page.rating import expect_saved, opened, rated_server
from tests.places import ROOT

pytestmark = pytest.mark.browser
DENIED = """for (const area of ['localStorage', 'sessionStorage']) {
  Object.defineProperty(window, area, {
    get() { throw new DOMException('denied', 'SecurityError'); },
  });
}"""
FULL = """Storage.prototype.setItem = () => {
  throw new DOMException('no room', 'QuotaExceededError');
};"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with rated_server(tmp_path_factory.mktemp("unkept")) as started:
        yield started


@pytest.fixture(params=[DENIED, FULL], ids=["denied", "full"])
def page(browser: Browser, address: str, request: pytest.FixtureRequest) -> Iterator[Page]:
    with opened(browser, address) as shown:
        shown.add_init_script(request.param)
        shown.reload()
        expect(shown.locator("select#collection option")).to_have_count(3)
        yield shown


def test_the_page_asks_and_two_votes_are_of_one_voter(page: Page, address: str) -> None:
    ask(page, QUESTION)
    with page.expect_request("**/api/feedback") as first:
        latest(page).get_by_role("button", name="Helpful", exact=True).click()
    expect_saved(page)
    with page.expect_request("**/api/feedback") as second:
        latest(page).get_by_role("button", name="Not helpful").click()
    expect_saved(page)
    voters = {sent.value.post_data_json["user_id"] for sent in (first, second)}
    assert len(voters) == 1
    query = {"user_id": voters.pop()}
    qa_id = first.value.post_data_json["qa_id"]
    found = httpx2.get(f"{address}/api/feedback/{qa_id}", params=query)
    assert found.json()["thumb"] == "down"


def test_choices_hold_until_the_page_is_left(page: Page) -> None:
    ask(page, QUESTION)
    style = latest(page).get_by_label("Style")
    style.select_option("oscola")
    with page.expect_request("**/api/citations") as sent:
        latest(page).get_by_role("button", name="Copy with citations").click()
    assert sent.value.post_data_json["style"] == "oscola"
    latest(page).locator("button.citation").first.click()
    expect(page.locator("#reader mark").first).to_be_in_viewport()
    edge = page.get_by_role("separator")
    edge.focus()
    wide = int(edge.get_attribute("aria-valuenow") or 0)
    page.keyboard.press("ArrowLeft")
    assert int(edge.get_attribute("aria-valuenow") or 0) > wide
    page.keyboard.press("Escape")
    page.get_by_text("Earlier conversations").click()
    page.get_by_label("Keep conversations in this browser").uncheck()
    notice = page.locator("#keep-notice")
    expect(notice).to_have_text(
        "This browser does not keep your choice: it holds until the page is left."
    )
    page.get_by_role("button", name="New conversation").click()
    ask(page, QUESTION)
    expect(page.locator("details.conversations li")).to_have_count(1)  # of before the choice


def test_a_language_that_is_not_kept_is_not_shown_as_chosen(page: Page) -> None:
    chooser = page.locator("select#language")
    chooser.select_option("fr")
    expect(page.locator("#keep-notice")).to_contain_text("does not keep the language")
    expect(chooser).to_have_value("en")


def test_a_key_that_is_not_kept_is_refused_with_a_reason(page: Page) -> None:
    page.evaluate("() => part('api.js').then(({askForKey}) => askForKey('Who?'))")
    page.get_by_label("Key", exact=True).fill("a-key")
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("#sign-in-reason")).to_contain_text("Allow this site to store data.")


def test_nothing_else_asks_the_browser_for_its_storage() -> None:
    sources = (ROOT / "frontend").rglob("*.js")
    users = [path for path in sources if "calStorage" in text(path) or "sionStorage" in text(path)]
    assert users == [ROOT / "frontend" / "storage.js"]


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
