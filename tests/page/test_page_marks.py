"""Sentences that nothing supports are marked, and all of it is said in French too."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.page.asking import QUESTION, ask, latest
from tests.page.watching import watched

pytestmark = pytest.mark.browser


def changing(change: Callable[[dict[str, Any]], None]) -> Callable[[Route], None]:
    """A route that hands on the real answer with something changed."""

    def handle(route: Route) -> None:
        fetched = route.fetch()
        frames = fetched.text().replace("\r\n", "\n").split("\n\n")
        for at, frame in enumerate(frames):
            if "event: complete" in frame:
                head, _, data = frame.partition("data: ")
                answer = json.loads(data)
                change(answer)
                frames[at] = f"{head}data: {json.dumps(answer)}"
        route.fulfill(response=fetched, body="\n\n".join(frames))

    return handle


def weaken(answer: dict[str, Any]) -> None:
    first = answer["sentences"][0]
    answer["sentences"] = [
        first,
        first | {"text": "Nobody said this.", "citations": [], "grounded": False},
        first | {"text": "Nobody judged this.", "support": "not_judged"},
        first | {"text": "That is all.", "citations": [], "grounded": False, "caveat": True},
    ]


def test_unsupported_sentences_are_marked_and_the_marks_explained(page: Page) -> None:
    page.route("**/api/ask/stream", changing(weaken))
    ask(page)
    text = latest(page).locator(".answer-text")
    expect(text.locator(".unsupported")).to_have_text(["Nobody said this.", "Nobody judged this."])
    expect(text.locator("sup.sign")).to_have_text(["† (without a source)", "‡ (not checked)"])
    legend = latest(page).locator(".legend p")
    expect(legend).to_have_text(
        [
            "† No source is cited for this sentence.",
            "‡ This sentence was not checked against what it cites.",
        ]
    )


def test_an_answer_that_holds_has_no_legend(page: Page) -> None:
    ask(page)
    expect(latest(page).locator(".legend, .unsupported")).to_have_count(0)


@pytest.fixture
def french(browser: Browser, server: str) -> Any:
    with watched(browser, locale="fr-FR") as context:
        opened = context.new_page()
        opened.goto(server)
        expect(opened.locator("select#collection option").nth(1)).to_be_attached()
        yield opened


def test_the_answer_is_described_in_french(french: Page) -> None:
    french.fill("textarea#question", QUESTION)
    french.click("button#ask")
    answer = latest(french)
    expect(answer).to_have_attribute("data-state", "done", timeout=60_000)
    expect(answer.locator(".scope")).to_contain_text(
        "Recherche dans 3 corpus (Legal UK, Legal US, Legislation NZ) : 84 documents, 415 passages,"
        " 1765 à 2025."
    )
    expect(answer.locator(".confidence summary")).to_have_text("Réponse probable")
    expect(answer.locator(".freshness")).to_contain_text("la plus récente a")
    answer.locator(".keep-menu summary").first.click()
    expect(answer.get_by_role("button", name="Ajouter une note").first).to_be_visible()


def test_a_refusal_is_explained_in_french(french: Page) -> None:
    french.fill("textarea#question", "How do I bake sourdough bread at home?")
    french.click("button#ask")
    notice = latest(french).locator(".notice").first
    expect(notice).to_contain_text("Aucun passage n’est assez proche de la question")
    expect(latest(french).locator(".scope")).to_contain_text(
        "aucune source ne contient « bake », « sourdough » ou « bread »"
    )
