"""Answers in the making: flagged, withdrawn, stopped, resumed."""

import pytest
from playwright.sync_api import Page, Route, expect

from tests.chat_server import Gate, Hang, Says, sentence
from tests.openai_server import OpenAIServer
from tests.page.asking import ask, begin, best_passage, latest, settled

pytestmark = pytest.mark.browser


def test_a_sentence_that_does_not_hold_is_flagged_and_a_new_draft_announced(
    page: Page, server: str, model: OpenAIServer
) -> None:
    passage = best_passage(server)
    first, second = Gate(), Gate()
    model.then(
        Says(sentence("Councils may not sue. [made.up p1]"), first, sentence("They are public.")),
        Says(second, sentence(f"A local authority cannot sue for libel. {passage['marker']}")),
    )
    page.get_by_label("Target", exact=True).select_option("model")
    begin(page)
    flag = latest(page).locator(".flag")
    expect(flag).to_have_text(
        "Not verified: this sentence cites [made.up p1], which was not retrieved."
    )
    first.set()
    expect(page.locator("#status")).to_have_text(
        "The first draft could not be verified; writing it again."
    )
    expect(latest(page).locator(".answer-text")).not_to_contain_text("Councils")
    second.set()
    expect(latest(page)).to_have_attribute("data-state", "done")
    expect(latest(page).locator(".answer-text")).to_have_text(
        "A local authority cannot sue for libel.1"
    )
    expect(flag).to_have_count(0)
    expect(latest(page).locator(".retrieval")).to_contain_text("openai (gpt-4o-mini")


def test_a_sentence_is_shown_once_it_is_whole(page: Page, server: str, model: OpenAIServer) -> None:
    question = "May a local authority bring an action for libel?"
    rest = Gate()
    model.then(
        Says(
            sentence("The council lost.", 1), '{"text": "It must', rest, ' pay.", "passages": [1]}'
        )
    )
    page.get_by_label("Target", exact=True).select_option("model")
    begin(page, question)
    text = latest(page).locator(".answer-text")
    title = best_passage(server, question)["title"]
    expect(text).to_have_text(f"The council lost. ({title}, p. 1)")
    rest.set()
    expect(text).to_have_text("The council lost.1 It must pay.2")


def test_stop_ends_the_answer_in_the_server_and_at_the_model(
    page: Page, model: OpenAIServer
) -> None:
    model.then(Says(sentence("Local authorities have long been.", 1), Hang()))
    page.get_by_label("Target", exact=True).select_option("model")
    with page.expect_request("**/api/ask/stream") as asked:
        begin(page, "Who may not sue a newspaper for libel?")
    expect(latest(page).locator(".answer-text")).to_contain_text("long been")
    with page.expect_request(lambda request: request.method == "DELETE") as stopped:
        page.get_by_role("button", name="Stop").click()
    assert stopped.value.url.endswith(f"/api/ask/{asked.value.post_data_json['qa_id']}")
    assert model.left.get(timeout=20).path == "/v1/chat/completions"
    expect(latest(page)).to_contain_text("Stopped before the answer was complete.")


def test_the_same_question_in_a_new_conversation_is_answered_from_the_cache(page: Page) -> None:
    ask(page)
    settled(page)  # or the question leaves the box when it is there for the second time
    page.get_by_role("button", name="New conversation").click()
    ask(page)
    expect(page.locator("#status")).to_contain_text("from the cache")


def test_a_stream_that_breaks_is_resumed_and_unknown_events_are_passed_over(page: Page) -> None:
    def cut(route: Route) -> None:
        """The first event alone, and one the page does not know."""
        whole = route.fetch().text()
        first, _, _ = whole.partition("\n\n")
        body = f"{first}\n\nevent: novelty\ndata: {{}}\n\n"
        route.fulfill(body=body, content_type="text/event-stream")

    page.route("**/api/ask/stream", cut)
    with page.expect_request("**/api/ask/*/stream") as resumed:
        ask(page)
    assert resumed.value.headers["last-event-id"] == "1"
    expect(latest(page).locator(".answer-text")).to_contain_text("cannot sue for libel")
