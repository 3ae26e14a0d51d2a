"""Questions that a reader does not want recorded: by choice, or by what the browser asks of all."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from tests.access.two_corpora import QUESTION
from tests.collector import Collector, collecting
from tests.page.asking import ask, latest
from tests.page.rating import expect_saved, opened, rated_server

pytestmark = pytest.mark.browser
GPC = "Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', {get: () => true})"
CHOICE = "Do not record what I ask"


@pytest.fixture(scope="module")
def traces() -> Iterator[Collector]:
    with collecting() as started:
        yield started


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, traces: Collector) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("recorded")
    with rated_server(folder, phoenix_collector_endpoint=traces.address) as started:
        yield started


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    with opened(browser, address) as shown:
        yield shown


def asked(page: Page) -> Request:
    """The request of a question that is asked and answered."""
    with page.expect_request("**/api/ask/stream") as sent:
        ask(page, QUESTION)
    return sent.value


def test_a_question_is_recorded_unless_the_reader_says_no(page: Page) -> None:
    assert "telemetry" not in asked(page).post_data_json
    expect(latest(page).get_by_role("link", name="Open trace")).to_be_visible()
    page.get_by_label(CHOICE).check()
    assert asked(page).post_data_json["telemetry"] is False
    # what was not recorded has no trace to open
    expect(latest(page).get_by_role("link", name="Open trace")).to_have_count(0)
    page.reload()
    expect(page.get_by_label(CHOICE)).to_be_checked()
    page.get_by_label(CHOICE).uncheck()
    page.reload()
    expect(page.get_by_label(CHOICE)).not_to_be_checked()
    assert "telemetry" not in asked(page).post_data_json


def test_an_answer_that_was_not_recorded_can_be_rated(page: Page) -> None:
    page.get_by_label(CHOICE).check()
    ask(page, QUESTION)
    latest(page).get_by_role("button", name="Helpful", exact=True).click()
    expect_saved(page)


def test_what_the_browser_asks_of_all_is_done_and_said(browser: Browser, address: str) -> None:
    with opened(browser, address) as page:
        page.add_init_script(GPC)
        page.reload()
        choice = page.get_by_label(CHOICE)
        expect(choice).to_be_checked()
        expect(choice).to_be_disabled()
        expect(choice).to_have_accessible_description(
            "Your browser asks every site for this (Global Privacy Control)."
        )
        assert asked(page).post_data_json["telemetry"] is False
        assert page.evaluate("localStorage.length") == 0


def test_where_nothing_is_recorded_there_is_no_choice(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with (
        rated_server(tmp_path_factory.mktemp("unrecorded")) as address,
        opened(browser, address) as page,
    ):
        expect(page.get_by_label(CHOICE)).to_be_hidden()
