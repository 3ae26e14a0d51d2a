"""The page of a server that asks for a key."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from atlas_search.server.access.keys import add_key, revoke_key
from atlas_search.server.app import create_app
from tests.access.conftest import COLLECTION, guard
from tests.access.two_corpora import OPEN, PLANTED, QUESTION, two_corpora
from tests.hash_embedder import HashEmbedder
from tests.page.asking import ask, begin
from tests.page.watching import watched
from tests.servers import served

pytestmark = pytest.mark.browser
REFUSED = "This server does not know the key"


@pytest.fixture
def keys_file(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


@pytest.fixture
def key(keys_file: Path) -> str:
    return add_key(keys_file, "Anna", corpora={COLLECTION: [OPEN]}).text


@pytest.fixture
def server(tmp_path: Path, keys_file: Path, key: str) -> Iterator[str]:
    """A server of two corpora, in this process; its address."""
    with two_corpora(tmp_path / "parish", HashEmbedder()) as opened:
        guarded = guard(opened, keys_file)
        with served(create_app(lambda: guarded), threads=16) as address:
            yield address


@pytest.fixture
def sent() -> list[Request]:
    """Every request of the page."""
    return []


@pytest.fixture
def page(browser: Browser, server: str, sent: list[Request]) -> Iterator[Page]:
    """The page, opened without a key."""
    with watched(browser, accept_downloads=True) as context:
        opened = context.new_page()
        opened.on("request", lambda request: sent.append(request))
        opened.goto(server)
        yield opened


def sign_in(page: Page, key: str) -> None:
    page.get_by_label("Key", exact=True).fill(key)
    page.get_by_role("button", name="Sign in").click()


def test_the_page_asks_for_the_key_once_and_sends_it_with_everything(
    page: Page, key: str, sent: list[Request]
) -> None:
    expect(page.get_by_role("dialog", name="Your key")).to_contain_text("without a key")
    sign_in(page, key)
    expect(page.locator("#caller")).to_have_text("Anna")
    expect(page.get_by_role("dialog")).to_be_hidden()
    sent.clear()
    ask(page, QUESTION)
    with page.expect_download() as bundle:
        page.locator("article.answer").get_by_text("Export").first.click()
        page.get_by_role("button", name="Run bundle").click()
    assert bundle.value.suggested_filename.startswith("atlas-run-")
    page.reload()
    expect(page.locator("#caller")).to_have_text("Anna")
    asked = [request for request in sent if "/api/" in request.url]
    assert {"stream", "export"} <= {r.url.partition("?")[0].rpartition("/")[2] for r in asked}
    assert all(r.headers.get("authorization") == f"Bearer {key}" for r in asked)
    assert all(key not in request.url for request in sent)
    assert key not in page.url


def test_the_page_of_a_key_shows_its_corpora_alone(page: Page, key: str) -> None:
    sign_in(page, key)
    expect(page.locator("#served")).to_have_text(
        f"Collection {COLLECTION}: 2 documents in 1 corpus"
    )
    assert PLANTED not in page.content().casefold()


def test_a_wrong_key_is_asked_for_again(page: Page, key: str) -> None:
    sign_in(page, f"{key[:-1]}\u200b ")
    expect(page.locator("#sign-in-reason")).to_contain_text(REFUSED)
    sign_in(page, f" {key}\n")
    expect(page.locator("#caller")).to_have_text("Anna")


def test_a_key_that_is_revoked_meanwhile_is_asked_for_when_next_needed(
    page: Page, key: str, keys_file: Path
) -> None:
    sign_in(page, key)
    expect(page.locator("#caller")).to_have_text("Anna")
    revoke_key(keys_file, "Anna")
    begin(page, QUESTION)
    expect(page.locator("#sign-in-reason")).to_contain_text(REFUSED)


def test_signing_out_lets_go_of_the_key_and_of_what_it_was_shown(page: Page, key: str) -> None:
    sign_in(page, key)
    expect(page.locator("#caller")).to_have_text("Anna")
    ask(page, QUESTION)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("dialog", name="Your key")).to_be_visible()
    expect(page.locator("article.answer")).to_have_count(0)
    assert page.evaluate("sessionStorage.length") == 0
    assert page.evaluate("localStorage.length") == 0


def test_without_keys_nothing_is_asked(browser: Browser, tmp_path: Path) -> None:
    with (
        two_corpora(tmp_path / "open", HashEmbedder()) as opened,
        served(create_app(lambda: opened), threads=16) as address,
        watched(browser) as context,
    ):
        page = context.new_page()
        page.goto(address)
        expect(page.locator("#served")).to_contain_text("2 corpora")
        expect(page.locator("#signed-in")).to_be_hidden()
        expect(page.get_by_role("dialog")).to_be_hidden()


def test_conversations_are_those_of_a_key(page: Page, key: str, keys_file: Path) -> None:
    other = add_key(keys_file, "Berta", corpora={COLLECTION: [OPEN]}).text
    sign_in(page, key)
    expect(page.locator("#caller")).to_have_text("Anna")
    ask(page, QUESTION)
    page.fill("textarea#question", "And what of the toll?")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("dialog", name="Your key")).to_be_visible()
    expect(page.locator("textarea#question")).to_have_value("")
    sign_in(page, other)
    expect(page.locator("#caller")).to_have_text("Berta")
    page.get_by_text("Earlier conversations").click()
    expect(page.get_by_text("None is kept yet.")).to_be_visible()
    expect(page.locator("article.answer")).to_have_count(0)
    names = page.evaluate("async () => (await indexedDB.databases()).map(({name}) => name)")
    assert not any("Anna" in name or "Berta" in name for name in names)
    page.get_by_role("button", name="Sign out").click()
    sign_in(page, key)
    expect(page.locator("#caller")).to_have_text("Anna")
    expect(page.locator("article.answer h2")).to_have_text(QUESTION)
