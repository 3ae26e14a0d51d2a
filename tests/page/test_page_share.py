"""Links that restore a question and show its answer."""

from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.page.asking import QUESTION, ask, latest

pytestmark = pytest.mark.browser


def link(page: Page, name: str) -> str:
    tools = latest(page).locator(".copying")
    tools.get_by_role("button", name=name).click()
    expect(tools.get_by_role("status")).to_contain_text("The link is copied.")
    copied: str = page.evaluate("navigator.clipboard.readText()")
    return copied


@pytest.fixture
def asked(page: Page, server: str) -> Page:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server)
    page.get_by_label("Collection").select_option("legal_uk")
    ask(page)
    return page


def test_a_link_to_an_answer_shows_the_same_and_asks_nothing(asked: Page) -> None:
    text = latest(asked).locator(".answer-text").inner_text()
    address = link(asked, "Copy link to this answer")
    sent: list[str] = []
    asked.on("request", lambda request: sent.append(request.url))
    asked.goto("about:blank")
    asked.goto(address)
    expect(latest(asked).locator(".answer-text")).to_have_text(text, use_inner_text=True)
    expect(asked.locator(".shared")).to_contain_text("You were sent this answer of")
    assert not any("ask/stream" in url for url in sent)
    assert not any(quote(QUESTION[:12]) in url for url in sent[1:])  # of no request to the server
    expect(asked.get_by_label("Collection")).to_have_value("legal_uk")


def test_a_link_to_a_question_fills_the_form_and_asks_on_a_click(asked: Page) -> None:
    address = link(asked, "Copy link to the question")
    sent: list[str] = []
    asked.on("request", lambda request: sent.append(request.url))
    asked.goto("about:blank")
    asked.goto(address)
    offer = asked.get_by_role("button", name="Ask this question")
    expect(offer).to_be_visible()
    expect(asked.locator("textarea#question")).to_have_value(QUESTION)
    assert not any("ask/stream" in url for url in sent)
    with asked.expect_request("**/api/ask/stream") as begun:
        offer.click()
    assert begun.value.post_data_json["corpus_filter"] == "legal_uk"


FILTERED = (
    "() => part('ask/scope.js').then(({changeScope}) => changeScope("
    "{filters: {court: ['House of Lords'], date: {from: '1900'}}, require: ['libel']}))"
)


@pytest.mark.parametrize("name", ["Copy link to the question", "Copy link to this answer"])
def test_a_link_restores_filters_target_passages_and_comparing(
    page: Page, server: str, name: str
) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server)
    page.evaluate(FILTERED)
    page.get_by_role("spinbutton", name="Passages").fill("7")
    page.get_by_label("Compare the corpora").check()
    page.get_by_label("Target", exact=True).select_option("replaced")
    with page.expect_request("**/api/ask/stream") as first:
        ask(page)
    address = link(page, name)
    page.goto("about:blank")
    page.goto(address)
    expect(page.locator(".shared")).to_be_visible()
    expect(page.get_by_label("Target", exact=True)).to_have_value("replaced")
    expect(page.get_by_role("spinbutton", name="Passages")).to_have_value("7")
    expect(page.get_by_label("Compare the corpora")).to_be_checked()
    chips = page.get_by_role("list", name="What narrows the search")
    for chip in ("Court: House of Lords", "Date: from 1900", "Must hold “libel”"):
        expect(chips).to_contain_text(chip)
    page.fill("textarea#question", QUESTION)
    with page.expect_request("**/api/ask/stream") as second:
        page.get_by_role("button", name="Ask", exact=True).click()
    asked, again = (sent.value.post_data_json for sent in (first, second))
    kept = ("target", "k", "mode", "corpus_filter", "filters", "require")
    assert {field: again[field] for field in kept} == {field: asked[field] for field in kept}


def test_an_answer_that_is_not_shared_any_more_leaves_its_question(page: Page, server: str) -> None:
    state = quote('{"question": "<b>Who?</b>", "shared": "nothing"}')
    page.goto("about:blank")
    page.goto(f"{server}/#ask={state}")
    expect(page.locator(".shared").get_by_role("alert")).to_contain_text("no such link")
    expect(page.locator(".shared")).to_contain_text("“<b>Who?</b>”")
    expect(page.locator("textarea#question")).to_have_value("<b>Who?</b>")


@pytest.mark.parametrize("state", ["no json", "[]", '{"question": 1}', '{"filters": null}'])
def test_a_link_that_says_nothing_is_left_alone(page: Page, server: str, state: str) -> None:
    page.goto("about:blank")
    page.goto(f"{server}/#ask={quote(state)}")
    expect(page.locator("select#collection option").nth(1)).to_be_attached()
    expect(page.locator(".shared")).to_have_count(0)
