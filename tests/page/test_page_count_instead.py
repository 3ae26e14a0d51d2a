"""Questions that ask how many documents say something are counted exactly, and no others are."""

import json

import pytest
from playwright.sync_api import Page, expect

from tests.page.asking import ask, latest
from tests.page.words import asked
from tests.places import ROOT

pytestmark = pytest.mark.browser

COUNTED = {
    "How many documents mention libel?": "libel",
    "how many of the documents say “right to silence”": "right to silence",
    "How many judgments use the word proportionality?": "proportionality",
    "In how many cases does the phrase duty of care appear?": "duty of care",
    "How often is the word 'liberty' used?": "liberty",
    "How many times does the word court occur ?": "court",
    "How many texts mention the Supreme Court?": "Supreme Court",
    "Combien de documents mentionnent la diffamation ?": "diffamation",
    "Combien de textes contiennent le mot « liberté » ?": "liberté",
    "Dans combien de lois figure l’expression ordre public ?": "ordre public",
    "Combien de fois apparaît le mot grève ?": "grève",
}
NOT_COUNTED = [
    "How many judges sit on the Supreme Court?",
    "How many documents must an applicant file?",
    "How many documents mention that a local authority cannot sue?",
    "How many cases say anything about juries?",
    "How many documents mention libel or slander?",
    "How many articles contain more than one penalty clause today?",
    "How often must the register be kept?",
    "How many times can a person be tried for the same offence?",
    "What do the documents mention of libel?",
    "Tell me how many documents mention libel and why.",
    "Combien de juges siègent à la Cour suprême ?",
    "Combien de documents faut-il produire ?",
    "Combien de textes disent qui peut voter ?",
    "Combien de fois peut-on être jugé ?",
]


def words_of(page: Page, questions: list[str]) -> list[str]:
    script = """questions => import('/static/words/count_instead.js')
        .then((module) => questions.map(module.wordsAskedFor))"""
    return page.evaluate(script, questions)


def test_clear_forms_are_counted_and_nothing_else(page: Page) -> None:
    assert dict(zip(COUNTED, words_of(page, list(COUNTED)), strict=True)) == COUNTED
    assert set(words_of(page, NOT_COUNTED)) == {""}


def test_no_labelled_question_is_taken_for_one(page: Page) -> None:
    lines = (ROOT / "create" / "samples" / "labels.jsonl").read_text().splitlines()
    questions = [json.loads(line)["question"] for line in lines if line.strip()]
    assert len(questions) > 150
    assert set(words_of(page, questions)) == {""}


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


def test_what_no_document_says_is_told_and_other_questions_have_no_count(page: Page) -> None:
    ask(page, "How many documents mention zyzzyva?")
    expect(latest(page).locator(".counted")).to_have_text(
        "Counted exactly: no document says “zyzzyva”."
    )
    ask(page, "How many judges sit on the Supreme Court?")
    expect(latest(page).locator(".counted")).to_have_count(0)
