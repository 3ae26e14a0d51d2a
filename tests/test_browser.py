"""The page in a real Chromium: the whole path from a question to the marked words and the trace."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Locator,
    Page,
    Route,
    expect,
    sync_playwright,
)

from atlas_search.build.build import BuildReport
from tests.browser import chromium
from tests.chat_server import KEY, Gate, Hang, Request, Says
from tests.conftest import require
from tests.openai_server import OpenAIServer, openai_server
from tests.places import ROOT
from tests.servers import ATLAS, running

pytestmark = pytest.mark.browser

QUESTION = "Can a local authority sue a newspaper for libel?"
TARGETS = {
    "model": "LLM_PROVIDER=openai",
    "keyless": "LLM_PROVIDER=mistral",
    "replaced": "LLM_PROVIDER=mistral\nLLM_MODEL=mistral-small\nLLM_FALLBACK=extractive",
}
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PHONE = {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = chromium()
    require("browser", present=path is not None, remedy="no Chromium was found: `make browser`")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def model() -> Iterator[OpenAIServer]:
    """The language model of the target `model`."""
    with openai_server() as started:
        yield started


@pytest.fixture(scope="module")
def server(
    stores: Path, demo: BuildReport, phoenix: str, model: OpenAIServer, tmp_path_factory
) -> Iterator[str]:
    """A real server of the bundled collection, with TARGETS and the default one; its address."""
    folder = tmp_path_factory.mktemp("browser")
    shutil.copy(ROOT / "targets" / "k10_extractive.txt", folder)
    for name, lines in TARGETS.items():
        (folder / f"{name}.txt").write_text(lines)
    environment = {
        "CHROMA_PERSIST_DIRECTORY": str(stores),
        "CHROMA_COLLECTION_NAME": demo.manifest.collection,
        "ATLAS_PORT": "0",
        "PHOENIX_COLLECTOR_ENDPOINT": phoenix,
        "TARGETS_DIRECTORY": str(folder),
        "OPENAI_BASE_URL": model.address,
        "OPENAI_API_KEY": KEY,
    }
    with running(*ATLAS, "serve", environment=environment, folder=folder) as started:
        yield started.address("Atlas")


@pytest.fixture
def page(browser: Browser, server: str) -> Iterator[Page]:
    """The page, opened; a script error or a blocked resource fails the test."""
    faults: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        # the browser itself reports answers of 4xx as errors; tests ask for them on purpose
        if message.type == "error" and "Failed to load resource" not in message.text:
            faults.append(message.text)

    context = browser.new_context()
    opened = context.new_page()
    opened.on("console", listen)
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.goto(server)
    expect(opened.locator("select#collection option")).to_have_count(4)
    yield opened
    context.close()
    assert faults == []


def ask(page: Page, question: str = QUESTION) -> None:
    begin(page, question)
    expect(latest(page)).to_have_attribute("data-state", "done", timeout=60_000)


def begin(page: Page, question: str = QUESTION) -> None:
    page.fill("textarea#question", question)
    page.click("button#ask")


def latest(page: Page) -> Locator:
    return page.locator("article.answer").first


def best_passage(server: str, question: str = QUESTION, corpus: str = "all") -> dict:
    """The first passage found."""
    body = {"question": question, "corpus_filter": corpus}
    found = httpx2.post(f"{server}/api/search", json=body, timeout=60)
    return found.json()["passages"][0]


def test_from_a_question_to_the_marked_words_and_the_trace(
    page: Page, server: str, phoenix: str
) -> None:
    ask(page)
    answer = latest(page)
    expect(answer.locator(".answer-text")).to_contain_text("cannot sue for libel")
    answer.locator("button.citation").first.click()
    mark = page.locator("dialog#reader mark").first
    expect(mark).to_be_in_viewport()
    expect(mark).to_contain_text("cannot sue for libel at common law.")
    page.keyboard.press("Escape")
    expect(page.locator("dialog#reader")).to_be_hidden()
    counts = answer.locator(".counts")
    for label in ("Legal UK", "Legal US", "Legislation NZ"):
        expect(counts).to_contain_text(label)
    trace = answer.locator("a.trace").get_attribute("href")
    assert trace is not None
    assert trace.startswith(f"{phoenix}/redirects/traces/")
    assert httpx2.get(trace, follow_redirects=True).is_success


def test_the_collection_dropdown_stands_in_the_test_target_box_and_is_sent(page: Page) -> None:
    box = page.get_by_role("group", name="Test Target")
    box.get_by_label("Collection").select_option("legal_us")
    with page.expect_request("**/api/ask/stream") as sent:
        ask(page)
    assert sent.value.post_data_json["corpus_filter"] == "legal_us"
    corpora = latest(page).locator(".counts tbody tr")
    expect(corpora).to_have_count(1)


def test_the_words_marked_are_exactly_those_cited(page: Page) -> None:
    ask(page)
    quote = page.locator("article.answer .answer-text").first.inner_text()
    page.locator("button.citation").first.click()
    marked = page.locator("dialog#reader mark").first.inner_text()
    assert marked in quote


def test_a_question_without_an_answer_says_why_and_keeps_the_passages(page: Page) -> None:
    ask(page, "What was decided in Shelby County v. Holder?")
    answer = latest(page)
    expect(answer).to_contain_text("No answer")
    expect(answer).to_contain_text("which no passage found speaks of")
    assert answer.locator(".sources li").count() >= 3


def test_a_refusal_shows_the_numbers_behind_it(page: Page) -> None:
    ask(page, "How do I bake sourdough bread at home?")
    expect(latest(page).locator(".notice .code")).to_contain_text("similarity needed 0.35")


def test_a_refused_request_is_shown_and_the_question_kept(page: Page) -> None:
    begin(page, "?!?")
    expect(page.get_by_role("alert").first).to_contain_text("The question is empty")
    expect(page.locator("textarea#question")).to_have_value("?!?")


def test_the_page_works_by_keyboard_alone(page: Page) -> None:
    page.locator("textarea#question").focus()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Control+Enter")
    chip = page.locator("article.answer[data-state=done] button.citation").first
    expect(chip).to_be_visible(timeout=60_000)
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.locator("button.citation:focus").count():
            break
    expect(chip).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("dialog#reader mark").first).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(chip).to_be_focused()


def test_every_control_has_a_name(page: Page) -> None:
    ask(page)
    unnamed = page.locator("button, a, select, textarea, input").evaluate_all(
        "controls => controls.filter(c => !(c.textContent.trim() || c.ariaLabel || c.labels?.length"
        " || c.getAttribute('aria-labelledby'))).map(c => c.outerHTML)"
    )
    assert unnamed == []


def test_a_phone_shows_it_without_scrolling_sideways(page: Page) -> None:
    page.set_viewport_size(PHONE)
    ask(page)
    page.locator("button.citation").first.click()
    expect(page.locator("dialog#reader mark").first).to_be_in_viewport()
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert overflow <= 0


def test_chat_history_and_session_go_with_the_next_question(page: Page) -> None:
    ask(page)
    with page.expect_request("**/api/ask/stream") as sent:
        begin(page, "Which case decided that?")
    body = sent.value.post_data_json
    assert [turn["role"] for turn in body["chat_history"]] == ["user", "assistant"]
    assert body["chat_history"][0]["content"] == QUESTION
    assert body["session_id"]


def test_corpora_are_compared_and_say_what_they_agree_and_differ_about(page: Page) -> None:
    page.get_by_label("Compare the corpora").check()
    with page.expect_request("**/api/ask/stream") as sent:
        ask(page, "What are the rights of a person under arrest?")
    assert sent.value.post_data_json["mode"] == "compare"
    blocks = latest(page).locator("[data-corpus]")
    expect(blocks.locator("h3")).to_have_text(["Legal UK", "Legal US", "Legislation NZ"])
    for heading in ("Agreements", "Differences"):
        expect(latest(page).get_by_role("heading", name=heading)).to_be_visible()
    chip = latest(page).locator("[data-corpus=legislation_nz] button.citation").first
    chip.click()
    expect(page.locator("dialog#reader mark").first).to_be_in_viewport()


def test_what_a_model_finds_the_corpora_agree_about_is_cited(
    page: Page, server: str, model: OpenAIServer
) -> None:
    question = "What must a person be told when arrested?"
    us, nz = (
        best_passage(server, question, corpus)["marker"]
        for corpus in ("legal_us", "legislation_nz")
    )

    def answered(request: Request) -> str:
        if not request.body.get("stream"):
            return f"AGREE: A lawyer must be named {us} {nz}."
        return f"A lawyer must be named {us if us in request.prompt else nz}."

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


def test_sources_that_disagree_are_listed_with_both_places(page: Page) -> None:
    ask(page, "Is separate but equal lawful?")
    conflicts = latest(page).locator("details.conflicts")
    expect(conflicts.locator("summary")).to_have_text("The sources disagree")
    expect(conflicts).to_contain_text("superseded by Brown v. Board of Education")
    expect(conflicts).to_contain_text("The answer cites one side only.")
    for title in ("Plessy v. Ferguson", "Brown v. Board of Education"):
        expect(conflicts.get_by_role("button", name=title)).to_be_visible()
    quote = conflicts.locator("blockquote").first.inner_text()
    conflicts.get_by_role("button", name="Plessy v. Ferguson").click()
    expect(page.locator("dialog#reader mark").first).to_have_text(quote)


def test_an_answer_and_a_conversation_can_be_taken_home(page: Page) -> None:
    ask(page)
    own = latest(page).locator("details.export")
    own.locator("summary").click()
    with page.expect_download() as markdown:
        own.get_by_role("button", name="Markdown").click()
    assert markdown.value.suggested_filename.endswith(".md")
    assert markdown.value.path().read_text().startswith(f"# {QUESTION}")
    with page.expect_download() as bundle:
        own.get_by_role("button", name="Run bundle").click()
    assert QUESTION in bundle.value.path().read_text()
    ask(page, "Is abortion lawful up to 20 weeks in New Zealand?")
    conversation = page.locator("#export-conversation")
    conversation.locator("summary").click()
    with page.expect_download() as both:
        conversation.get_by_role("button", name="JSON", exact=True).click()
    assert len(json.loads(both.value.path().read_text())["answers"]) == 2


def test_a_link_to_a_passage_opens_it_in_its_document(page: Page, server: str) -> None:
    passage = best_passage(server)
    link = f"{server}/?passage={quote(passage['passage_id'], safe='')}"
    page.goto(link)
    mark = page.locator("dialog#reader mark").first
    expect(mark).to_be_in_viewport()
    assert mark.inner_text() in passage["text"]
    own = page.get_by_role("link", name="Link to this passage")
    expect(own).to_have_attribute("href", link)


def test_a_link_to_an_unknown_passage_says_so(page: Page, server: str) -> None:
    page.goto(f"{server}/?passage=legal_uk.nothing%3A0")
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("legal_uk.nothing:0")


def test_a_sentence_that_does_not_hold_is_flagged_and_a_new_draft_announced(
    page: Page, server: str, model: OpenAIServer
) -> None:
    passage = best_passage(server)
    first, second = Gate(), Gate()
    model.then(
        Says("Councils may not sue [made.up", " p1]. ", "They are ", first, "public."),
        Says("A local authority cannot ", second, f"sue for libel {passage['marker']}."),
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


def test_half_a_citation_token_is_not_shown(page: Page, server: str, model: OpenAIServer) -> None:
    question = "May a local authority bring an action for libel?"
    head, tail = best_passage(server, question)["marker"].split(" ")
    rest = Gate()
    model.then(Says("A local authority ", f"lost its claim {head}", rest, f" {tail}."))
    page.get_by_label("Target", exact=True).select_option("model")
    begin(page, question)
    text = latest(page).locator(".answer-text")
    expect(text).to_have_text("A local authority lost its claim")
    rest.set()
    expect(text.get_by_role("button")).to_have_text("1")


def test_stop_ends_the_answer_in_the_server_and_at_the_model(
    page: Page, model: OpenAIServer
) -> None:
    model.then(Says("Local authorities have ", "long been ", Hang()))
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


def test_a_model_without_a_key_is_reported_with_the_remedy(page: Page) -> None:
    page.get_by_label("Target", exact=True).select_option("keyless")
    begin(page)
    expect(latest(page).get_by_role("alert")).to_contain_text("MISTRAL_API_KEY")


def test_an_answer_in_place_of_a_models_says_whose_and_why(page: Page) -> None:
    page.get_by_label("Target", exact=True).select_option("replaced")
    ask(page)
    notice = latest(page).locator(".notice")
    expect(notice).to_contain_text("in place of an answer by mistral (mistral-small)")
    expect(notice).to_contain_text("MISTRAL_API_KEY")
    expect(latest(page).locator(".answer-text")).to_contain_text("cannot sue for libel")


def test_a_busy_server_says_when_to_try_again(page: Page) -> None:
    busy = {"status": 429, "detail": "All places are taken.", "retry_after": 5}
    page.route("**/api/ask/stream", lambda route: route.fulfill(status=429, json=busy))
    begin(page)
    expect(latest(page).get_by_role("alert")).to_have_text(
        "All places are taken. Worth another try in 5 seconds."
    )
