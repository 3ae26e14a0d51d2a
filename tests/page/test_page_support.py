"""What the page shows of a judge: what it struck, and the contradictions it found."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.chat_server import TEXT, Request, Says
from tests.judging import FALSE, REASON, TRUE, both_said, falsehood, reply, sentences_in, writes
from tests.judging import tokens as tokens_in
from tests.openai_server import OpenAIServer
from tests.page.asking import ask, latest

pytestmark = pytest.mark.browser

DETAIL = "One says that it may sue, the other that it may not."


def two_sources(request: Request) -> str:
    """Both sentences, each with a source of its own."""
    first, second = tokens_in(request)[:2]
    return f"{TRUE} {first}. It was heard {second}."


def finds_a_contradiction(request: Request) -> Says:
    """All is supported, but its sources contradict each other."""
    first, second = tokens_in(request)[:2]
    verdicts = [(number, "supported", "") for number in sentences_in(request)]
    return reply(verdicts, [(first, second, DETAIL)])


@pytest.fixture
def judged(page: Page, model: OpenAIServer) -> Iterator[Page]:
    """The page with a target that has its answers judged."""
    page.get_by_label("Target", exact=True).select_option("judged")
    yield page
    model.says(TEXT)


def test_what_was_struck_is_listed_with_its_reason(judged: Page, model: OpenAIServer) -> None:
    writes(model, both_said)
    ask(judged)
    expect(latest(judged).locator(".answer-text")).to_have_text(f"{TRUE}.1")
    struck = latest(judged).locator(".struck")
    expect(struck.locator("summary")).to_have_text(
        "Struck: 1 sentence that the sources do not support"
    )
    expect(struck.locator("del")).to_have_text(f"{FALSE}.")
    expect(struck).to_contain_text(f"unsupported: {REASON}")
    expect(latest(judged).locator(".judge")).to_have_text(
        "Each cited sentence was checked against the cited passages by the language model."
    )


def test_an_answer_without_support_is_declined(judged: Page, model: OpenAIServer) -> None:
    writes(model, falsehood)
    ask(judged, "May a council sue a newspaper for libel?")
    notice = latest(judged).locator(".answer-text .notice")
    expect(notice).to_contain_text("The sources do not support what was written.")
    expect(notice).to_contain_text("ABSTAIN · unsupported")
    expect(latest(judged).locator(".judge")).to_have_count(0)


def test_a_contradiction_that_the_judge_found_is_marked_as_its_word(
    judged: Page, model: OpenAIServer
) -> None:
    writes(model, two_sources, judge=finds_a_contradiction)
    ask(judged, "May a public authority sue a newspaper for libel?")
    found = latest(judged).locator(".conflicts li", has_text=DETAIL)
    expect(found).to_contain_text("Found by the language model that checked the answer.")
    expect(found.locator("blockquote")).to_have_count(2)
