"""The page says below every answer what was searched for it, and says it once."""

import pytest
from playwright.sync_api import Page, expect

from tests.page.asking import ask, latest

pytestmark = pytest.mark.browser

EVERYTHING = "Searched 3 corpora (Legal UK, Legal US, Legislation NZ): 84 documents"


def test_below_an_answer_stands_what_was_searched(page: Page) -> None:
    ask(page)
    scope = latest(page).locator(".scope")
    expect(scope).to_have_count(1)
    expect(scope).to_contain_text(EVERYTHING)
    below = page.evaluate(
        "() => { const [text, scope] = ['.answer-text', '.scope'].map("
        "name => document.querySelector(`article.answer ${name}`).getBoundingClientRect());"
        " return scope.top >= text.bottom; }"
    )
    assert below


def test_an_answer_from_one_corpus_does_not_look_as_if_all_was_searched(page: Page) -> None:
    page.get_by_label("Collection").select_option("legal_us")
    ask(page)
    expect(latest(page).locator(".scope")).to_contain_text("Searched 1 of 3 corpora (Legal US): ")


def test_where_nothing_was_found_it_says_where_and_which_words_are_nowhere(page: Page) -> None:
    ask(page, "How do I bake sourdough bread at home?")
    answer = latest(page)
    expect(answer).to_contain_text("No answer")
    expect(answer.locator(".scope")).to_contain_text(EVERYTHING)
    expect(answer.locator(".scope")).to_contain_text(
        "; no source holds “bake”, “sourdough” or “bread”."
    )
    # said once: not again among the notes, which are counts of candidates
    expect(answer.locator(".retrieval .notes li")).to_have_count(3)
    expect(answer.locator(".retrieval")).not_to_contain_text("sourdough")


def test_a_comparison_says_what_all_corpora_held(page: Page) -> None:
    page.get_by_label("Compare the corpora").check()
    ask(page, "Is the death penalty allowed?")
    expect(latest(page).locator(".scope")).to_contain_text(EVERYTHING)
