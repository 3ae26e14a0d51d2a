"""What is pressed before the page is ready for it, or twice, is neither lost nor done twice."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, Route, expect

from tests.page.asking import QUESTION, ask, latest
from tests.page.test_page_about import open_about
from tests.page.test_page_keep import kept_menu
from tests.page.watching import expect_faults

pytestmark = pytest.mark.browser


@contextmanager
def held(page: Page, pattern: str) -> Iterator[None]:
    """Requests like this wait until the block ends; the first of them has come when it begins."""
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
    expect(latest(page)).to_have_attribute("data-state", "done", timeout=60_000)


def test_what_the_reader_changes_while_the_page_is_loaded_stays(page: Page) -> None:
    passages = page.get_by_role("spinbutton", name="Passages")
    passages.fill("3")
    page.reload()
    expect(passages).to_have_value("3")
    with held(page, "**/api/corpora"):
        with page.expect_request("**/api/corpora"):
            page.reload(wait_until="commit")
        passages.fill("7")
    expect(page.locator("#served")).not_to_be_empty()
    page.wait_for_load_state("networkidle")
    expect(passages).to_have_value("7")
    expect(page.locator("button#ask")).to_be_enabled()


def test_a_note_that_is_asked_for_twice_is_one(page: Page) -> None:
    ask(page)
    add = kept_menu(page).get_by_role("button", name="Add a note")
    with held(page, "**/keep/note_dialog.js"):
        with page.expect_request("**/keep/note_dialog.js"):
            add.click()
        add.click()
    expect(page.get_by_role("dialog", name="New note")).to_be_visible()
    expect(page.locator("dialog.note-dialog")).to_have_count(1)
    page.get_by_role("dialog", name="New note").get_by_role("button", name="Cancel").click()
    expect(page.locator("dialog.note-dialog")).to_have_count(0)
    add.click()
    expect(page.get_by_role("dialog", name="New note")).to_be_visible()


def test_turning_over_twice_does_not_go_beyond_the_last_documents(page: Page) -> None:
    listing = open_about(page).get_by_role("region", name="Documents", exact=True)
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
