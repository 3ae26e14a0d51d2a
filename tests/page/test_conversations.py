"""Conversations kept in the browser: restored, found, renamed, deleted; and follow-ups, asked as
they are read or as they are written."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page.asking import (
    FOLLOW_UP,
    QUESTION,
    READ_AS,
    STREAM,
    ask,
    begin,
    chips,
    compare,
    finished,
    latest,
    narrow,
    questions_before,
    request_body,
    settings,
    settle,
)
from tests.page.watching import expect_faults

pytestmark = [pytest.mark.browser, pytest.mark.thorough]


def reload(page: Page) -> None:
    """Load the page anew; a question that is sent by that fails the test."""
    page.route("**/api/ask**", lambda route: pytest.fail(route.request.url))
    page.reload()
    expect(page.locator("#served")).not_to_be_empty()
    page.wait_for_load_state("networkidle")
    page.unroute("**/api/ask**")


def conversations(page: Page) -> Locator:
    """The list of conversations, opened."""
    folded = page.locator("details.conversations")
    if folded.get_attribute("open") is None:
        page.get_by_text("Earlier conversations").click()
    return folded.locator("li")


def test_a_reload_restores_all_of_the_form(page: Page) -> None:
    target = settings(page).get_by_label("Target", exact=True)
    target.select_option("replaced")
    compare(page)
    narrow(page, filters={"court": ["House of Lords"]}, require=["libel"])
    settings(page).get_by_role("spinbutton", name="Passages").fill("3")
    page.fill("textarea#question", "What of Canada?")
    reload(page)
    expect(page.locator("textarea#question")).to_have_value("What of Canada?")
    expect(target).to_have_value("replaced")
    expect(settings(page).get_by_label("Compare the corpora")).to_be_checked()
    expect(settings(page).get_by_role("spinbutton", name="Passages")).to_have_value("3")
    expect(chips(page)).to_contain_text("Court: House of Lords")
    expect(chips(page)).to_contain_text("Must hold “libel”")


def test_conversations_are_found_renamed_deleted_and_brought_back(page: Page) -> None:
    ask(page)
    page.get_by_role("button", name="New conversation").click()
    ask(page, "Is the death penalty allowed?")
    rows = conversations(page)
    expect(rows).to_have_count(2)
    expect(rows.first.locator("button").first).to_have_text("Is the death penalty allowed?")
    search = page.get_by_label("Find in what was asked and answered")
    search.fill("CANNOT SUE for libel")  # as it was answered
    expect(rows).to_have_count(1)
    rows.get_by_role("button", name="Rename").click()
    page.get_by_label("New name").fill("<b>Councils</b>")
    page.keyboard.press("Enter")
    expect(rows.locator("button").first).to_have_text("<b>Councils</b>")
    expect(rows.locator("button").first).to_be_focused()
    rows.locator("button").first.click()
    expect(page.locator("article.answer h2")).to_have_text(QUESTION)

    rows.get_by_role("button", name="Delete").click()
    expect(page.locator("article.answer")).to_have_count(0)
    expect(rows).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(rows).to_have_count(1)
    search.fill("")
    expect(rows).to_have_count(2)

    page.get_by_role("button", name="Delete all").click()
    page.get_by_role("button", name="Really delete all?").click()
    expect(rows).to_have_count(0)
    reload(page)
    expect(page.locator("article.answer")).to_have_count(0)
    conversations(page)
    expect(page.get_by_text("None is kept yet.")).to_be_visible()


def test_nothing_is_kept_where_the_reader_does_not_want_it(page: Page) -> None:
    keep = page.get_by_label("Keep conversations in this browser")
    conversations(page)
    keep.uncheck()
    ask(page)
    settle(page)
    reload(page)
    expect(page.locator("article.answer")).to_have_count(0)
    conversations(page)
    expect(keep).not_to_be_checked()
    expect(page.get_by_text("None is kept yet.")).to_be_visible()


def test_a_question_on_its_way_is_kept_and_asked_again_with_a_click(page: Page) -> None:
    ask(page)
    settle(page)
    page.route(STREAM, lambda route: None)  # never answered
    page.get_by_label("Collection").select_option("legal_uk")
    begin(page, FOLLOW_UP)
    expect(page.locator("#status")).to_have_text("Searching …")
    page.get_by_label("Collection").select_option("all")
    page.reload()
    expect(latest(page)).to_contain_text("The page was left before this was answered.")
    expect(latest(page).locator("h2")).to_have_text(FOLLOW_UP)
    page.unroute(STREAM)
    body = request_body(page, latest(page).get_by_role("button", name="Ask again").click)
    assert (body["question"], body["corpus_filter"]) == (FOLLOW_UP, "legal_uk")
    assert questions_before(body) == [QUESTION]
    finished(page)


def test_a_question_without_filters_is_asked_again_without_them(page: Page) -> None:
    expect_faults(page, "answered: 503 .*/api/ask/stream")
    page.route(STREAM, lambda route: route.fulfill(status=503, json={}))
    first = request_body(page, lambda: begin(page))
    again = latest(page).get_by_role("button", name="Ask again")
    expect(again).to_be_visible()
    narrow(page, filters={"court": ["House of Lords"]}, require=["a"], exclude=["b"])
    settings(page).get_by_role("spinbutton", name="Passages").fill("3")
    page.keyboard.press("Escape")
    second = request_body(page, again.click)
    assert {**second, "qa_id": ""} == {**first, "qa_id": ""}


def test_a_question_is_edited_and_asked_as_a_new_turn(page: Page) -> None:
    for question in (QUESTION, FOLLOW_UP, "And in Canada?"):
        ask(page, question)
    editing = page.locator("#editing")
    page.locator("article.answer").nth(1).get_by_role("button", name="Edit").click()
    box = page.locator("textarea#question")
    expect(box).to_be_focused()
    expect(box).to_have_value(FOLLOW_UP)
    expect(editing).to_contain_text(FOLLOW_UP)
    body = request_body(page, lambda: ask(page, "And in the United States?"))
    assert questions_before(body) == [QUESTION]  # what came after the edited one does not count
    expect(editing).to_be_hidden()
    expect(page.locator("article.answer")).to_have_count(4)
    _, read = questions_before(request_body(page, lambda: begin(page, "Since when?")))
    assert "United States" in read
    latest(page).get_by_role("button", name="Edit").click()
    page.get_by_role("button", name="Ask something else").click()
    expect(editing).to_be_hidden()


NO_ROOM = """
const { transaction } = IDBDatabase.prototype;
IDBDatabase.prototype.transaction = function (stores, mode, options) {
  if (mode === 'readwrite') throw new DOMException('no room', 'QuotaExceededError');
  return transaction.call(this, stores, mode, options);
};
"""
NO_DATABASE = (
    "Object.defineProperty(window, 'indexedDB', "
    "{get() { throw new DOMException('no', 'SecurityError'); }})"
)


@pytest.mark.parametrize(
    ("script", "notice"),
    [(NO_ROOM, "has no room left"), (NO_DATABASE, "keeps nothing for this page")],
)
def test_without_room_one_notice_is_shown_and_all_else_works(
    page: Page, script: str, notice: str
) -> None:
    page.add_init_script(script)
    page.reload()
    expect(page.locator("#served")).not_to_be_empty()
    expect(ask(page).locator(".answer-text")).to_contain_text("cannot sue for libel")
    expect(page.locator("#keep-notice")).to_contain_text(notice)
    # what is kept nowhere else stays in the box
    expect(page.locator("textarea#question")).to_have_value(QUESTION)
    ask(page, FOLLOW_UP)
    expect(page.locator("article.answer")).to_have_count(2)
    expect(page.get_by_text(notice)).to_have_count(1)


def test_a_follow_up_can_be_asked_as_written_and_as_read_again(page: Page) -> None:
    expect(ask(page).locator(".read-as")).to_have_count(0)
    read_as = ask(page, FOLLOW_UP).locator(".read-as")
    expect(latest(page).locator("h2")).to_have_text(FOLLOW_UP)
    body = request_body(page, read_as.get_by_role("button", name="Ask as written").click)
    assert (body["question"], body["read_follow_ups"]) == (FOLLOW_UP, False)
    expect(page.locator("article.answer[data-state=done]")).to_have_count(3, timeout=60_000)
    expect(latest(page).locator(".read-as")).to_have_text(f"Asked as written · Ask “{READ_AS}”")
    body = request_body(page, latest(page).get_by_role("button", name="Ask “").click)
    assert body["question"] == READ_AS
    expect(page.locator("article.answer[data-state=done]")).to_have_count(4, timeout=60_000)
    expect(latest(page).locator("h2")).to_have_text(READ_AS)
    expect(latest(page).locator(".read-as")).to_have_count(0)


def test_the_reading_of_a_follow_up_is_changed_and_asked(page: Page) -> None:
    ask(page)
    read_as = ask(page, FOLLOW_UP).locator(".read-as")
    change = read_as.get_by_role("button", name="Change")
    change.click()
    field = page.get_by_label("What you mean, as a question of its own")
    expect(field).to_be_focused()
    expect(field).to_have_value(READ_AS)
    page.keyboard.press("Escape")
    expect(change).to_be_focused()
    page.keyboard.press("Enter")
    question = "Can a minister of New Zealand sue for libel?"
    field.fill(question)
    body = request_body(page, lambda: page.keyboard.press("Enter"))
    assert (body["question"], body["read_follow_ups"]) == (question, False)
    # in place of the follow-up: after what that was asked after
    assert questions_before(body) == [QUESTION]
    expect(page.locator("article.answer[data-state=done]")).to_have_count(3, timeout=60_000)
    expect(page.locator("article.answer").nth(1).locator(".read-as")).to_contain_text("Read as:")


def test_a_question_that_points_to_nothing_said_is_told_so(page: Page) -> None:
    answer = ask(page, "Can he sue a newspaper for libel?")
    expect(answer.locator(".read-as")).to_have_count(0)
    expect(answer.locator(".retrieval .notes")).to_contain_text(
        "it is not clear what “he” points to"
    )
