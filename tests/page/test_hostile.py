"""Sources that mean harm, in a real Chromium: their words are text, and nothing is run or asked for
elsewhere; and the page of the API, under a policy of its own."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from html import escape
from urllib.parse import quote, urlsplit

import httpx2
import pytest
from playwright.sync_api import Page, Request, Route, expect

from atlas_search.atlas import Atlas
from atlas_search.core.addresses import is_link
from tests.answering import answered_by
from tests.chat_server import sentence
from tests.hash_embedder import HashEmbedder
from tests.hostile_documents import (
    GOOD,
    MARKUP,
    QUESTION,
    RIGHT_TO_LEFT,
    build_hostile,
    hostile_services,
    put_back_addresses,
)
from tests.page.asking import (
    ask,
    chips,
    compare,
    latest,
    open_view,
    settings,
    show_passages,
    unfold,
)
from tests.page.watching import expect_faults
from tests.page.words import TABS, count, search, show_tab
from tests.servers import app_of, served
from tests.tiny import build_tiny, write_sources

pytestmark = pytest.mark.browser
LINKS = "[x](javascript:alert(1)) [y](https://evil.example/a) https://evil.example/b"
TURNED = f"lantern {RIGHT_TO_LEFT}nretnal"
ADDRESSES = """[...document.querySelectorAll('[href], [src], [action], [formaction]')]
  .flatMap((node) => ['href', 'src', 'action', 'formaction'].map((name) => node.getAttribute(name)))
  .filter((value) => value !== null)"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server over hostile sources, with addresses as an import may bring them."""
    root = tmp_path_factory.mktemp("hostile")
    build_hostile(root)
    put_back_addresses(root)
    with hostile_services(root) as services, answered_by("openai", services) as (by_model, model):
        model.says(sentence(f"The lantern of Ravenmoor shows this: {MARKUP} {LINKS}", 1))
        targets = {**services.targets, "model": by_model.targets["model"]}
        atlas = Atlas(replace(by_model, targets=targets))
        with served(app_of(atlas)) as address:
            yield address


@pytest.fixture
def page(tab: Page, hostile: str) -> Iterator[Page]:
    """A page whose dialogs and foreign requests fail the test, beside all that `watched` fails."""
    faults: list[str] = []
    own = urlsplit(hostile).hostname

    def look(request: Request) -> None:
        if request.url.startswith("http") and urlsplit(request.url).hostname != own:
            faults.append(request.url)

    tab.on("request", look)
    tab.on("dialog", lambda dialog: faults.append(dialog.message) or dialog.dismiss())
    tab.goto(hostile)
    yield tab
    assert faults == []


def check_page(page: Page) -> None:
    """Nothing of the sources has become markup or a link that is none."""
    expect(page.locator("img, b[onclick], main script, dialog script")).to_have_count(0)
    for link in page.evaluate(ADDRESSES):
        is_own = link.startswith(("static/", "api/", "opensearch.xml", "#", "blob:"))
        assert is_own or is_link(link), link


def show_answer(page: Page) -> None:
    expect(ask(page, QUESTION)).to_contain_text("<script>alert(2)</script>")
    unfold(page)
    for link in page.locator("article a[target=_blank]").all():
        assert link.get_attribute("href") == GOOD
        assert "noopener" in (link.get_attribute("rel") or "")


def show_answer_of_model(page: Page) -> None:
    answer = ask(page, QUESTION, target="model")
    expect(answer.locator(".answer-text")).to_contain_text(f"{MARKUP} {LINKS}")
    expect(page.locator("[href*='evil.example']")).to_have_count(0)


def show_question(page: Page) -> None:
    """The words of the question come back in notices, errors and the conversation."""
    answer = ask(page, f'{MARKUP} +"{MARKUP}" the lantern of Ravenmoor')
    expect(answer.locator("h2")).to_contain_text("<img src=x onerror=alert(1)>")


def show_filters(page: Page) -> None:
    section = settings(page).locator(".filters")
    section.locator("> summary").click()
    for name in ("Author", "Status", "Speaker"):
        section.locator(".facet > summary", has_text=name).first.click()
    section.get_by_role("checkbox", name=MARKUP).first.check()
    field = section.get_by_label("Below a heading with the words")
    for value in (MARKUP, TURNED):
        field.fill(value)
        field.press("Enter")
        expect(chips(page)).to_contain_text(value)


def show_candidates(page: Page) -> None:
    def rename(route: Route) -> None:
        response = route.fetch()
        document = response.json()
        document["candidates"][0]["passage_id"] = f"marsh.{MARKUP}{TURNED}:0-9"
        route.fulfill(response=response, json=document)

    ask(page, QUESTION)
    page.route("**/api/search", rename)
    unfold(page)
    first = latest(page).locator(".candidates li button").first
    expect(first).to_have_text(f"{MARKUP}{TURNED}")


def show_conversations(page: Page) -> None:
    for question in (f"{MARKUP} lantern of Ravenmoor", f"{TURNED} of Ravenmoor"):
        ask(page, question)
        page.get_by_role("button", name="New conversation").click()
    page.get_by_text("Earlier conversations").click()
    rows = page.locator("details.conversations li")
    expect(rows).to_have_count(2)
    page.get_by_label("Find in what was asked and answered").fill(MARKUP)
    rows.last.get_by_role("button", name="Rename").click()
    page.get_by_label("New name").fill(f"{MARKUP}{TURNED}")
    page.keyboard.press("Enter")
    expect(rows.last.locator("button").first).to_have_text(f"{MARKUP}{TURNED}")
    check_page(page)
    page.reload()
    page.get_by_text("Earlier conversations").click()
    expect(rows.last.locator("button").first).to_have_text(f"{MARKUP}{TURNED}")


def show_words(page: Page) -> None:
    for tab in TABS:
        view = count(page, "lantern", tab)
        if tab == "Concordance":
            expect(view.locator(".line:not(.head)").first).to_contain_text("<script>")
        check_page(page)
    show_tab(page, "Concordance")  # the last one needs no query
    search(page, f'"{MARKUP} {TURNED}')
    expect(page.locator("#words-problem").get_by_role("alert")).to_be_visible()


def show_documents(page: Page) -> None:
    items = open_view(page, "About").locator(".about-documents li")
    expect(items.first).to_contain_text("<script>alert(2)</script>")
    page.get_by_label("Words of the title").fill(MARKUP)
    expect(items).not_to_have_count(0)


def show_note(page: Page) -> None:
    menu = ask(page, QUESTION).locator(".keep-menu:visible").first
    menu.locator("summary").click()
    menu.get_by_role("button", name="Add to reading list").click()
    menu.get_by_role("button", name="Add a note").click()
    dialog = page.get_by_role("dialog", name="New note")
    dialog.get_by_label("Note", exact=True).fill(f"{MARKUP} {TURNED}")
    dialog.get_by_label("Tags").fill(f"{MARKUP}, {TURNED}")
    dialog.get_by_role("button", name="Save").click()
    first = open_view(page, "Kept").locator(".kept-list > li").first
    expect(first.locator(".note-text")).to_have_text(f"{MARKUP} {TURNED}")
    expect(first.locator(".tag")).to_have_text([MARKUP, TURNED])


VIEWS: list[Callable[[Page], None]] = [
    *(show_answer, show_answer_of_model, show_question, show_filters, show_candidates),
    *(show_conversations, show_words, show_documents, show_note),
]


@pytest.mark.parametrize(
    "show",
    [
        pytest.param(show, id=show.__name__, marks=[pytest.mark.thorough] if number else [])
        for number, show in enumerate(VIEWS)
    ],
)
def test_hostile_words_are_shown_as_text(page: Page, show: Callable[[Page], None]) -> None:
    show(page)
    check_page(page)


@pytest.mark.thorough
def test_hostile_documents_are_shown_as_text(page: Page, hostile: str) -> None:
    body = {"question": QUESTION, "k": 50}
    passages = httpx2.post(f"{hostile}/api/search", json=body, timeout=60).json()["passages"]
    for passage in passages[:6]:
        page.goto(f"{hostile}/?passage={quote(passage['passage_id'], safe='')}")
        reader = page.locator("#reader")
        expect(reader.locator(".document-text")).to_contain_text(MARKUP)
        expect(reader.locator("#reader-warning")).to_contain_text("<script>")
        check_page(page)
    assert page.evaluate("({}).polluted") is None


@pytest.mark.thorough
@pytest.mark.parametrize(
    "query",
    [
        *("passage=javascript:alert(1)", f"passage={quote(MARKUP, safe='')}", "passage=.."),
        *("passage=..%2F..%2Fapi%2Fhealth", "passage=%2F%2Felsewhere.example%2Fx"),
        *("passage=%2500", "passage=%0A", "document=..%2F..%2Fapi%2Fhealth&start=0&end=4"),
        "document=%3Cimg%20src%3Dx%3E&start=-1&end=1e9&digest=%3Cb%3E",
        *("document=marsh.nothing&start=5", "passage=marsh.nothing%3A0"),
    ],
)
def test_a_link_that_leads_nowhere_shows_only_that_it_does(
    page: Page, hostile: str, query: str
) -> None:
    page.goto(f"{hostile}/?{query}#{quote(MARKUP)}")
    expect(page.locator("#reader").get_by_role("alert")).to_be_visible()
    check_page(page)


@pytest.fixture(scope="module")
def entities(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of two corpora whose markup is written out and as entities; its address."""
    folder, written = tmp_path_factory.mktemp("entities"), escape(MARKUP)
    text = f"The lantern of Ravenmoor shows red {written} by night."
    files = {
        "marsh/lantern.md": f"---\ntitle: '{MARKUP} marsh'\n---\n{text} {MARKUP} {TURNED}\n",
        "moor/lantern.md": f"---\ntitle: '{written}'\n---\n# {written}\n\n{text}\n",
        "moor/lamp.html": f"<title>{written}</title><p>{text}</p><p>{escape(written)}</p>",
    }
    store = folder / "stores" / "moor"
    build_tiny(write_sources(folder / "source", files), store, HashEmbedder())
    with (
        Atlas.open(store, embedder=HashEmbedder()) as atlas,
        served(app_of(atlas)) as address,
    ):
        yield address


@pytest.mark.thorough
def test_markup_that_is_written_as_entities_stays_text_compared_too(
    page: Page, entities: str
) -> None:
    page.goto(entities)
    compare(page)
    answer = ask(page, QUESTION)
    expect(answer.locator("[data-corpus]")).to_have_count(2)
    expect(answer).to_contain_text("<script>alert(2)</script>")
    check_page(page)
    openers = show_passages(page).get_by_role("button", name="Open in document")
    expect(openers.first).to_be_visible()
    for number in range(openers.count()):
        openers.nth(number).click()
        expect(page.locator("#reader .document-text")).to_contain_text("alert(2)")
        check_page(page)
        page.keyboard.press("Escape")
        expect(page.locator("#reader")).to_be_hidden()


@pytest.mark.thorough
def test_the_page_makes_no_markup_of_text_even_by_mistake(page: Page) -> None:
    # the browser tells of its refusal, as it should
    expect_faults(page, "TrustedHTML", "policy: require-trusted-types-for")
    attempt = "try { document.body.innerHTML = '<p>x</p>'; 'made' } catch { 'refused' }"
    # the event comes after the script: the page must not be closed before
    with page.expect_console_message(lambda said: "policy: require-trusted" in said.text):
        assert page.evaluate(attempt) == "refused"


@pytest.mark.thorough
def test_the_api_can_be_tried_in_its_page_which_describes_no_other(
    page: Page, hostile: str
) -> None:
    page.goto(f"{hostile}/api/swagger?url=https://elsewhere.example/openapi.json")
    expect(page.locator(".info .title")).to_contain_text("Atlas")
    assert page.title() == "Atlas API"
    operation = page.locator(".opblock", has_text="/api/health").first
    operation.locator(".opblock-summary").click()
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_role("button", name="Execute").click()
    live = operation.locator(".live-responses-table")
    expect(live).to_contain_text('"collection": "hostile"')


def test_every_response_says_what_it_may_load(hostile: str) -> None:
    for path, policy in {
        "/": "default-src 'self'",
        "/static/app.js": "default-src 'self'",
        "/nowhere": "default-src 'self'",
        "/api/health": "default-src 'none'; frame-ancestors 'none'",
        "/api/nowhere": "default-src 'none'; frame-ancestors 'none'",
        "/api/openapi.json": "default-src 'none'; frame-ancestors 'none'",
        "/api/swagger": "default-src 'none'; script-src 'self';",
    }.items():
        headers = httpx2.get(f"{hostile}{path}").headers
        assert headers["content-security-policy"].startswith(policy), path
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert "camera=()" in headers["permissions-policy"]
