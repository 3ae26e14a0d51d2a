"""The form: target, corpora, passages and suggestions; what is refused; what is pressed too early
or twice; and a browser that keeps nothing."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.page.asking import (
    COMPARED,
    QUESTION,
    STREAM,
    ask,
    begin,
    compare,
    finished,
    latest,
    open_citation,
    open_view,
    request_body,
    settings,
    take_home,
)
from tests.page.conftest import open_page
from tests.page.rating import expect_saved, saved_rating
from tests.page.watching import expect_faults
from tests.places import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.thorough]


def test_the_model_of_the_target_stands_in_the_box_in_french_too(page: Page) -> None:
    page.select_option("select#language", "fr")
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    settings(page)
    model = page.get_by_role("group", name="Cible").get_by_label("Modèle", exact=True)
    expect(model).to_have_text("aucun : les phrases mêmes des sources")
    expect(model).to_have_role("status")  # a change is announced
    page.select_option("select#target", "model")
    expect(model).to_have_text("openai (gpt-4o-mini)")
    page.select_option("select#target", "replaced")
    expect(model).to_contain_text("mistral")


def test_one_corpus_alone_cannot_be_compared_and_without_one_nothing_is_sent(page: Page) -> None:
    box = page.get_by_role("group", name="Test Target")
    compare(page)
    box.get_by_label("Collection").select_option("legal_us")
    expect(settings(page).get_by_label("Compare the corpora")).to_be_disabled()
    body = request_body(page, lambda: ask(page))
    assert (body["corpus_filter"], body["mode"]) == ("legal_us", "answer")
    expect(latest(page).locator(".counts tbody tr")).to_have_count(1)
    box.get_by_label("Collection").select_option("Several …")
    ticks = box.get_by_role("group", name="Corpora").get_by_role("checkbox")
    for tick in ticks.all():
        tick.uncheck()
    expect(box.get_by_text("Tick at least one corpus.")).to_be_visible()
    begin(page, COMPARED)
    expect(page.locator("article.answer")).to_have_count(1)
    box.get_by_label("Collection").select_option("All")
    expect(ticks.first).to_be_hidden()
    expect(box.get_by_text("Tick at least one corpus.")).to_be_hidden()


def test_the_number_of_passages_is_the_targets_unless_given(page: Page) -> None:
    field = settings(page).get_by_role("spinbutton", name="Passages")
    expect(field).to_have_attribute("placeholder", "10")
    assert request_body(page, lambda: ask(page))["k"] is None
    settings(page)
    field.fill("101")
    page.keyboard.press("Escape")
    expect(field).to_be_hidden()
    begin(page, "Can he sue?")
    expect(page.locator("article.answer")).to_have_count(1)
    expect(field).to_be_focused()


def test_suggestions_are_of_the_corpora_and_answered(page: Page, server: str) -> None:
    offered = page.locator("#examples button")
    for corpus in ("", "legislation_nz"):
        if corpus:
            page.get_by_label("Collection").select_option(corpus)
        query = {"corpus": corpus} if corpus else {}
        own = httpx2.get(f"{server}/api/suggestions", params=query).json()["suggestions"]
        expect(offered).to_have_text([suggestion["question"] for suggestion in own[:3]])
    offered.first.click()
    expect(finished(page).locator("button.citation").first).to_be_visible()


def test_a_refused_question_is_kept_and_has_nothing_to_rate(page: Page) -> None:
    begin(page, "?!?")
    expect(latest(page).get_by_role("alert")).to_contain_text("The question is empty")
    expect(page.locator("textarea#question")).to_have_value("?!?")
    expect(latest(page).get_by_role("button", name="Helpful")).to_have_count(0)


def test_a_model_without_a_key_is_reported_with_the_remedy(page: Page) -> None:
    keyless = settings(page).locator("option", has_text="keyless (cannot be used)")
    expect(keyless).to_be_disabled()
    expect(keyless).to_have_attribute("title", re.compile("MISTRAL_API_KEY"))
    notice = ask(page, target="replaced").locator(".notice")
    expect(notice).to_contain_text("in place of an answer by mistral (mistral-small)")
    expect(notice).to_contain_text("MISTRAL_API_KEY")
    expect(latest(page).locator(".answer-text")).to_contain_text("cannot sue for libel")


@pytest.mark.parametrize(
    ("status", "detail", "shown"),
    [
        (503, "All places are taken.", "All places are taken. Worth another try in 5 seconds."),
        # what the server says of the time is said once
        (429, "Too many requests. Try again in 5 seconds.", ""),
    ],
)
def test_a_busy_server_says_when_to_try_again(
    page: Page, status: int, detail: str, shown: str
) -> None:
    if status >= 500:
        expect_faults(page, "answered: 503 .*/api/ask/stream")
    busy = {"status": status, "detail": detail, "retry_after": 5}
    page.route(STREAM, lambda route: route.fulfill(status=status, json=busy))
    begin(page)
    expect(latest(page).get_by_role("alert")).to_have_text(shown or detail)


@contextmanager
def held(page: Page, pattern: str) -> Iterator[None]:
    """Requests like this wait until the block ends."""
    waiting: list[Route] = []
    over = False

    def hold(route: Route) -> None:
        if over:
            route.continue_()
        else:
            waiting.append(route)

    page.route(pattern, hold)
    yield
    over = True
    assert waiting
    for route in waiting:
        route.continue_()


def test_a_question_is_asked_once_the_page_can_take_it(page: Page, server: str) -> None:
    with held(page, "**/strings/en.js"):
        with page.expect_request("**/strings/en.js"):
            page.goto(server, wait_until="commit")
        page.fill("textarea#question", QUESTION)
        expect(page.locator("button#ask")).to_be_disabled()
    page.click("button#ask")
    finished(page)


def test_what_the_reader_changes_while_the_page_is_loaded_stays(page: Page) -> None:
    settings(page).get_by_label("Passages").fill("3")
    passages = page.locator("#k")
    page.reload()
    expect(passages).to_have_value("3")
    with held(page, "**/api/corpora"):
        with page.expect_request("**/api/corpora"):
            page.reload(wait_until="commit")
        settings(page)
        passages.fill("7")
    expect(page.locator("#served")).not_to_be_empty()
    page.wait_for_load_state("networkidle")
    expect(passages).to_have_value("7")
    expect(page.locator("button#ask")).to_be_enabled()


def test_a_note_that_is_asked_for_twice_is_one(page: Page) -> None:
    menu = ask(page).locator(".sources .keep-menu").first
    menu.locator("summary").click()
    add = menu.get_by_role("button", name="Add a note")
    dialog = page.get_by_role("dialog", name="New note")
    with held(page, "**/keep/note_dialog.js"):
        with page.expect_request("**/keep/note_dialog.js"):
            add.click()
        add.click()
    expect(dialog).to_be_visible()
    expect(page.locator("dialog.note-dialog")).to_have_count(1)
    dialog.get_by_role("button", name="Cancel").click()
    expect(page.locator("dialog.note-dialog")).to_have_count(0)
    add.click()
    expect(dialog).to_be_visible()


def test_turning_over_twice_does_not_go_beyond_the_last_documents(page: Page) -> None:
    listing = open_view(page, "About").get_by_role("region", name="Documents", exact=True)
    expect(listing.locator("li")).to_have_count(50)
    following = listing.get_by_role("button", name="Next")
    with held(page, "**/api/documents?*offset=50*"):
        with page.expect_request("**/api/documents?*offset=50*"):
            following.click()
        following.click()
    expect(listing.get_by_role("status")).to_have_text("51 to 84 of 84")
    listing.get_by_role("button", name="Previous").dblclick()
    expect(listing.get_by_role("status")).to_have_text("1 to 50 of 84")


def test_a_part_of_the_page_that_does_not_come_is_told(page: Page) -> None:
    expect_faults(page, "lost: .*/reader/document.js", "script: .*reader/document.js")
    ask(page)
    page.route("**/reader/document.js", lambda route: route.abort())
    latest(page).locator("button.citation").first.click()
    expect(page.locator("#reader").get_by_role("alert")).to_contain_text(
        "This part of the page cannot be loaded."
    )


DENIED = """for (const area of ['localStorage', 'sessionStorage']) {
  Object.defineProperty(window, area, {
    get() { throw new DOMException('denied', 'SecurityError'); },
  });
}"""
FULL = """Storage.prototype.setItem = () => {
  throw new DOMException('no room', 'QuotaExceededError');
};"""


@pytest.fixture(params=[DENIED, FULL], ids=["denied", "full"])
def forgetful(context: BrowserContext, server: str, request: pytest.FixtureRequest) -> Page:
    """The page in a browser that keeps nothing."""
    tab = context.new_page()
    tab.add_init_script(request.param)
    return open_page(tab, server)


def test_without_storage_two_votes_are_of_one_voter(forgetful: Page, server: str) -> None:
    answer = ask(forgetful)
    voters, qa_id = set(), ""
    for name in ("Helpful", "Not helpful"):
        with forgetful.expect_request("**/api/feedback") as sent:
            answer.get_by_role("button", name=name, exact=True).click()
        expect_saved(forgetful)
        body = sent.value.post_data_json
        voters.add(body["user_id"])
        qa_id = body["qa_id"]
    (voter,) = voters
    assert saved_rating(forgetful, server, qa_id, voter)["thumb"] == "down"


def test_without_storage_choices_hold_until_the_page_is_left(forgetful: Page) -> None:
    ask(forgetful)
    tools = take_home(forgetful)
    tools.get_by_label("Style").select_option("oscola")
    with forgetful.expect_request("**/api/citations") as sent:
        tools.get_by_role("button", name="Copy with citations").click()
    assert sent.value.post_data_json["style"] == "oscola"
    open_citation(forgetful)
    edge = forgetful.get_by_role("separator")
    edge.focus()
    before = int(edge.get_attribute("aria-valuenow") or 0)
    forgetful.keyboard.press("ArrowLeft")
    assert int(edge.get_attribute("aria-valuenow") or 0) > before
    forgetful.keyboard.press("Escape")
    forgetful.get_by_text("Earlier conversations").click()
    forgetful.get_by_label("Keep conversations in this browser").uncheck()
    expect(forgetful.locator("#keep-notice")).to_have_text(
        "This browser does not keep your choice: it holds until the page is left."
    )
    forgetful.get_by_role("button", name="New conversation").click()
    ask(forgetful)
    rows = forgetful.locator("details.conversations li")
    expect(rows).to_have_count(1)  # of before the choice


def test_a_language_or_key_that_is_not_kept_is_not_taken(forgetful: Page) -> None:
    chooser = forgetful.locator("select#language")
    chooser.select_option("fr")
    expect(forgetful.locator("#keep-notice")).to_contain_text("does not keep the language")
    expect(chooser).to_have_value("en")
    forgetful.evaluate("() => part('api.js').then(({askForKey}) => askForKey('Who?'))")
    forgetful.get_by_label("Key", exact=True).fill("a-key")
    forgetful.get_by_role("button", name="Sign in").click()
    expect(forgetful.locator("#sign-in-reason")).to_contain_text("Allow this site to store data.")


def test_nothing_else_asks_the_browser_for_its_storage() -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in (ROOT / "frontend").rglob("*.js")}
    users = [path for path, text in sources.items() if "lStorage" in text or "nStorage" in text]
    assert users == [ROOT / "frontend" / "storage.js"]
