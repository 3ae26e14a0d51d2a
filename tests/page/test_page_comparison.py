"""Corpora compared in the page, and sources that disagree."""

import pytest
from playwright.sync_api import Page, expect

from tests.chat_server import Request
from tests.openai_server import OpenAIServer
from tests.page.asking import ask, best_passage, latest

pytestmark = pytest.mark.browser


def test_corpora_are_compared_and_say_what_they_agree_and_differ_about(page: Page) -> None:
    page.get_by_label("Compare the corpora").check()
    with page.expect_request("**/api/ask/stream") as sent:
        ask(page, "Which grounds make marriage between two people of the same sex lawful?")
    assert sent.value.post_data_json["mode"] == "compare"
    blocks = latest(page).locator("[data-corpus]")
    expect(blocks.locator("h3")).to_have_text(["Legal UK", "Legal US", "Legislation NZ"])
    for heading in ("Agreements", "Differences"):
        expect(latest(page).get_by_role("heading", name=heading)).to_be_visible()
    chip = latest(page).locator("[data-corpus=legislation_nz] button.citation").first
    chip.click()
    expect(page.locator("#reader mark").first).to_be_in_viewport()


def test_what_a_model_finds_the_corpora_agree_about_is_cited(
    page: Page, server: str, model: OpenAIServer
) -> None:
    question = "What must a person be told when arrested?"
    us, nz = (
        best_passage(server, question, corpus)["marker"]
        for corpus in ("legal_us", "legislation_nz")
    )

    def answered(request: Request) -> str:
        if "AGREE:" in request.prompt:
            return f"AGREE: A lawyer must be named {us} {nz}."
        of_us = 'corpus="legal_us"' in request.prompt
        return f"A lawyer must be named {us if of_us else nz}."

    model.says(answered)
    page.get_by_label("Target", exact=True).select_option("model")
    page.get_by_label("Compare the corpora").check()
    ask(page, question)
    agreements = latest(page).locator("section", has=page.get_by_role("heading", name="Agreements"))
    expect(agreements.get_by_role("listitem")).to_have_text("A lawyer must be named.12")


def test_one_corpus_alone_cannot_be_compared(page: Page) -> None:
    page.get_by_label("Compare the corpora").check()
    page.get_by_label("Collection").select_option("legal_us")
    expect(page.get_by_label("Compare the corpora")).to_be_disabled()
    with page.expect_request("**/api/ask/stream") as sent:
        ask(page)
    assert sent.value.post_data_json["mode"] == "answer"


def test_a_source_that_was_superseded_is_listed_with_both_places(page: Page) -> None:
    ask(page, "Is separate but equal lawful?")
    conflicts = latest(page).locator("details.conflicts")
    expect(conflicts.locator("summary")).to_have_text("A source has taken the place of another")
    expect(conflicts).to_contain_text("superseded by Brown v. Board of Education")
    expect(conflicts).to_contain_text("The answer cites one side only.")
    for title in ("Plessy v. Ferguson", "Brown v. Board of Education"):
        expect(conflicts.get_by_role("button", name=title)).to_be_visible()
    quote = conflicts.locator("blockquote").first.inner_text()
    conflicts.get_by_role("button", name="Plessy v. Ferguson").click()
    expect(page.locator("#reader mark").first).to_have_text(quote)
