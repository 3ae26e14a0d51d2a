"""Answers in the making: shown sentence by sentence, stopped, kept; and a connection that is lost
or a server that begins anew: the page stays usable and the question is kept."""

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Page, expect

from atlas_search.building.flow import BuildReport
from tests.chat_server import Gate, Hang, Pause, Says, sentence
from tests.conftest import free_port
from tests.openai_server import OpenAIServer
from tests.page.asking import (
    FOLLOW_UP,
    QUESTION,
    STREAM,
    ask,
    begin,
    best_passage,
    choose_target,
    finished,
    latest,
    open_citation,
    settle,
)
from tests.page.conftest import open_page
from tests.page.rating import ask_for_id, expect_saved, saved_rating
from tests.page.watching import expect_faults
from tests.servers import ATLAS, Server, answers, running, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
SHIFTS = """() => {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, startTime, sources } of list.getEntries())
      window.shifts.push([startTime, value, sources.map(({ node }) => node?.outerHTML ?? "")]);
  }).observe({ type: 'layout-shift', buffered: false });
}"""
PLANTED = """async () => {
  const seen = window.shifts.length;
  const planted = document.createElement("div");
  planted.style.height = "150px";
  planted.textContent = "planted"; // what is empty has no place
  document.querySelector("article.answer:last-of-type .answer-text").before(planted);
  await new Promise((resolve) => setTimeout(resolve, 300));
  return window.shifts.slice(seen).map(([, value]) => value);
}"""


def test_a_sentence_is_shown_once_it_is_whole(page: Page, server: str, model: OpenAIServer) -> None:
    question = "May a local authority bring an action for libel?"
    rest = Gate()
    half = ('{"text": "It must', rest, ' pay.", "passages": [1]}')
    model.then(Says(sentence("The council lost.", 1), *half))
    choose_target(page, "model")
    begin(page, question)
    text = latest(page).locator(".answer-text")
    title = best_passage(server, question)["title"]
    expect(text).to_have_text(f"The council lost. ({title})")
    rest.set()
    doubt = "This sentence shares no word with what it cites."
    expect(text).to_have_text(f"The council lost.1 It must pay.2{doubt}")
    expect(latest(page).locator(".judge")).to_contain_text("nobody checked that these support")
    expect(latest(page).get_by_text("VERIFY")).to_have_count(0)


def test_stop_ends_the_answer_in_the_server_and_at_the_model(
    page: Page, model: OpenAIServer
) -> None:
    model.then(Says(sentence("Local authorities have long been.", 1), Hang()))
    choose_target(page, "model")
    with page.expect_request(STREAM) as begun:
        begin(page, "Who may not sue a newspaper for libel?")
    expect(latest(page).locator(".answer-text")).to_contain_text("long been")
    with page.expect_request(lambda request: request.method == "DELETE") as stopped:
        page.get_by_role("button", name="Stop").click()
    assert stopped.value.url.endswith(f"/api/ask/{begun.value.post_data_json['qa_id']}")
    assert model.left.get(timeout=20).path == "/v1/chat/completions"
    expect(latest(page)).to_contain_text("Stopped before the answer was complete.")
    page.reload()
    expect(latest(page).locator(".answer-text")).to_contain_text("long been")
    expect(latest(page)).to_contain_text("Stopped before the answer was complete.")
    expect(latest(page).get_by_role("button", name="Ask again")).to_be_visible()


def test_what_was_written_when_the_page_was_left_is_there_again(
    page: Page, model: OpenAIServer
) -> None:
    model.then(Says(sentence("Local authorities have long been.", 1), Hang()))
    choose_target(page, "model")
    begin(page, "Who may not sue a newspaper for libel?")
    expect(latest(page).locator(".answer-text")).to_contain_text("long been")
    for _ in range(2):  # the second time it is the conversation's
        page.reload()
        expect(latest(page).locator(".answer-text")).to_contain_text("long been")
        expect(latest(page)).to_contain_text("The page was left before this was answered.")
    expect(latest(page).get_by_role("button", name="Ask again")).to_be_visible()


def test_the_same_question_in_a_new_conversation_is_answered_from_the_cache(page: Page) -> None:
    ask(page)
    settle(page)  # or the question leaves the box when it is there for the second time
    page.get_by_role("button", name="New conversation").click()
    ask(page)
    expect(page.locator("#status")).to_contain_text("from the cache")


def test_text_that_streams_moves_nothing(page: Page, model: OpenAIServer) -> None:
    ask(page)  # stands below the next answer
    words = "A local authority cannot sue for libel [1]. " * 6
    model.then(Says(*(part for word in words.split() for part in (f"{word} ", Pause(0.02)))))
    choose_target(page, "model")
    begin(page, "May a council bring an action for libel?")
    text = latest(page).locator(".answer-text")
    expect(text).to_contain_text("10 passages")
    page.evaluate(SHIFTS)
    expect(text).to_contain_text("cannot sue", timeout=20_000)
    state = "() => document.querySelector('.answer:last-child').dataset.state !== 'running'"
    shifts = []
    while not page.evaluate(state):
        shifts = page.evaluate("() => window.shifts")
        page.evaluate("() => new Promise(requestAnimationFrame)")
    # a line that pushes the answer below away is .017; a busy machine once saw .0015
    assert sum(value for _, value, _ in shifts) < 0.01, shifts
    assert sum(page.evaluate(PLANTED)) > 0, "a shift would have been seen"


def test_a_lost_connection_leaves_the_question_and_a_click_asks_again(page: Page) -> None:
    expect_faults(page, "ERR_INTERNET_DISCONNECTED")
    page.context.set_offline(True)
    begin(page)
    expect(latest(page)).to_contain_text("The server does not answer.")
    expect(page.locator("textarea#question")).to_have_value(QUESTION)
    page.context.set_offline(False)
    latest(page).get_by_role("button", name="Ask again").click()
    expect(finished(page).locator(".answer-text")).to_contain_text("cannot sue for libel")


def test_a_server_that_knows_nothing_of_before_goes_on(page: Page) -> None:
    expect_faults(page, "lost: net::ERR_FAILED .*/api/ask/stream")
    page.route(STREAM, lambda route: route.abort())
    page.route("**/api/ask/*/stream", lambda route: route.fulfill(status=404, json={}))
    begin(page)
    expect(latest(page).get_by_role("button", name="Ask again")).to_be_visible(timeout=30_000)
    page.unroute(STREAM)
    page.reload()
    expect(latest(page).locator("h2")).to_have_text(QUESTION)
    latest(page).get_by_role("button", name="Ask again").click()
    expect(latest(page).locator(".answer-text")).to_contain_text("cannot sue for libel")


@contextmanager
def serving(folder: Path, stores: Path, collection: str, **settings: str) -> Iterator[Server]:
    """`atlas serve`, a process of its own."""
    environment = {
        "CHROMA_PERSIST_DIRECTORY": str(stores),
        "CHROMA_COLLECTION_NAME": collection,
        **settings,
    }
    with running(*ATLAS, "serve", environment=environment, folder=folder) as process:
        wait_for(lambda: answers(f"{process.address('Atlas')}/api/live"), 60, "the server")
        yield process


@pytest.mark.phoenix
def test_a_question_and_a_vote_reach_phoenix(
    tab: Page, stores: Path, demo: BuildReport, phoenix: str, tmp_path: Path
) -> None:
    settings = {"ATLAS_PORT": "0", "PHOENIX_COLLECTOR_ENDPOINT": phoenix}
    with serving(tmp_path, stores, demo.manifest.collection, **settings) as process:
        address = process.address("Atlas")
        qa_id = ask_for_id(open_page(tab, address))
        trace = latest(tab).locator("a.trace").get_attribute("href") or ""
        assert trace.startswith(f"{phoenix}/redirects/traces/")
        assert httpx2.get(trace, follow_redirects=True).is_success
        latest(tab).get_by_role("button", name="Helpful", exact=True).click()
        expect_saved(tab)
        wait_for(lambda: saved_rating(tab, address, qa_id)["sent"] or None, 60, "the vote")


def test_a_question_is_answered_by_the_server_that_was_killed_and_started_again(
    tab: Page, stores: Path, demo: BuildReport, tmp_path: Path
) -> None:
    question = "Is the death penalty allowed?"
    name, port = demo.manifest.collection, str(free_port())
    with ExitStack() as first:
        process = first.enter_context(serving(tmp_path, stores, name, ATLAS_PORT=port))
        tab.goto(process.address("Atlas"))
        ask(tab)
        tab.fill("textarea#question", question)
        process.stop(signal.SIGKILL)
        expect_faults(tab, "ERR_CONNECTION_REFUSED")
        tab.get_by_role("button", name="Ask", exact=True).click()
        alert = latest(tab).get_by_role("alert")
        expect(alert).to_contain_text("The server does not answer.", timeout=30_000)
        expect(tab.locator("textarea#question")).to_have_value(question)
        # the answer of before can still be read
        expect(tab.locator("article.answer").first.locator("h2")).to_have_text(QUESTION)
        with serving(tmp_path, stores, name, ATLAS_PORT=port):
            latest(tab).get_by_role("button", name="Ask again").click()
            expect(finished(tab).locator("h2")).to_have_text(question)
            open_citation(tab)
            tab.keyboard.press("Escape")
            begin(tab, FOLLOW_UP)
            tab.reload()
            expect(tab.locator("article.answer").first.locator("h2")).to_have_text(QUESTION)
