"""What the page says where a model is missing or the server is busy."""

import pytest
from playwright.sync_api import Page, expect

from tests.page.asking import ask, begin, latest
from tests.page.watching import expect_faults

pytestmark = pytest.mark.browser


def test_a_model_without_a_key_is_reported_with_the_remedy(page: Page) -> None:
    page.get_by_label("Target", exact=True).select_option("keyless")
    begin(page)
    expect(latest(page).get_by_role("alert")).to_contain_text("MISTRAL_API_KEY")


def test_an_answer_in_place_of_a_models_says_whose_and_why(page: Page) -> None:
    page.get_by_label("Target", exact=True).select_option("replaced")
    ask(page)
    notice = latest(page).locator(".notice")
    expect(notice).to_contain_text("in place of an answer by mistral (mistral-small)")
    expect(notice).to_contain_text("MISTRAL_API_KEY")
    expect(latest(page).locator(".answer-text")).to_contain_text("cannot sue for libel")


def test_a_busy_server_says_when_to_try_again(page: Page) -> None:
    expect_faults(page, "answered: 503 .*/api/ask/stream")
    busy = {"status": 503, "detail": "All places are taken.", "retry_after": 5}
    page.route("**/api/ask/stream", lambda route: route.fulfill(status=503, json=busy))
    begin(page)
    expect(latest(page).get_by_role("alert")).to_have_text(
        "All places are taken. Worth another try in 5 seconds."
    )


def test_what_the_server_says_of_the_time_is_said_once(page: Page) -> None:
    said = "Too many requests. Try again in 5 seconds."
    busy = {"status": 429, "detail": said, "retry_after": 5}
    page.route("**/api/ask/stream", lambda route: route.fulfill(status=429, json=busy))
    begin(page)
    expect(latest(page).get_by_role("alert")).to_have_text(said)
