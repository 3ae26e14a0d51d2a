"""The reading list: filled from citations and selected words, a bibliography, and Zotero's."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from atlas_search.services import Services
from tests.page.asking import ask, latest
from tests.page.test_page_keep import kept
from tests.page.watching import expect_faults, watched
from tests.servers import served
from tests.test_origin import app_with
from tests.zotero_server import ZoteroServer, zotero_server

pytestmark = pytest.mark.browser

TITLE = "Derbyshire County Council v Times Newspapers"


@pytest.fixture(scope="module")
def zotero() -> Iterator[ZoteroServer]:
    with zotero_server() as started:
        yield started


@pytest.fixture(scope="module")
def address(services: Services, zotero: ZoteroServer) -> Iterator[str]:
    with served(app_with(services, zotero_address=zotero.address)) as started:
        yield started


@pytest.fixture
def desk(browser: Browser, address: str) -> Iterator[Page]:
    with watched(browser) as context:
        opened = context.new_page()
        opened.goto(address)
        expect(opened.locator("select#collection option").nth(1)).to_be_attached()
        yield opened


def test_a_citation_becomes_a_bibliography_and_an_item_of_zotero(
    desk: Page, zotero: ZoteroServer
) -> None:
    expect_faults(desk, "answered: 50. .*zotero")
    ask(desk)
    item = latest(desk).get_by_role("list", name="Citations").locator("> li").first
    item.locator(".keep-menu summary").click()
    for _ in range(2):
        item.get_by_role("button", name="Add to reading list").click()
        expect(item.locator(".outcome")).to_have_text("It is on the reading list.")
    view = kept(desk).get_by_role("region", name="Reading list")
    expect(view.get_by_role("button", name=TITLE, exact=True)).to_have_count(1)
    view.get_by_text("Export list").click()
    for name, content in (("BibTeX", "@misc{legal_uk.derbyshire"), ("RIS", "TY  - CASE")):
        with desk.expect_download() as started:
            view.get_by_role("button", name=name).click()
        assert content in started.value.path().read_text()
    view.get_by_role("button", name="Send to Zotero").click()
    expect(view.get_by_text("Zotero has 1 item more.")).to_be_visible()
    assert [item["caseName"] for item in zotero.items] == [TITLE]
    zotero.editable = False
    view.get_by_role("button", name="Send to Zotero").click()
    expect(view.get_by_text("Choose another in Zotero.")).to_be_visible()
    view.get_by_role("button", name=f"Remove: {TITLE}").click()
    expect(view.get_by_text("Nothing is on the list yet.")).to_be_visible()


def test_words_selected_in_a_document_are_noted_on_with_their_place(desk: Page) -> None:
    ask(desk)
    latest(desk).locator("button.citation").first.click()
    mark = desk.locator("#reader mark").first
    expect(mark).to_be_visible()
    mark.evaluate("node => getSelection().selectAllChildren(node)")
    words = mark.inner_text()
    desk.get_by_role("button", name="Add a note").last.click()
    dialog = desk.get_by_role("dialog", name="New note")
    expect(dialog.locator("blockquote")).to_have_text(words)
    dialog.get_by_label("Note", exact=True).fill("From the text")
    dialog.get_by_role("button", name="Save").click()
    expect(desk.locator("#page-told")).to_have_text("The note is kept.")
    view = kept(desk)
    expect(view.locator(".kept-list blockquote")).to_have_text(words)
    view.get_by_role("button", name=TITLE, exact=True).click()
    expect(mark).to_have_text(words)
