"""What the page says of a question that was not searched as it was asked."""

import pytest
from playwright.sync_api import Page, expect

from tests.page.asking import ask, latest

pytestmark = pytest.mark.browser

MISSPELT = "When was captial punishment abolished in Britain?"


def test_a_misspelt_word_is_told_and_can_be_searched_as_it_is_written(page: Page) -> None:
    ask(page, MISSPELT)
    told = latest(page).locator(".wording")
    expect(told).to_have_text("Searched for capital instead of captial; search for captial")
    with page.expect_request("**/api/ask/stream") as sent:
        told.get_by_role("button", name="captial").click()
    assert sent.value.post_data_json["question"] == MISSPELT.replace("captial", '"captial"')
    expect(page.locator("article.answer[data-state=done]")).to_have_count(2, timeout=60_000)
    again = latest(page).locator(".wording")
    expect(again).to_have_text("Did you mean capital instead of captial?")
    again.get_by_role("button", name="capital").click()
    expect(page.locator("article.answer[data-state=done]")).to_have_count(3, timeout=60_000)
    expect(latest(page).locator("h2")).to_have_text(MISSPELT.replace("captial", "capital"))
    expect(latest(page).locator(".wording")).to_have_count(0)


def test_what_too_few_passages_hold_is_told_and_the_others_are_marked(page: Page) -> None:
    ask(page, 'Can a council sue for libel? +"cannot sue for libel at common law"')
    answer = latest(page)
    expect(answer.locator(".wording")).to_have_text(
        "Only 1 passage holds “cannot sue for libel at common law”. The others were found without."
    )
    passages = answer.locator(".sources li[data-passage]")
    without = passages.get_by_text("Without “cannot sue")
    expect(without).to_have_count(passages.count() - 1)
    expect(passages.first).not_to_contain_text("Without “cannot sue")


def test_what_no_passage_holds_is_told(page: Page) -> None:
    ask(page, 'Can a council sue for libel? +"a council of sheep"')
    expect(latest(page).locator(".wording")).to_have_text(
        "No passage holds “a council of sheep”. These were found without."
    )
