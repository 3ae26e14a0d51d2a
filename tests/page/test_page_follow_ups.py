"""Follow-ups in the page: asked as they are read, or as they are written."""

import pytest
from playwright.sync_api import Page, expect

from tests.page.asking import QUESTION, ask, latest

pytestmark = pytest.mark.browser

FOLLOW_UP = "And in New Zealand?"
READ_AS = "Can a local authority sue a newspaper for libel in New Zealand?"


def test_a_follow_up_is_asked_as_it_is_read_and_can_be_asked_as_written(page: Page) -> None:
    ask(page)
    expect(latest(page).locator(".read-as")).to_have_count(0)
    with page.expect_request("**/api/ask/stream") as sent:
        ask(page, FOLLOW_UP)
    assert sent.value.post_data_json["read_follow_ups"] is True
    assert sent.value.post_data_json["question"] == FOLLOW_UP
    told = latest(page).locator(".read-as")
    expect(told).to_have_text(f"Read as: “{READ_AS}” · Ask as written · Change")
    expect(latest(page).locator("h2")).to_have_text(FOLLOW_UP)

    with page.expect_request("**/api/ask/stream") as again:
        told.get_by_role("button", name="Ask as written").click()
    assert again.value.post_data_json["read_follow_ups"] is False
    assert again.value.post_data_json["question"] == FOLLOW_UP
    expect(page.locator("article.answer[data-state=done]")).to_have_count(3, timeout=60_000)
    # what was asked before is by now another question in New Zealand
    expect(latest(page).locator(".read-as")).to_have_text(f"Asked as written · Ask “{READ_AS}”")

    with page.expect_request("**/api/ask/stream") as offered:
        latest(page).get_by_role("button", name="Ask “").click()
    assert offered.value.post_data_json["question"] == READ_AS
    expect(page.locator("article.answer[data-state=done]")).to_have_count(4, timeout=60_000)
    expect(latest(page).locator("h2")).to_have_text(READ_AS)
    expect(latest(page).locator(".read-as")).to_have_count(0)


def test_a_later_follow_up_points_to_what_the_one_before_was_read_as(page: Page) -> None:
    ask(page)
    ask(page, FOLLOW_UP)
    with page.expect_request("**/api/ask/stream") as sent:
        ask(page, "And in Canada?")
    asked = [turn["content"] for turn in sent.value.post_data_json["chat_history"][::2]]
    assert asked == [QUESTION, READ_AS]
    expect(latest(page).locator(".read-as")).to_contain_text("for libel in Canada?")


def test_a_question_that_points_to_nothing_said_is_told_so(page: Page) -> None:
    ask(page, "Can he sue a newspaper for libel?")
    expect(latest(page).locator(".read-as")).to_have_count(0)
    expect(latest(page).locator(".retrieval .notes")).to_contain_text(
        "it is not clear what “he” points to"
    )


def test_the_reading_of_a_follow_up_is_changed_and_asked(page: Page) -> None:
    ask(page)
    ask(page, FOLLOW_UP)
    told = latest(page).locator(".read-as")
    told.get_by_role("button", name="Change").click()
    field = page.get_by_label("What you mean, as a question of its own")
    expect(field).to_be_focused()
    expect(field).to_have_value(READ_AS)
    page.keyboard.press("Escape")
    expect(told.get_by_role("button", name="Change")).to_be_focused()
    page.keyboard.press("Enter")
    field.fill("Can a minister of New Zealand sue for libel?")
    with page.expect_request("**/api/ask/stream") as sent:
        page.keyboard.press("Enter")
    body = sent.value.post_data_json
    assert body["question"] == "Can a minister of New Zealand sue for libel?"
    assert body["read_follow_ups"] is False
    # in place of the follow-up: after what that was asked after
    assert [turn["content"] for turn in body["chat_history"][::2]] == [QUESTION]
    expect(page.locator("article.answer[data-state=done]")).to_have_count(3, timeout=60_000)
    expect(page.locator("article.answer").nth(1).locator(".read-as")).to_contain_text("Read as:")
