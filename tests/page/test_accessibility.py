"""Every view is for readers with a keyboard, a screen reader, or little contrast, in both schemes
and in French; and no view is wider than its window."""

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from atlas_search.atlas import Atlas
from atlas_search.evaluation.people import Scale
from tests.page.asking import (
    COMPARED,
    FOLLOW_UP,
    NO_ANSWER,
    NOT_HELD,
    STREAM,
    ask,
    begin,
    chips,
    compare,
    latest,
    open_citation,
    open_view,
    unfold,
    unfold_filters,
)
from tests.page.conftest import Read, open_page
from tests.page.documents import STORM
from tests.page.labelling import label_server, open_labels, rated, rating_server
from tests.page.labelling import search as search_labels
from tests.page.rating import expect_saved, rating
from tests.page.watching import expect_faults, watched
from tests.page.words import TABS, count, search, show_tab
from tests.server.two_corpora import QUESTION as BRIDGE

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
OVER = """() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  return [document.documentElement.scrollWidth, ...[...document.querySelectorAll('body *')]
    .filter((node) => node.getBoundingClientRect().right > width + 1)
    .map((node) => `${node.tagName} ${node.id} ${node.className}`)];
}"""


def check_access(page: Page) -> None:
    """Raise AssertionError with what breaks WCAG 2.2 AA, or a rule of good practice, as shown.

    What lies below the bar at the bottom can be scrolled from under it, so that the bar is taken
    for a part of the page.
    """
    for bar in page.locator(".ask.low").all():
        bar.evaluate("(bar) => { bar.style.position = 'static'; }")
    report = Axe().run(page, options={"runOnly": RULES, "resultTypes": ["violations"]})
    assert report.violations_count == 0, report.generate_report()


def check_all(page: Page) -> None:
    """Check access in both schemes and on a phone, and the width from there to a large screen."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        check_access(page)
    for width in (1920, 1024, 360):
        page.set_viewport_size({"width": width, "height": 740})
        assert page.evaluate(OVER) == [], width
    check_access(page)


def first_view(page: Page) -> None:
    expect(page.locator("#examples button").first).to_be_visible()


def filters(page: Page) -> None:
    section = unfold_filters(page)
    section.get_by_text("Court", exact=True).first.click()
    page.get_by_role("checkbox", name="House of Lords").check()
    expect(section.get_by_role("status")).to_contain_text("7 documents")
    expect(chips(page)).to_be_visible()


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
    compare(page)
    ask(page, COMPARED)


def abstention(page: Page) -> None:
    ask(page, NO_ANSWER)


def closest(page: Page) -> None:
    ask(page, NOT_HELD)


def conflicts(page: Page) -> None:
    answer = ask(page, "Is separate but equal lawful?")
    expect(answer.locator(".succession")).to_be_visible()


def follow_up(page: Page) -> None:
    ask(page)
    ask(page, FOLLOW_UP).locator(".read-as").get_by_role("button", name="Change").click()
    expect(page.locator("form.read-as")).to_be_visible()


def unfolded_rating(page: Page) -> None:
    ask(page)
    rating(page).get_by_role("radiogroup", name="Accuracy").get_by_label("4").check()
    expect_saved(page)


def alert(page: Page) -> None:
    busy = {"status": 503, "detail": "All places are taken.", "retry_after": 5}
    page.route(STREAM, lambda route: route.fulfill(status=503, json=busy))
    expect_faults(page, "answered: 503 .*/api/ask/stream")
    begin(page)
    expect(latest(page).get_by_role("alert")).to_be_visible()


def sign_in(page: Page) -> None:
    page.evaluate("() => part('api.js').then(({askForKey}) => askForKey('Who asks?'))")
    expect(page.get_by_role("dialog", name="Your key")).to_be_visible()


def all_of_an_answer(page: Page) -> None:
    ask(page)
    unfold(page)
    expect(latest(page).get_by_text("Signal", exact=True).first).to_be_visible()


def document(page: Page) -> None:
    ask(page)
    open_citation(page)


def note_dialog(page: Page) -> None:
    menu = ask(page).locator(".sources .keep-menu").first
    menu.locator("summary").click()
    menu.get_by_role("button", name="Add to reading list").click()
    menu.get_by_role("button", name="Add a note").click()
    expect(page.get_by_role("dialog", name="New note")).to_be_visible()


def kept_things(page: Page) -> None:
    note_dialog(page)
    dialog = page.get_by_role("dialog", name="New note")
    dialog.get_by_label("Note", exact=True).fill("A note with a long" + "long" * 20 + " word")
    dialog.get_by_label("Tags").fill("libel, press")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    view = open_view(page, "Kept")
    expect(view.locator(".kept-list").first.locator("> li")).to_have_count(1)
    expect(view.get_by_role("region", name="Reading list").locator("li").first).to_be_visible()


def about(page: Page) -> None:
    expect(open_view(page, "About").locator(".about-documents li")).to_have_count(50)


def broken_query(page: Page) -> None:
    view = count(page, "court")
    page.get_by_text("How to write a query").click()
    search(page, "court NEAR")
    expect(view.locator("#words-panel")).not_to_have_attribute("aria-busy", "true")


VIEWS: list[Callable[[Page], None]] = [
    *(first_view, filters, conversations, several, comparison, abstention, closest, conflicts),
    *(follow_up, unfolded_rating, alert, sign_in, all_of_an_answer, document, note_dialog),
    *(kept_things, about, broken_query),
]


@pytest.mark.parametrize("show", VIEWS, ids=lambda show: show.__name__)
def test_a_view_keeps_the_rules_in_both_schemes_and_at_every_width(
    page: Page, show: Callable[[Page], None]
) -> None:
    show(page)
    check_all(page)


@pytest.mark.parametrize("view", TABS)
def test_every_way_to_look_at_words(page: Page, view: str) -> None:
    page.get_by_label("Collection").select_option("legal_uk")
    show_tab(count(page, "court"), view)
    check_all(page)


def test_all_that_the_reader_opens(tab: Page, read: Read) -> None:
    tab.set_viewport_size({"width": 1440, "height": 900})
    read("papers.kestrel-point", STORM)
    for name in ("Contents", "Find", "Page image"):
        tab.get_by_role("button", name=name, exact=True).click()
    tab.get_by_role("searchbox").fill("lamp")
    expect(tab.locator("#reader .picture .box")).to_be_visible()
    tab.evaluate("getSelection().selectAllChildren(document.querySelector('.document-text p'))")
    expect(tab.locator("#reader .selection")).to_be_visible()
    check_all(tab)
    read("notes.harbour", "levied")
    check_access(tab)


def test_an_answer_its_filters_its_document_and_other_views_in_french(
    browser: Browser, server: str
) -> None:
    with watched(browser, locale="fr-FR") as context:
        page = open_page(context.new_page(), server)
        unfold_filters(page)
        ask(page)
        check_access(page)
        open_citation(page)
        check_access(page)
        for name in ("words", "about", "kept"):
            page.goto(f"{server}/?view={name}")
            expect(page.locator(f"#{name} :is(section, [role=tablist])").first).to_be_visible()
            check_access(page)


def test_the_page_of_labels(context: BrowserContext, parish: Atlas, tmp_path: Path) -> None:
    with label_server(parish, tmp_path / "labels.jsonl") as address:
        page = open_labels(context, address)
        check_access(page)
        search_labels(page, BRIDGE).first.get_by_label("2 answers in part").check()
        check_all(page)


def test_the_page_of_ratings(context: BrowserContext, tmp_path: Path) -> None:
    scales = [Scale(name="relevance", description="Does it speak to the question?")]
    with rating_server(tmp_path, [rated(0), rated(1)], scales) as address:
        page = open_labels(context, address)
        check_access(page)
        page.get_by_label("Your name").fill("anna")
        page.get_by_role("button", name="Begin").click()
        page.get_by_label("5", exact=True).check()
        check_all(page)


def test_a_broken_rule_and_a_wide_part_are_found(page: Page) -> None:
    page.locator("label[for=question]").evaluate("node => node.remove()")
    with pytest.raises(AssertionError, match="label"):
        check_access(page)
    page.evaluate(
        """() => {
          const wide = document.createElement('p');
          Object.assign(wide, {id: 'planted', textContent: 'wide'}).style.width = '3000px';
          document.getElementById('views').append(wide);
        }"""
    )
    assert any("planted" in str(part) for part in page.evaluate(OVER))
