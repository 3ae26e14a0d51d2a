"""A question that the sources read in several ways, asked again in the page for one of them."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.server.app import create_app
from tests.harbours import FEE, NORTH, SOUTH, harbours
from tests.page.asking import ask, latest
from tests.page.watching import watched
from tests.servers import served

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, embedder: LocalEmbedder) -> Iterator[str]:
    with (
        harbours(tmp_path_factory.mktemp("choices"), embedder) as atlas,
        served(create_app(lambda: atlas)) as started,
    ):
        yield started


@pytest.fixture
def harbour_page(browser: Browser, address: str) -> Iterator[Page]:
    with watched(browser) as context:
        opened = context.new_page()
        opened.goto(address)
        expect(opened.locator("select#collection option")).to_have_count(3)
        yield opened


def test_a_reading_is_chosen_and_asked_for(harbour_page: Page) -> None:
    harbour_page.get_by_label("Target", exact=True).select_option("one")
    ask(harbour_page, FEE)
    choices = latest(harbour_page).locator(".choices")
    expect(choices).to_contain_text("Which of these do you mean?")
    for quote in (NORTH, SOUTH):
        expect(choices.locator("blockquote", has_text=quote)).to_be_visible()
    with harbour_page.expect_request("**/api/ask/stream") as sent:
        choices.get_by_role("button", name="Southport", exact=True).click()
    assert sent.value.post_data_json["question"] == FEE
    assert sent.value.post_data_json["corpus_filter"] == ["southport"]
    expect(harbour_page.locator("article.answer[data-state=done]")).to_have_count(2, timeout=60_000)
    expect(latest(harbour_page).locator(".answer-text")).to_contain_text(SOUTH)
    expect(latest(harbour_page).locator(".choices")).to_have_count(0)


def test_the_readings_beside_an_answer_can_be_asked_for_alone(harbour_page: Page) -> None:
    ask(harbour_page, FEE)
    choices = latest(harbour_page).locator(".choices")
    expect(choices).to_contain_text("Ask about one reading alone:")
    choices.get_by_role("button", name="Northport rules").click()
    expect(harbour_page.locator("#reader mark").first).to_have_text(NORTH)
