"""Conversations kept in the browser: restored, found, renamed, deleted, and told apart."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page.asking import QUESTION, ask, begin, latest, settled
from tests.page.watching import expect_faults

pytestmark = pytest.mark.browser
FOLLOW_UP = "And in New Zealand?"


def reload(page: Page) -> None:
    """Load the page anew; a question that is sent by that fails the test."""
    page.route("**/api/ask**", lambda route: pytest.fail(route.request.url))
    page.reload()
    expect(page.locator("#served")).not_to_be_empty()
    page.wait_for_load_state("networkidle")
    page.unroute("**/api/ask**")


def listed(page: Page) -> Locator:
    """The list of conversations, opened."""
    folded = page.locator("details.conversations")
    if folded.get_attribute("open") is None:
        page.get_by_text("Earlier conversations").click()
    return folded.locator("li")


def test_reload_restores_the_conversation_and_the_draft(page: Page) -> None:
    ask(page)
    ask(page, FOLLOW_UP)
    settled(page)
    said = page.locator("#answers").inner_text()
    page.fill("textarea#question", "What of Canada?")
    page.get_by_label("Collection").select_option("legal_uk")
    page.get_by_role("spinbutton", name="Passages").fill("3")
    reload(page)
    expect(page.locator("article.answer")).to_have_count(2)
    expect(page.locator("#answers")).to_have_text(said, use_inner_text=True)
    expect(page.locator("textarea#question")).to_have_value("What of Canada?")
    expect(page.get_by_label("Collection")).to_have_value("legal_uk")
    expect(page.get_by_role("spinbutton", name="Passages")).to_have_value("3")
    latest(page).locator("button.citation").first.click()
    expect(page.locator("#reader mark").first).to_be_visible()
    # and it goes on as if the page had never been left
    with page.expect_request("**/api/ask/stream") as sent:
        begin(page, "And in Canada?")
    asked = [turn["content"] for turn in sent.value.post_data_json["chat_history"][::2]]
    assert asked == [QUESTION, "Can a local authority sue a newspaper for libel in New Zealand?"]


def test_reload_restores_target_comparing_and_filters(page: Page) -> None:
    target = page.get_by_label("Target", exact=True)
    target.select_option("keyless")
    page.get_by_label("Compare the corpora").check()
    page.evaluate(
        "() => part('ask/scope.js').then(({changeScope}) => "
        "changeScope({filters: {court: ['House of Lords']}, require: ['libel']}))"
    )
    page.fill("textarea#question", "What of Canada?")
    reload(page)
    expect(page.locator("textarea#question")).to_have_value("What of Canada?")
    expect(target).to_have_value("keyless")
    expect(page.get_by_label("Compare the corpora")).to_be_checked()
    chips = page.get_by_role("list", name="What narrows the search")
    expect(chips).to_contain_text("Court: House of Lords")
    expect(chips).to_contain_text("Must hold “libel”")


def test_conversations_are_found_renamed_deleted_and_brought_back(page: Page) -> None:
    ask(page)
    page.get_by_role("button", name="New conversation").click()
    ask(page, "Is the death penalty allowed?")
    rows = listed(page)
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
    listed(page)
    expect(page.get_by_text("None is kept yet.")).to_be_visible()


def test_nothing_is_kept_where_the_reader_does_not_want_it(page: Page) -> None:
    listed(page)
    page.get_by_label("Keep conversations in this browser").uncheck()
    ask(page)
    expect(page.locator("textarea#question")).to_have_value("")
    reload(page)
    expect(page.locator("article.answer")).to_have_count(0)
    listed(page)
    expect(page.get_by_label("Keep conversations in this browser")).not_to_be_checked()
    expect(page.get_by_text("None is kept yet.")).to_be_visible()


def test_a_question_on_its_way_is_kept_and_asked_again_with_a_click(page: Page) -> None:
    ask(page)
    settled(page)
    page.route("**/api/ask/stream", lambda route: None)  # never answered
    page.get_by_label("Collection").select_option("legal_uk")
    begin(page, FOLLOW_UP)
    expect(page.locator("#status")).to_have_text("Searching …")
    page.get_by_label("Collection").select_option("all")
    page.reload()
    expect(latest(page)).to_contain_text("The page was left before this was answered.")
    expect(latest(page).locator("h2")).to_have_text(FOLLOW_UP)
    page.unroute("**/api/ask/stream")
    with page.expect_request("**/api/ask/stream") as sent:
        latest(page).get_by_role("button", name="Ask again").click()
    body = sent.value.post_data_json
    assert body["question"] == FOLLOW_UP
    assert body["corpus_filter"] == "legal_uk"
    assert [turn["content"] for turn in body["chat_history"][::2]] == [QUESTION]
    expect(latest(page)).to_have_attribute("data-state", "done", timeout=60_000)


def test_a_question_without_filters_is_asked_again_without_them(page: Page) -> None:
    expect_faults(page, "answered: 503 .*/api/ask/stream")
    page.route("**/api/ask/stream", lambda route: route.fulfill(status=503, json={}))
    with page.expect_request("**/api/ask/stream") as first:
        begin(page)
    again = latest(page).get_by_role("button", name="Ask again")
    expect(again).to_be_visible()
    page.evaluate(
        "() => part('ask/scope.js').then(({changeScope}) => "
        "changeScope({filters: {court: ['House of Lords']}, require: ['a'], exclude: ['b']}))"
    )
    page.get_by_role("spinbutton", name="Passages").fill("3")
    with page.expect_request("**/api/ask/stream") as second:
        again.click()
    asked, repeated = (
        {name: value for name, value in sent.value.post_data_json.items() if name != "qa_id"}
        for sent in (first, second)
    )
    assert repeated == asked


def test_a_question_is_edited_and_asked_as_a_new_turn(page: Page) -> None:
    ask(page)
    ask(page, FOLLOW_UP)
    ask(page, "And in Canada?")
    second = page.locator("article.answer").nth(1)
    second.get_by_role("button", name="Edit").click()
    box = page.locator("textarea#question")
    expect(box).to_be_focused()
    expect(box).to_have_value(FOLLOW_UP)
    expect(page.locator("#editing")).to_contain_text(FOLLOW_UP)
    with page.expect_request("**/api/ask/stream") as sent:
        ask(page, "And in the United States?")
    asked = [turn["content"] for turn in sent.value.post_data_json["chat_history"][::2]]
    assert asked == [QUESTION]  # what came after the edited one does not count
    expect(page.locator("#editing")).to_be_hidden()
    expect(page.locator("article.answer")).to_have_count(4)
    with page.expect_request("**/api/ask/stream") as after:
        begin(page, "Since when?")
    asked = [turn["content"] for turn in after.value.post_data_json["chat_history"][::2]]
    assert len(asked) == 2
    assert "United States" in asked[1]

    latest(page).get_by_role("button", name="Edit").click()
    page.get_by_role("button", name="Ask something else").click()
    expect(page.locator("#editing")).to_be_hidden()


FULL = """
const { transaction } = IDBDatabase.prototype;
IDBDatabase.prototype.transaction = function (stores, mode, options) {
  if (mode === 'readwrite') throw new DOMException('no room', 'QuotaExceededError');
  return transaction.call(this, stores, mode, options);
};
"""
NONE = (
    "Object.defineProperty(window, 'indexedDB', "
    "{get() { throw new DOMException('no', 'SecurityError'); }})"
)


@pytest.mark.parametrize(
    ("how", "said"), [(FULL, "has no room left"), (NONE, "keeps nothing for this page")]
)
def test_without_room_one_notice_is_shown_and_all_else_works(
    page: Page, how: str, said: str
) -> None:
    page.add_init_script(how)
    page.reload()
    expect(page.locator("#served")).not_to_be_empty()
    ask(page)
    expect(latest(page).locator(".answer-text")).to_contain_text("cannot sue for libel")
    expect(page.locator("#keep-notice")).to_contain_text(said)
    # what is kept nowhere else stays in the box
    expect(page.locator("textarea#question")).to_have_value(QUESTION)
    ask(page, FOLLOW_UP)
    expect(page.locator("article.answer")).to_have_count(2)
    expect(page.get_by_text(said)).to_have_count(1)
