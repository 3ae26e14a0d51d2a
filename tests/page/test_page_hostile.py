"""Sources that mean harm, in a real Chromium: what they say is text, and nothing is run or asked
for elsewhere; and the page of the API, under a policy of its own."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx2
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from atlas_search.atlas import Atlas
from atlas_search.core.addresses import is_link
from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from tests.answering import answered_by
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
from tests.ingest.handing import settings_for
from tests.page.asking import ask, latest, unfold
from tests.page.test_page_keep import kept
from tests.page.words import count
from tests.servers import served
from tests.tiny import build_tiny, write_sources

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server over hostile sources, with addresses as an import may bring them."""
    root = tmp_path_factory.mktemp("hostile")
    build_hostile(root)
    put_back_addresses(root)
    with hostile_services(root) as services, answered_by("openai", services) as (by_model, model):
        model.says(f"{MARKUP} [marsh.d0 p1]. {MARKUP} [{MARKUP} p1]. [x](javascript:alert(1))")
        targets = {**services.targets, "model": by_model.targets["model"]}
        atlas = Atlas(replace(by_model, targets=targets))
        with served(create_app(lambda: atlas)) as address:
            yield address


@dataclass
class Watched:
    """A page, and whatever it should not do."""

    page: Page
    sites: set[str]
    faults: list[str] = field(default_factory=list)

    def fault(self, *said: object) -> None:
        self.faults.append(" ".join(map(str, said)))


@pytest.fixture
def watched(browser: Browser, hostile: str) -> Iterator[Watched]:
    """A page whose dialogs, script errors, blocked parts and foreign requests fail the test."""
    context = browser.new_context()
    found = Watched(context.new_page(), {urlsplit(hostile).netloc})

    def look(request) -> None:
        if request.url.startswith("http") and urlsplit(request.url).netloc not in found.sites:
            found.fault("request", request.url)

    def listen(message) -> None:
        if message.type == "error" and "Failed to load resource" not in message.text:
            found.fault("console", message.text)

    def close(dialog) -> None:
        found.fault("dialog", dialog.message)
        dialog.dismiss()

    found.page.on("request", look)
    found.page.on("console", listen)
    found.page.on("dialog", close)
    found.page.on("pageerror", lambda error: found.fault("script", error))
    yield found
    context.close()
    assert found.faults == []


def links_of(page: Page) -> list[str]:
    """Every address of the document that something could lead to."""
    return page.evaluate(
        "[...document.querySelectorAll('[href], [src], [action], [formaction]')]"
        ".flatMap((node) => ['href', 'src', 'action', 'formaction']"
        ".map((name) => node.getAttribute(name))).filter((value) => value !== null)"
    )


def check_page(page: Page) -> None:
    """Nothing of the sources has become markup or a link that is none."""
    expect(page.locator("img, b[onclick], main script, dialog script")).to_have_count(0)
    for link in links_of(page):
        is_own = link.startswith(("static/", "api/", "#", "blob:"))
        assert is_own or is_link(link), link


def test_hostile_sources_are_shown_as_text(watched: Watched, hostile: str) -> None:
    page = watched.page
    page.goto(hostile)
    ask(page, QUESTION)
    expect(latest(page)).to_contain_text("<script>alert(2)</script>")
    unfold(page)
    check_page(page)
    for link in page.locator("article a[target=_blank]").all():
        assert link.get_attribute("href") == GOOD
        assert "noopener" in (link.get_attribute("rel") or "")


def test_hostile_documents_are_shown_as_text(watched: Watched, hostile: str) -> None:
    page = watched.page
    body = {"question": QUESTION, "k": 50}
    passages = httpx2.post(f"{hostile}/api/search", json=body, timeout=60).json()["passages"]
    for passage in passages[:6]:
        page.goto(f"{hostile}/?passage={quote(passage['passage_id'], safe='')}")
        reader = page.locator("#reader")
        expect(reader.locator(".document-text")).to_contain_text(MARKUP)
        expect(reader.locator("#reader-warning")).to_contain_text("<script>")
        check_page(page)
    assert page.evaluate("({}).polluted") is None


@pytest.mark.parametrize(
    "passage",
    ["javascript:alert(1)", MARKUP, "..", "../../api/health", "//elsewhere.example/x", "%00", "\n"],
)
def test_a_hostile_link_to_a_passage_shows_only_that_there_is_none(
    watched: Watched, hostile: str, passage: str
) -> None:
    page = watched.page
    page.goto(f"{hostile}/?passage={quote(passage, safe='')}#{quote(MARKUP)}")
    expect(page.locator("#reader").get_by_role("alert")).to_be_visible()
    check_page(page)


def test_a_hostile_answer_of_a_model_is_shown_as_text(watched: Watched, hostile: str) -> None:
    page = watched.page
    page.goto(hostile)
    page.get_by_label("Target", exact=True).select_option("model")
    ask(page, QUESTION)
    expect(latest(page).locator(".answer-text, .notice").first).to_be_visible()
    check_page(page)


def test_a_hostile_question_is_shown_as_text(watched: Watched, hostile: str) -> None:
    page = watched.page
    page.goto(hostile)
    # the words of the question come back in notices, errors and the conversation
    ask(page, f'{MARKUP} +"{MARKUP}" the lantern of Ravenmoor')
    expect(latest(page).locator("h2")).to_contain_text("<img src=x onerror=alert(1)>")
    check_page(page)


TURNED = f"lantern {RIGHT_TO_LEFT}nretnal"


def test_hostile_values_of_filters_and_candidates_are_shown_as_text(
    watched: Watched, hostile: str
) -> None:
    page = watched.page
    page.goto(hostile)
    page.locator(".filters > summary").click()
    section = page.locator(".filters")
    for field_name in ("Author", "Status", "Speaker"):
        section.locator(".facet > summary", has_text=field_name).first.click()
    box = section.get_by_role("checkbox", name=MARKUP).first
    expect(box).to_be_visible()
    box.check()
    field = section.get_by_label("Below a heading with the words")
    for value in (MARKUP, TURNED):
        field.fill(value)
        field.press("Enter")
    chips = page.get_by_role("list", name="What narrows the search")
    expect(chips).to_contain_text(MARKUP)
    expect(chips).to_contain_text(TURNED)
    check_page(page)


def test_hostile_ids_of_candidates_are_shown_as_text(watched: Watched, hostile: str) -> None:
    page = watched.page
    page.goto(hostile)
    ask(page, QUESTION)

    def rename(route: Route) -> None:
        found = route.fetch()
        document = found.json()
        document["candidates"][0]["passage_id"] = f"marsh.{MARKUP}{TURNED}:0-9"
        route.fulfill(response=found, json=document)

    page.route("**/api/search", rename)
    article = latest(page)
    article.locator("details:has(> .all-candidates, details.all-candidates)").evaluate_all(
        "all => all.forEach((each) => (each.open = true))"
    )
    article.locator("details.all-candidates > summary").click()
    expect(article.locator(".candidates li button").first).to_have_text(f"{MARKUP}{TURNED}")
    check_page(page)


def test_hostile_conversations_are_shown_as_text(watched: Watched, hostile: str) -> None:
    page = watched.page
    page.goto(hostile)
    for asked in (f"{MARKUP} lantern of Ravenmoor", f"{TURNED} of Ravenmoor"):
        ask(page, asked)
        page.get_by_role("button", name="New conversation").click()
    page.get_by_text("Earlier conversations").click()
    rows = page.locator("details.conversations li")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text(TURNED)
    expect(rows.last).to_contain_text(MARKUP)
    page.get_by_label("Find in what was asked and answered").fill(MARKUP)
    rows.last.get_by_role("button", name="Rename").click()
    page.get_by_label("New name").fill(f"{MARKUP}{TURNED}")
    page.keyboard.press("Enter")
    expect(rows.last.locator("button").first).to_have_text(f"{MARKUP}{TURNED}")
    check_page(page)
    page.reload()
    page.get_by_text("Earlier conversations").click()
    expect(rows.last.locator("button").first).to_have_text(f"{MARKUP}{TURNED}")
    rows.last.get_by_role("button", name="Delete").click()
    expect(rows).to_have_count(1)
    check_page(page)


@pytest.mark.parametrize("tab", ["Lines", "Over time", "By field", "Near words", "Setting apart"])
def test_hostile_words_are_shown_as_text(watched: Watched, hostile: str, tab: str) -> None:
    page = watched.page
    page.goto(hostile)
    view = count(page, "lantern", tab)
    if tab == "Lines":
        expect(view.locator(".line:not(.head)").first).to_contain_text("<script>")
    if tab in ("Near words", "Setting apart"):
        expect(view.locator("tbody tr, .words-said").first).to_be_visible()
    check_page(page)
    page.get_by_label("Words to count").fill(f'"{MARKUP} {TURNED}')
    page.get_by_label("Words to count").press("Enter")
    expect(page.locator("#words-problem").get_by_role("alert")).to_be_visible()
    check_page(page)


def test_hostile_sources_are_listed_as_text(watched: Watched, hostile: str) -> None:
    page = watched.page
    page.goto(f"{hostile}/?view=about")
    listed = page.locator(".about-documents li")
    expect(listed.first).to_contain_text("<script>alert(2)</script>")
    asked = {"title": MARKUP, "limit": 50}
    found = httpx2.get(f"{hostile}/api/documents", params=asked).json()["documents"]
    page.get_by_label("Words of the title").fill(MARKUP)
    expect(listed).to_have_count(len(found))
    check_page(page)


def test_hostile_things_that_are_kept_are_shown_as_text(watched: Watched, hostile: str) -> None:
    page = watched.page
    page.goto(hostile)
    ask(page, QUESTION)
    menu = latest(page).locator(".keep-menu:visible").first
    menu.locator("summary").click()
    menu.get_by_role("button", name="Add to reading list").click()
    menu.get_by_role("button", name="Add a note").click()
    dialog = page.get_by_role("dialog", name="New note")
    dialog.get_by_label("Note", exact=True).fill(f"{MARKUP} {TURNED}")
    dialog.get_by_label("Tags").fill(f"{MARKUP}, {TURNED}")
    dialog.get_by_role("button", name="Save").click()
    view = kept(page)
    first = view.locator(".kept-list > li").first
    expect(first.locator(".note-text")).to_have_text(f"{MARKUP} {TURNED}")
    expect(first.locator(".tag")).to_have_text([MARKUP, TURNED])
    check_page(page)


def test_markup_that_is_written_as_entities_stays_text(tmp_path: Path, watched: Watched) -> None:
    written = escape(MARKUP)
    said = f"The lantern of Ravenmoor shows red {written} by night."
    files = {
        "moor/lantern.md": f"---\ntitle: '{written}'\n---\n# {written}\n\n{said}\n",
        "moor/lamp.html": f"<title>{written}</title><p>{said}</p><p>{escape(written)}</p>",
    }
    build_tiny(
        write_sources(tmp_path / "source", files), tmp_path / "stores" / "farm", HashEmbedder()
    )
    collections = ServedCollections(settings_for(tmp_path, collections="farm"), HashEmbedder())
    with served(create_app(collections)) as address:
        page = watched.page
        watched.sites.add(urlsplit(address).netloc)
        page.goto(address)
        ask(page, QUESTION)
        expect(latest(page).locator(".sources")).to_contain_text("alert(2)")
        check_page(page)
        openers = latest(page).locator(".sources").get_by_role("button", name="Open in document")
        expect(openers.first).to_be_visible()
        for number in range(openers.count()):
            openers.nth(number).click()
            expect(page.locator("#reader .document-text")).to_contain_text("alert(2)")
            check_page(page)
            page.keyboard.press("Escape")
            expect(page.locator("#reader")).to_be_hidden()
    collections.close()


def test_a_hostile_comparison_is_shown_as_text(tmp_path: Path, watched: Watched) -> None:
    marked = f"The lantern of Ravenmoor shows red. {MARKUP} {TURNED}"
    files = {
        f"{name}/lantern.md": f"---\ntitle: '{MARKUP} {name}'\n---\n{marked}\n"
        for name in ("marsh", "moor")
    }
    build_tiny(
        write_sources(tmp_path / "source", files), tmp_path / "stores" / "farm", HashEmbedder()
    )
    collections = ServedCollections(settings_for(tmp_path, collections="farm"), HashEmbedder())
    with served(create_app(collections)) as address:
        page = watched.page
        watched.sites.add(urlsplit(address).netloc)
        page.goto(address)
        page.get_by_label("Compare the corpora").check()
        ask(page, QUESTION)
        expect(latest(page).locator("[data-corpus]")).to_have_count(2)
        expect(latest(page)).to_contain_text("<script>alert(2)</script>")
        check_page(page)
    collections.close()


def test_the_page_makes_no_markup_of_text_even_by_mistake(watched: Watched, hostile: str) -> None:
    page = watched.page
    page.goto(hostile)
    tried = "try { document.body.innerHTML = '<p>x</p>'; 'made' } catch { 'refused' }"
    assert page.evaluate(tried) == "refused"
    # the browser tells of what it refused, as it should
    assert [fault for fault in watched.faults if "TrustedHTML" not in fault] == []
    watched.faults.clear()


def test_the_api_can_be_tried_in_its_page(watched: Watched, hostile: str) -> None:
    page = watched.page
    response = page.goto(f"{hostile}/api/swagger")
    assert response is not None
    policy = response.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    operation = page.locator(".opblock", has_text="/api/health").first
    operation.locator(".opblock-summary").click()
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_role("button", name="Execute").click()
    live = operation.locator(".live-responses-table")
    expect(live).to_contain_text('"collection": "hostile"')
    assert page.title() == "Atlas API"


def test_a_page_elsewhere_cannot_choose_what_the_page_of_the_api_describes(
    watched: Watched, hostile: str
) -> None:
    page = watched.page
    page.goto(f"{hostile}/api/swagger?url=https://elsewhere.example/openapi.json")
    expect(page.locator(".info .title")).to_contain_text("Atlas")


def test_every_response_says_what_it_may_load(hostile: str) -> None:
    for path, policy in {
        "/": "default-src 'self'",
        "/static/app.js": "default-src 'self'",
        "/nowhere": "default-src 'self'",
        "/api/health": "default-src 'none'; frame-ancestors 'none'",
        "/api/nowhere": "default-src 'none'; frame-ancestors 'none'",
        "/api/openapi.json": "default-src 'none'; frame-ancestors 'none'",
        "/api/swagger": "default-src 'none'; script-src 'self'",
    }.items():
        headers = httpx2.get(f"{hostile}{path}").headers
        assert headers["content-security-policy"].startswith(policy), path
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert "camera=()" in headers["permissions-policy"]
