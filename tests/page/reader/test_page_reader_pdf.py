"""The page of a PDF as a picture beside its text."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.page.reader.conftest import Open
from tests.page.papers import PAPER, STORM

pytestmark = pytest.mark.browser

DOCUMENT = "papers.kestrel-point"


def test_the_page_is_shown_with_the_cited_sentence_marked(page: Page, read: Open) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    read(DOCUMENT, STORM)
    page.get_by_role("button", name="Page image").click()
    picture = page.locator("#reader .picture")
    image = picture.get_by_role("img", name="p. 2 of Kestrel Point, as in the PDF")
    expect(image).to_be_visible()
    box = picture.locator(".box")
    expect(box).to_have_count(1)
    text, sheet, mark = (part.bounding_box() for part in (page.locator("#reader-body"), image, box))
    assert text
    assert sheet
    assert mark
    assert text["x"] + text["width"] <= sheet["x"]
    share = (mark["y"] - sheet["y"]) / sheet["height"]
    assert share == pytest.approx(1 - (700 - 3 * 14) / 842, abs=0.02)
    picture.get_by_role("button", name="Page before").click()
    expect(picture).to_contain_text("p. 1 of 2")
    expect(box).to_have_count(0)
    expect(page.locator("#reader .in-view")).to_have_text("p. 1")


def test_on_a_phone_the_page_stands_above_the_text(page: Page, read: Open) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    read(DOCUMENT, STORM)
    page.get_by_role("button", name="Page image").click()
    box = page.locator("#reader .picture .box")
    expect(box).to_be_in_viewport()
    text, picture = (
        page.locator(part).bounding_box() for part in ("#reader-body", "#reader .picture")
    )
    assert text
    assert picture
    assert picture["y"] + picture["height"] <= text["y"] + 1
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0


def test_a_pdf_that_is_gone_is_said_to_be_so(page: Page, read: Open, files: Path) -> None:
    path = files / "papers" / "kestrel-point.pdf"
    path.unlink()
    try:
        read(DOCUMENT, STORM)
        page.get_by_role("button", name="Page image").click()
        alert = page.locator("#reader .picture").get_by_role("alert")
        expect(alert).to_have_text("The PDF is not on this server any more.")
        expect(page.locator("#reader mark")).to_be_visible()
    finally:
        path.write_bytes(PAPER)


def test_no_picture_is_offered_of_what_is_no_pdf(page: Page, read: Open) -> None:
    read("notes.harbour")
    expect(page.get_by_role("button", name="As written")).to_be_visible()
    expect(page.get_by_role("button", name="Page image")).to_have_count(0)
