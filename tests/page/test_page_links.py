"""Answers taken home from the page, and links to passages."""

import json
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.page.asking import QUESTION, ask, best_passage, latest

pytestmark = pytest.mark.browser


def test_an_answer_and_a_conversation_can_be_taken_home(page: Page) -> None:
    ask(page)
    own = latest(page).locator("details.export")
    own.locator("summary").click()
    with page.expect_download() as markdown:
        own.get_by_role("button", name="Markdown").click()
    assert markdown.value.suggested_filename.endswith(".md")
    assert markdown.value.path().read_text().startswith(f"# {QUESTION}")
    with page.expect_download() as bundle:
        own.get_by_role("button", name="Run bundle").click()
    assert QUESTION in bundle.value.path().read_text()
    ask(page, "Is abortion lawful up to 20 weeks in New Zealand?")
    conversation = page.locator("#export-conversation")
    conversation.locator("summary").click()
    with page.expect_download() as both:
        conversation.get_by_role("button", name="JSON", exact=True).click()
    assert len(json.loads(both.value.path().read_text())["answers"]) == 2


def test_a_link_to_a_passage_opens_it_in_its_document(page: Page, server: str) -> None:
    passage = best_passage(server)
    link = f"{server}/?passage={quote(passage['passage_id'], safe='')}"
    page.goto(link)
    mark = page.locator("#reader mark").first
    expect(mark).to_be_in_viewport()
    assert mark.inner_text() in passage["text"]
    own = page.get_by_role("link", name="Link to this passage")
    expect(own).to_have_attribute("href", link)


def test_a_link_to_an_unknown_passage_says_so(page: Page, server: str) -> None:
    page.goto(f"{server}/?passage=legal_uk.nothing%3A0")
    expect(page.locator("#reader").get_by_role("alert")).to_contain_text("legal_uk.nothing:0")
