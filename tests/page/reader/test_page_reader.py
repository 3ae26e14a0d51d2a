"""The pane: opened, closed, gone back through, resized, and as a sheet on a phone."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page.asking import ask, latest
from tests.page.reader.conftest import Open
from tests.servers import wait_for

pytestmark = pytest.mark.browser

DESK, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
QUESTION = "What did Ms Marlowe and Mr Finch say of the pilots of the northern fairway?"


def openers(page: Page) -> Locator:
    """What opens the passages that were found."""
    return (
        latest(page).locator(".sources li:visible").get_by_role("button", name="Open in document")
    )


def test_a_place_is_opened_beside_the_answers_and_closed(page: Page, read: Open) -> None:
    page.set_viewport_size(DESK)
    read("debates.pilots", "Speech 2 of Ms Marlowe")
    pane = page.locator("#reader")
    mark = pane.locator("mark")
    expect(mark).to_have_text("Speech 2 of Ms Marlowe")
    expect(mark).to_be_in_viewport()
    expect(mark).to_be_focused()
    views, box = page.locator("#views").bounding_box(), pane.bounding_box()
    assert views
    assert box
    assert views["x"] + views["width"] <= box["x"]
    assert box["y"] + box["height"] <= DESK["height"]
    page.keyboard.press("Escape")
    expect(pane).to_be_hidden()
    expect(page).not_to_have_url(re.compile("document="))
    page.go_back()
    expect(mark).to_have_text("Speech 2 of Ms Marlowe")


def test_one_goes_back_through_what_was_opened(page: Page) -> None:
    ask(page, QUESTION)
    asked = page.url
    first, second = openers(page).nth(0), openers(page).nth(1)
    first.click()
    mark = page.locator("#reader mark").first
    expect(mark).to_be_visible()
    expect(page.get_by_role("button", name="Back", exact=True)).to_be_hidden()
    said, address = mark.inner_text(), page.url
    assert "start=" in address
    second.click()
    expect(mark).not_to_have_text(said)
    expect(page).not_to_have_url(address)
    page.get_by_role("button", name="Back", exact=True).click()
    expect(page).to_have_url(address)
    expect(mark).to_have_text(said)
    page.go_back()
    expect(page.locator("#reader")).to_be_hidden()
    expect(page).to_have_url(asked)
    page.go_forward()
    expect(mark).to_have_text(said)
    expect(latest(page)).to_be_visible()  # nothing was loaded anew


def test_the_focus_goes_back_to_what_opened_the_pane(page: Page) -> None:
    ask(page, QUESTION)
    openers(page).nth(1).click()
    expect(page.locator("#reader mark").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(openers(page).nth(1)).to_be_focused()


def test_the_pane_is_resized_by_keys_and_mouse_and_stays_so(page: Page, read: Open) -> None:
    page.set_viewport_size(DESK)
    read("debates.pilots")
    edge = page.get_by_role("separator", name="Width of the document")
    pane = page.locator("#reader")

    def width() -> float:
        box = pane.bounding_box()
        assert box
        return box["width"]

    before = width()
    edge.press("ArrowLeft")
    wait_for(lambda: width() > before or None, 20, "a wider pane")
    wider = int(edge.get_attribute("aria-valuenow") or 0)
    edge.press("ArrowRight")
    expect(edge).not_to_have_attribute("aria-valuenow", str(wider))
    edge.press("Home")
    expect(edge).to_have_attribute("aria-valuenow", edge.get_attribute("aria-valuemax") or "")
    widest = width()
    handle = edge.bounding_box()
    assert handle
    page.mouse.move(handle["x"] + 12, 450)
    page.mouse.down()
    page.mouse.move(handle["x"] + 312, 450, steps=4)
    page.mouse.up()
    wait_for(lambda: abs(width() - widest + 300) < 15 or None, 20, "the width that was drawn")
    now = width()
    page.reload()
    expect(pane.locator(".document-text")).to_be_visible()
    assert width() == pytest.approx(now, abs=10)


def test_on_a_phone_the_pane_covers_the_page(page: Page, read: Open) -> None:
    page.set_viewport_size(PHONE)
    read("debates.pilots", "Speech 1 of Mr Finch")
    pane = page.locator("#reader")
    box = pane.bounding_box()
    assert box
    assert (box["x"], box["y"], box["height"]) == (0, 0, PHONE["height"])
    expect(pane.locator("mark")).to_be_in_viewport()
    expect(page.get_by_role("separator")).to_have_count(0)
    # what it covers cannot be reached
    for part in (".masthead", ".ask", "#views"):
        expect(page.locator(f"{part}[inert]")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    page.get_by_role("button", name="Close").click()
    expect(page.locator("[inert]")).to_have_count(0)
