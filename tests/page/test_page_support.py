"""What the page shows of a judge: what it struck."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.chat_server import TEXT
from tests.judging import FALSE, REASON, TRUE, both_said, falsehood, writes
from tests.openai_server import OpenAIServer
from tests.page.asking import ask, latest

pytestmark = pytest.mark.browser


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
    expect(struck).to_contain_text(REASON)
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
