"""What the page shows of a question that is not answered, and how surely quotes answer."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from atlas_search.core.ids import CLOSEST, CONFIDENCE
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.server.app import create_app
from tests.lighthouses import LIT, NOT_HELD, WHEN, WHEN_FROM_DUNEDIN, lighthouses
from tests.page.asking import ask, latest
from tests.page.watching import watched
from tests.servers import served

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, embedder: LocalEmbedder) -> Iterator[str]:
    with (
        lighthouses(tmp_path_factory.mktemp("closest"), embedder) as atlas,
        served(create_app(lambda: atlas)) as started,
    ):
        yield started


@pytest.fixture
def coast(browser: Browser, address: str) -> Iterator[Page]:
    """The page of the collection, opened."""
    with watched(browser) as context:
        opened = context.new_page()
        opened.goto(address)
        expect(opened.locator("select#collection option")).to_have_count(3)
        yield opened


def ask_of(page: Page, target: str, question: str) -> Locator:
    """The article of a question that this target was asked."""
    page.get_by_label("Target", exact=True).select_option(target)
    ask(page, question)
    return latest(page)


def text_before(answer: Locator, other: str) -> str:
    """What is shown above the element at `other`."""
    shown: str = answer.evaluate(
        "(article, at) => { const above = document.createRange(); above.setStart(article, 0);"
        " above.setEndBefore(article.querySelector(at)); return above.toString(); }",
        other,
    )
    return shown


def test_what_comes_closest_stands_below_the_reason_and_is_no_answer(coast: Page) -> None:
    answer = ask_of(coast, "usual", NOT_HELD)
    notice = answer.locator(".answer-text .notice")
    expect(notice).to_contain_text("No passage clearly answers this. The nearest says: ")
    expect(notice.locator(".code")).to_have_text(
        re.compile(r"^ABSTAIN · not_held · likelihood 0\.\d\d, needed 0\.22$")
    )
    closest = answer.get_by_role("region", name=CLOSEST)
    expect(closest.get_by_role("heading", name=CLOSEST)).to_be_visible()
    assert 1 <= closest.locator("blockquote").count() <= 3
    assert closest.locator("blockquote").count() == closest.get_by_role("listitem").count()
    assert "not_held" in text_before(answer, ".closest")
    expect(answer.locator("button.citation, ol.citations, .confidence")).to_have_count(0)


def test_a_closest_quote_says_where_it_is_from_and_opens_there(coast: Page) -> None:
    answer = ask_of(coast, "strict", WHEN)
    quoted = answer.get_by_role("region", name=CLOSEST).get_by_role("listitem").first
    expect(quoted.locator("blockquote")).to_have_text(LIT)
    expect(quoted.locator(".place")).to_have_text("North · 1891-05-02 · p. 1")
    quoted.get_by_role("button", name="The Skerry lighthouse").click()
    expect(coast.locator("#reader mark").first).to_have_text(LIT)


def test_what_comes_closest_is_not_announced_as_an_answer(coast: Page) -> None:
    answer = ask_of(coast, "strict", WHEN)
    expect(coast.locator("#status")).to_have_text(
        f"No answer: No passage clearly answers this. The nearest says: “{LIT}”"
    )
    assert answer.locator(".closest").evaluate("node => node.closest('[aria-live]')") is None


def test_a_word_says_how_surely_quotes_answer_and_unfolds_its_meaning(coast: Page) -> None:
    for target, question, word in (("usual", WHEN, "likely"), ("lenient", NOT_HELD, "possible")):
        answer = ask_of(coast, target, question)
        said = answer.locator(".confidence")
        expect(said.locator("summary")).to_have_text(CONFIDENCE[word])
        expect(said.locator("p")).to_be_hidden()
        said.locator("summary").click()
        expect(said.locator("p")).to_contain_text(f"Of answers called {word}, ")
        assert CONFIDENCE[word] in text_before(answer, ".answer-text")
        expect(answer.locator(".closest")).to_have_count(0)


def test_what_quotes_leave_open_stands_above_them_and_is_not_folded(coast: Page) -> None:
    answer = ask_of(coast, "usual", WHEN_FROM_DUNEDIN)
    expect(answer.locator(".answer-text")).to_contain_text(LIT)
    expect(answer.get_by_text("No passage found has “Dunedin”.")).to_be_visible()
    expect(answer.get_by_text("No passage found has “Dunedin”.")).to_have_count(1)
    assert "“Dunedin”." in text_before(answer, ".answer-text")


def test_sentences_that_stand_in_for_a_model_and_do_not_answer_are_not_said_to(coast: Page) -> None:
    answer = ask_of(coast, "replaced", WHEN)
    expect(answer.locator(".notice").first).to_contain_text(
        re.compile(r"^Neither mistral.* nor the sources’ own sentences answer\. .*MISTRAL_API_KEY")
    )
    expect(answer.locator(".closest blockquote").first).to_have_text(LIT)


def test_in_a_comparison_each_corpus_says_how_surely_it_answers_or_why_not(coast: Page) -> None:
    coast.get_by_label("Compare the corpora").check()
    answer = ask_of(coast, "usual", WHEN)
    north, south = answer.locator("[data-corpus=north]"), answer.locator("[data-corpus=south]")
    expect(north.locator(".confidence summary")).to_have_text(CONFIDENCE["likely"])
    expect(south).to_contain_text("No answer")
    expect(south.locator(".confidence")).to_have_count(0)
    expect(answer.locator(".closest")).to_have_count(0)
    answer = ask_of(coast, "strict", WHEN)
    expect(answer.locator("[data-corpus] .notice")).to_have_count(2)
    expect(answer.locator(".closest blockquote").first).to_have_text(LIT)
