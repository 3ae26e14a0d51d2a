"""The page of a server that asks for a key, and questions that a reader does not want recorded."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Browser, Page, Request, expect

from atlas_search.atlas import Atlas
from atlas_search.server.access.keys import KeyFile, add_key, revoke_key
from tests.page.asking import (
    ask,
    begin,
    latest,
    request_body,
    settings,
    take_home,
)
from tests.page.conftest import open_page
from tests.page.rating import VOTER, ask_for_id, expect_saved, rating
from tests.page.watching import expect_faults, watched
from tests.server.two_corpora import OPEN, PLANTED, QUESTION
from tests.servers import app_of, served

pytestmark = pytest.mark.browser
COLLECTION = "parish"
REFUSED = "This server does not know the key"
CHOICE = "Do not record what I ask"
PRIVATE = "Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', {get: () => true})"


@pytest.fixture
def keys_file(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


@pytest.fixture
def key(keys_file: Path) -> str:
    """The key of Anna, who sees the open corpus alone."""
    return add_key(KeyFile(keys_file), "Anna", corpora={COLLECTION: [OPEN]}).text


@pytest.fixture
def guarded(parish: Atlas, keys_file: Path, key: str) -> Iterator[str]:
    """A server of two corpora that asks for keys; its address."""
    services = parish.services
    settings = services.settings.model_copy(update={"api_keys_file": keys_file})
    atlas = Atlas(replace(services, settings=settings, targets=dict(services.targets)))
    with served(app_of(atlas), threads=16) as address:
        yield address


@pytest.fixture
def requests() -> list[Request]:
    """Every request of the page."""
    return []


@pytest.fixture
def page(tab: Page, guarded: str, requests: list[Request]) -> Page:
    """The page, opened without a key."""
    tab.on("request", lambda request: requests.append(request))
    tab.goto(guarded)
    return tab


def sign_in(page: Page, key: str, name: str = "Anna") -> None:
    send_key(page, key)
    expect(page.locator("#caller")).to_have_text(name)


def send_key(page: Page, key: str) -> None:
    page.get_by_label("Key", exact=True).fill(key)
    page.get_by_role("button", name="Sign in").click()


def sign_out(page: Page) -> None:
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("dialog", name="Your key")).to_be_visible()


def test_the_page_asks_for_the_key_once_and_sends_it_with_everything(
    page: Page, key: str, requests: list[Request]
) -> None:
    expect(page.get_by_role("dialog", name="Your key")).to_contain_text("without a key")
    sign_in(page, key)
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.locator("#served")).to_contain_text("Ask 2 documents in 1 corpus.")
    requests.clear()
    ask(page, QUESTION)
    with page.expect_download() as bundle:
        take_home(page).locator(".export > summary").click()
        page.get_by_role("button", name="Run bundle").click()
    assert bundle.value.suggested_filename.startswith("atlas-run-")
    page.reload()
    expect(page.locator("#caller")).to_have_text("Anna")
    sent = [request for request in requests if "/api/" in request.url]
    assert {"stream", "export"} <= {r.url.partition("?")[0].rpartition("/")[2] for r in sent}
    assert all(r.headers.get("authorization") == f"Bearer {key}" for r in sent)
    assert all(key not in request.url for request in requests)
    assert key not in page.url
    assert PLANTED not in page.content().casefold()  # of the other corpus


@pytest.mark.thorough
def test_a_wrong_key_is_asked_for_again_and_one_that_is_revoked_when_next_needed(
    page: Page, key: str, keys_file: Path
) -> None:
    send_key(page, f"{key[:-1]}\u200b ")
    expect(page.locator("#sign-in-reason")).to_contain_text(REFUSED)
    sign_in(page, f" {key}\n")
    revoke_key(KeyFile(keys_file), "Anna")
    begin(page, QUESTION)
    expect(page.locator("#sign-in-reason")).to_contain_text(REFUSED)


@pytest.mark.thorough
def test_signing_out_lets_go_of_what_was_shown_and_conversations_are_those_of_a_key(
    page: Page, key: str, keys_file: Path
) -> None:
    sign_in(page, key)
    ask(page, QUESTION)
    page.fill("textarea#question", "And what of the toll?")
    sign_out(page)
    expect(page.locator("article.answer")).to_have_count(0)
    expect(page.locator("textarea#question")).to_have_value("")
    assert page.evaluate("sessionStorage.length + localStorage.length") == 0
    sign_in(page, add_key(KeyFile(keys_file), "Berta", corpora={COLLECTION: [OPEN]}).text, "Berta")
    page.get_by_text("Earlier conversations").click()
    expect(page.get_by_text("None is kept yet.")).to_be_visible()
    expect(page.locator("article.answer")).to_have_count(0)
    names = page.evaluate("async () => (await indexedDB.databases()).map(({name}) => name)")
    assert not any("Anna" in name or "Berta" in name for name in names)
    sign_out(page)
    sign_in(page, key)
    expect(page.locator("article.answer h2")).to_have_text(QUESTION)


@pytest.mark.thorough
def test_with_a_key_it_is_the_key_that_votes(page: Page, guarded: str, key: str) -> None:
    sign_in(page, key)
    qa_id = ask_for_id(page, QUESTION)
    expect(rating(page)).to_contain_text("Kept under your name.")
    with page.expect_request("**/api/feedback") as sent:
        rating(page).get_by_role("button", name="Helpful", exact=True).click()
    expect_saved(page)
    assert sent.value.post_data_json == {"qa_id": qa_id, "thumb": "up"}
    assert page.evaluate(VOTER) is None
    own = {"Authorization": f"Bearer {key}"}
    saved = httpx2.get(f"{guarded}/api/feedback/{qa_id}", headers=own).json()
    assert saved["thumb"] == "up"


@pytest.mark.thorough
def test_a_question_is_recorded_unless_the_reader_says_no(tab: Page, server: str) -> None:
    page = open_page(tab, server)
    choice = settings(page).get_by_label(CHOICE)
    trace = latest(page).locator("a.trace")
    assert "telemetry" not in request_body(page, lambda: ask(page))
    latest(page).locator(".retrieval > summary").click()
    expect(trace).to_be_visible()
    expect_faults(page, "answered: 501 .*/redirects/traces/")  # for there is no Phoenix
    with page.context.expect_page():
        trace.click()
    expect(latest(page).locator(".retrieval").get_by_role("status")).to_contain_text(
        "does not answer"
    )
    settings(page)
    choice.check()
    assert request_body(page, lambda: ask(page))["telemetry"] is False
    expect(trace).to_have_count(0)
    # it can be rated nevertheless
    latest(page).get_by_role("button", name="Helpful", exact=True).click()
    expect_saved(page)
    page.reload()
    expect(choice).to_be_checked()
    settings(page)
    choice.uncheck()
    page.reload()
    expect(choice).not_to_be_checked()
    assert "telemetry" not in request_body(page, lambda: ask(page))


@pytest.mark.thorough
def test_a_browser_that_wants_no_site_to_record_is_obeyed(browser: Browser, server: str) -> None:
    with watched(browser, extra_http_headers={"Sec-GPC": "1"}) as context:
        page = context.new_page()
        page.add_init_script(PRIVATE)
        open_page(page, server)
        choice = settings(page).get_by_label(CHOICE)
        expect(choice).to_be_checked()
        expect(choice).to_be_disabled()
        expect(choice).to_have_accessible_description(
            "Your browser asks every site for this (Global Privacy Control)."
        )
        assert request_body(page, lambda: ask(page))["telemetry"] is False
        expect(page.locator("a.trace")).to_have_count(0)
        assert page.evaluate("localStorage.length") == 0


@pytest.mark.thorough
def test_without_keys_or_traces_nothing_is_asked_of_the_reader(tab: Page, reading: str) -> None:
    tab.goto(reading)
    expect(tab.locator("#served")).to_contain_text("5 corpora")
    expect(tab.locator("#signed-in")).to_be_hidden()
    expect(tab.get_by_role("dialog")).to_be_hidden()
    expect(settings(tab).get_by_label(CHOICE)).to_be_hidden()
