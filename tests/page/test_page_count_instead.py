"""Questions that ask how many documents say something have the exact count for an answer."""

import pytest
from playwright.sync_api import Page, expect

from tests.page.asking import ask, latest
from tests.page.words import asked

pytestmark = pytest.mark.browser


def test_the_count_stands_with_the_answer_and_opens_its_lines(page: Page, server: str) -> None:
    total = asked(server, "counts", query='"libel"')["total"]
    ask(page, "How many documents mention libel?")
    note = latest(page).locator(".counted")
    expect(note).to_contain_text(f"Counted exactly: {total['documents']} documents say “libel”.")
    note.get_by_role("button", name="Show the lines").click()
    expect(page.get_by_label("Words to count")).to_have_value('"libel"')
    expect(page.locator(".line:not(.head)")).to_have_count(total["hits"])
    page.go_back()
    page.go_back()
    expect(latest(page).locator(".counted")).to_be_visible()
    page.reload()
    expect(latest(page).locator(".counted")).to_contain_text(f"{total['documents']} documents")


def test_the_lines_are_those_of_the_corpus_that_was_asked(page: Page, server: str) -> None:
    page.get_by_label("Collection").select_option("legal_uk")
    total = asked(server, "counts", query='"libel"', corpus_filter="legal_uk")["total"]
    ask(page, "How many documents mention libel?")
    page.get_by_label("Collection").select_option("all")
    note = latest(page).locator(".counted")
    expect(note).to_contain_text("Counted exactly: 1 document says “libel”.")
    note.get_by_role("button", name="Show the lines").click()
    expect(page.locator(".line:not(.head)")).to_have_count(total["hits"])


def test_what_no_document_says_is_told_and_other_questions_have_no_count(page: Page) -> None:
    ask(page, "How many documents mention zyzzyva?")
    expect(latest(page).locator(".counted")).to_have_text(
        "Counted exactly: no document says “zyzzyva”."
    )
    ask(page, "How many judges sit on the Supreme Court?")
    expect(latest(page).locator(".counted")).to_have_count(0)
