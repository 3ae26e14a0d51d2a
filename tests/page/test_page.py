"""The page in a real Chromium: from a question to the marked words and the trace."""

import httpx2
import pytest
from playwright.sync_api import Page, expect

from tests.page.asking import QUESTION, ask, begin, latest

pytestmark = pytest.mark.browser


PHONE = {"width": 360, "height": 740}


def test_from_a_question_to_the_marked_words_and_the_trace(
    page: Page, server: str, phoenix: str
) -> None:
    ask(page)
    answer = latest(page)
    expect(answer.locator(".answer-text")).to_contain_text("cannot sue for libel")
    answer.locator("button.citation").first.click()
    mark = page.locator("#reader mark").first
    expect(mark).to_be_in_viewport()
    expect(mark).to_contain_text("cannot sue for libel at common law.")
    page.keyboard.press("Escape")
    expect(page.locator("#reader")).to_be_hidden()
    counts = answer.locator(".counts")
    for label in ("Legal UK", "Legal US", "Legislation NZ"):
        expect(counts).to_contain_text(label)
    trace = answer.locator("a.trace").get_attribute("href")
    assert trace is not None
    assert trace.startswith(f"{phoenix}/redirects/traces/")
    assert httpx2.get(trace, follow_redirects=True).is_success


def test_the_collection_dropdown_stands_in_the_test_target_box_and_is_sent(page: Page) -> None:
    box = page.get_by_role("group", name="Test Target")
    box.get_by_label("Collection").select_option("legal_us")
    with page.expect_request("**/api/ask/stream") as sent:
        ask(page)
    assert sent.value.post_data_json["corpus_filter"] == "legal_us"
    corpora = latest(page).locator(".counts tbody tr")
    expect(corpora).to_have_count(1)


@pytest.mark.parametrize(
    ("tongue", "box", "label", "none"),
    [
        ("en", "Test Target", "Model", "none: the sources’ own sentences"),
        ("fr", "Cible", "Modèle", "aucun : les phrases mêmes des sources"),
    ],
)
def test_the_model_of_the_target_stands_in_the_box(
    page: Page, tongue: str, box: str, label: str, none: str
) -> None:
    if tongue != "en":
        page.select_option("select#language", tongue)
        expect(page.locator("html")).to_have_attribute("lang", tongue)
    model = page.get_by_role("group", name=box).get_by_label(label, exact=True)
    expect(model).to_be_visible()
    expect(model).to_have_text(none)
    expect(model).to_have_role("status")  # a change is announced
    page.select_option("select#target", "model")
    expect(model).to_have_text("openai (gpt-4o-mini)")
    page.select_option("select#target", "keyless")
    expect(model).to_contain_text("mistral")


def test_the_words_marked_are_exactly_those_cited(page: Page) -> None:
    ask(page)
    quote = page.locator("article.answer .answer-text").first.inner_text()
    page.locator("button.citation").first.click()
    marked = page.locator("#reader mark").first.inner_text()
    assert marked in quote


def test_a_question_without_an_answer_says_why_and_keeps_the_passages(page: Page) -> None:
    ask(page, "What was decided in Shelby County v. Holder?")
    answer = latest(page)
    expect(answer).to_contain_text("No answer")
    expect(answer).to_contain_text("No passage found has “Shelby” or “Holder”.")
    assert answer.locator(".sources li").count() >= 3


def test_a_refusal_shows_the_numbers_behind_it(page: Page) -> None:
    ask(page, "How do I bake sourdough bread at home?")
    expect(latest(page).locator(".notice .code")).to_contain_text("similarity needed 0.35")


def test_a_refused_request_is_shown_and_the_question_kept(page: Page) -> None:
    begin(page, "?!?")
    expect(page.get_by_role("alert").first).to_contain_text("The question is empty")
    expect(page.locator("textarea#question")).to_have_value("?!?")


def test_the_page_works_by_keyboard_alone(page: Page) -> None:
    page.locator("textarea#question").focus()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Control+Enter")
    chip = page.locator("article.answer[data-state=done] button.citation").first
    expect(chip).to_be_visible(timeout=60_000)
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.locator("button.citation:focus").count():
            break
    expect(chip).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#reader mark").first).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(chip).to_be_focused()


def test_every_control_has_a_name(page: Page) -> None:
    ask(page)
    unnamed = page.locator("button, a, select, textarea, input").evaluate_all(
        "controls => controls.filter(c => !(c.textContent.trim() || c.ariaLabel || c.labels?.length"
        " || c.getAttribute('aria-labelledby'))).map(c => c.outerHTML)"
    )
    assert unnamed == []


def test_a_phone_shows_it_without_scrolling_sideways(page: Page) -> None:
    page.set_viewport_size(PHONE)
    ask(page)
    page.locator("button.citation").first.click()
    expect(page.locator("#reader mark").first).to_be_in_viewport()
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert overflow <= 0


ABOVE = """() => [...document.querySelectorAll('#ask-form > .buttons button')]
  .map((button) => button.getBoundingClientRect())
  .filter(({ width, top, bottom }) => width > 0 && top >= 0 && bottom <= innerHeight)
  .map(({ x, y, width, height }) => document.elementFromPoint(x + width / 2, y + height / 2))
  .filter((node) => node.closest('#reader') === null)
  .map((node) => node.outerHTML)"""


def test_the_document_on_a_phone_covers_the_page(page: Page) -> None:
    page.set_viewport_size(PHONE)
    ask(page)
    page.locator("button.citation").first.click()
    expect(page.locator("#reader mark").first).to_be_in_viewport()
    # what is inert is passed over, though it may be seen
    page.evaluate("document.querySelectorAll('[inert]').forEach((node) => (node.inert = false))")
    for place in ("0", "document.body.scrollHeight", "innerHeight / 2"):
        page.evaluate(f"window.scrollTo(0, {place})")
        assert page.evaluate(ABOVE) == []


@pytest.mark.parametrize("width", [1000, 1600])
def test_nothing_lies_over_the_document_beside_the_answer(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    ask(page)
    page.locator("button.citation").first.click()
    expect(page.locator("#reader mark").first).to_be_in_viewport()
    over = page.evaluate(
        """() => {
          const { left, right, top, bottom } =
            document.getElementById("reader").getBoundingClientRect();
          const share = [0.05, 0.25, 0.5, 0.75, 0.95];
          return share.flatMap((x) => share.map((y) => document.elementFromPoint(
            left + x * (right - left), top + y * (Math.min(bottom, innerHeight) - top))))
            .filter((node) => node.closest("#reader") === null).map((node) => node.outerHTML);
        }"""
    )
    assert over == []


def test_chat_history_and_session_go_with_the_next_question(page: Page) -> None:
    ask(page)
    with page.expect_request("**/api/ask/stream") as sent:
        begin(page, "Which case decided that?")
    body = sent.value.post_data_json
    assert [turn["role"] for turn in body["chat_history"]] == ["user", "assistant"]
    assert body["chat_history"][0]["content"] == QUESTION
    assert body["session_id"]
