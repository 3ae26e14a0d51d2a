"""Every view of the page is for readers with a keyboard, a screen reader, or little contrast."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from atlas_search import Atlas
from atlas_search.evaluation.people import Scale
from tests.access.two_corpora import QUESTION as BRIDGE
from tests.access.two_corpora import two_corpora
from tests.hash_embedder import HashEmbedder
from tests.page.asking import ask, begin, latest, unfold
from tests.page.axe import check_access
from tests.page.labelling import label_server, open_page, rating_server, search
from tests.page.rating import expect_saved, rating
from tests.page.test_page_keep import kept, note
from tests.page.test_page_rating import begin as begin_rating
from tests.page.test_page_rating import rated
from tests.page.watching import expect_faults, watched

pytestmark = pytest.mark.browser
PHONE = {"width": 360, "height": 740}


def filters(page: Page) -> None:
    page.locator(".filters > summary").click()
    expect(page.locator(".filters .facet").first).to_be_visible()
    for name in ("Court", "Years"):
        page.locator(".filters").get_by_text(name, exact=True).first.click()
    page.get_by_role("checkbox", name="House of Lords").check()
    expect(page.locator(".filters").get_by_role("status")).to_contain_text("7 documents")


def conversations(page: Page) -> None:
    ask(page)
    page.get_by_text("Earlier conversations").click()
    expect(page.locator("details.conversations li")).to_have_count(1)
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_label("New name")).to_be_focused()


def several(page: Page) -> None:
    page.get_by_label("Collection").select_option(label="Several …")
    page.get_by_role("checkbox", name="Legal UK").uncheck()
    expect(page.get_by_role("checkbox", name="Legal US")).to_be_checked()


def comparison(page: Page) -> None:
    page.get_by_label("Compare the corpora").check()
    ask(page, "Which grounds make marriage between two people of the same sex lawful?")


def abstention(page: Page) -> None:
    ask(page, "How do I bake sourdough bread at home?")


def closest(page: Page) -> None:
    ask(page, "What was decided in Shelby County v. Holder?")


def conflicts(page: Page) -> None:
    ask(page, "Is separate but equal lawful?")
    expect(latest(page).locator("details.conflicts")).to_be_visible()


def follow_up(page: Page) -> None:
    ask(page)
    ask(page, "And in New Zealand?")
    latest(page).locator(".read-as").get_by_role("button", name="Change").click()
    expect(page.locator("form.read-as")).to_be_visible()


def unfolded_rating(page: Page) -> None:
    ask(page)
    rating(page).get_by_role("radiogroup", name="Accuracy").get_by_label("4").check()
    expect_saved(page)


def alert(page: Page) -> None:
    busy = {"status": 503, "detail": "All places are taken.", "retry_after": 5}
    page.route("**/api/ask/stream", lambda route: route.fulfill(status=503, json=busy))
    expect_faults(page, "answered: 503 .*/api/ask/stream")
    begin(page)
    expect(latest(page).get_by_role("alert")).to_be_visible()


def sign_in(page: Page) -> None:
    page.evaluate("() => part('api.js').then(({askForKey}) => askForKey('Who asks?'))")
    expect(page.get_by_role("dialog", name="Your key")).to_be_visible()


def why_here(page: Page) -> None:
    ask(page)
    unfold(page)
    expect(latest(page).get_by_text("Signal", exact=True).first).to_be_visible()


def kept_things(page: Page) -> None:
    ask(page)
    note(page, "A note with a long" + "long" * 20 + " word", "libel, press")
    menu = latest(page).locator(".keep-menu").first
    menu.get_by_role("button", name="Add to reading list").click()
    view = kept(page)
    expect(view.locator(".kept-list").first.locator("> li")).to_have_count(1)
    expect(view.get_by_role("region", name="Reading list").locator("li").first).to_be_visible()


VIEWS: list[Callable[[Page], None]] = [
    *(filters, conversations, several, comparison, abstention, closest, conflicts),
    *(follow_up, unfolded_rating, alert, sign_in, why_here, kept_things),
]


@pytest.mark.parametrize("show", VIEWS, ids=lambda show: show.__name__)
def test_a_view_keeps_the_rules_on_a_desk_in_the_dark_and_on_a_phone(
    page: Page, show: Callable[[Page], None]
) -> None:
    show(page)
    check_access(page)
    page.emulate_media(color_scheme="dark")
    check_access(page)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    check_access(page)
    wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not page.evaluate(wide)


def test_an_answer_its_filters_and_its_document_in_french(browser: Browser, server: str) -> None:
    with watched(browser, locale="fr-FR") as context:
        page = context.new_page()
        page.goto(server)
        expect(page.locator("select#collection option")).to_have_count(5)
        page.locator(".filters > summary").click()
        expect(page.locator(".filters .facet").first).to_be_visible()
        ask(page)
        check_access(page)
        latest(page).locator("button.citation").first.click()
        expect(page.locator("#reader mark").first).to_be_in_viewport()
        check_access(page)
        page.keyboard.press("Escape")
        expect(page.locator("#reader")).to_be_hidden()
        for name in ("words", "about", "kept"):
            page.goto(f"{server}/?view={name}")
            expect(page.locator(f"#{name} :is(section, [role=tablist])").first).to_be_visible()
            check_access(page)


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Atlas]:
    with two_corpora(tmp_path_factory.mktemp("parish"), HashEmbedder()) as opened:
        yield opened


def test_the_page_of_labels(browser: Browser, atlas: Atlas, tmp_path: Path) -> None:
    with (
        label_server(atlas, tmp_path / "labels.jsonl") as address,
        watched(browser) as context,
    ):
        page = open_page(context, address)
        check_access(page)
        search(page, BRIDGE).first.get_by_label("2 answers in part").check()
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            check_access(page)
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        check_access(page)


def test_the_page_of_ratings(browser: Browser, tmp_path: Path) -> None:
    scales = [Scale(name="relevance", description="Does it speak to the question?")]
    with (
        rating_server(tmp_path, [rated(0), rated(1)], scales) as address,
        watched(browser) as context,
    ):
        page = open_page(context, address)
        check_access(page)
        begin_rating(page, "anna")
        page.get_by_label("5", exact=True).check()
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            check_access(page)
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        check_access(page)
