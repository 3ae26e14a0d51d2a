"""The pane of a document: opened, gone back through, resized, a sheet on a phone; pages of a PDF;
links to any words, and all that can be done with words that are selected."""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from atlas_search.server.page import GONE
from tests.page.asking import WIDE, ask, clipboard, latest, show_passages
from tests.page.conftest import Read
from tests.page.documents import PAPER, STORM, TIDE
from tests.servers import wait_for

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

DESK, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
QUESTION = "What did Ms Marlowe and Mr Finch say of the pilots of the northern fairway?"
SELECT = """([from, to]) => {
  const text = document.querySelector('#reader .document-text');
  const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  const found = (words, after) => {
    walker.currentNode = text;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const at = node.data.indexOf(words);
      if (at >= 0) return [node, at + (after ? words.length : 0)];
    }
  };
  getSelection().setBaseAndExtent(...found(from, false), ...found(to, true));
}"""
HEARD = "document.addEventListener('atlas:selection', ({ detail }) => (window.heard = detail))"


def openers(page: Page) -> Locator:
    """The buttons that open the passages of the last answer."""
    return show_passages(page).get_by_role("button", name="Open in document")


def select(tab: Page, first: str, last: str = "") -> Locator:
    """Select from some words to others; the bar of what can be done with them."""
    tab.evaluate(HEARD)
    tab.evaluate(SELECT, [first, last or first])
    return tab.get_by_role("toolbar", name="Selected words")


def test_a_place_is_opened_beside_the_answers_and_closed(tab: Page, read: Read) -> None:
    tab.set_viewport_size(DESK)  # type: ignore[arg-type]
    read("debates.pilots", "Speech 2 of Ms Marlowe")
    pane, mark = tab.locator("#reader"), tab.locator("#reader mark")
    expect(mark).to_have_text("Speech 2 of Ms Marlowe")
    expect(mark).to_be_in_viewport()
    expect(mark).to_be_focused()
    views, box = tab.locator("#views").bounding_box() or {}, pane.bounding_box() or {}
    assert views["x"] + views["width"] <= box["x"]
    assert box["y"] + box["height"] <= DESK["height"]
    tab.keyboard.press("Escape")
    expect(pane).to_be_hidden()
    expect(tab).not_to_have_url(re.compile("document="))
    tab.go_back()
    expect(mark).to_have_text("Speech 2 of Ms Marlowe")


def test_one_goes_back_through_what_was_opened(tab: Page, reading: str) -> None:
    tab.goto(reading)
    ask(tab, QUESTION)
    start, back = tab.url, tab.get_by_role("button", name="Back", exact=True)
    mark = tab.locator("#reader mark").first
    openers(tab).nth(0).click()
    expect(mark).to_be_focused()
    expect(back).to_be_hidden()
    words, address = mark.inner_text(), tab.url
    assert "start=" in address
    openers(tab).nth(1).click()
    expect(mark).not_to_have_text(words)
    expect(tab).not_to_have_url(address)
    back.click()
    expect(tab).to_have_url(address)
    expect(mark).to_have_text(words)
    tab.go_back()
    expect(tab.locator("#reader")).to_be_hidden()
    expect(tab).to_have_url(start)
    tab.go_forward()
    expect(mark).to_have_text(words)
    expect(latest(tab)).to_be_visible()  # nothing was loaded anew
    tab.keyboard.press("Escape")
    openers(tab).nth(1).click()
    expect(mark).to_be_focused()
    tab.keyboard.press("Escape")
    expect(openers(tab).nth(1)).to_be_focused()  # which opened the pane


def test_the_pane_is_resized_by_keys_and_mouse_and_stays_so(tab: Page, read: Read) -> None:
    tab.set_viewport_size(DESK)  # type: ignore[arg-type]
    read("debates.pilots")
    edge = tab.get_by_role("separator", name="Width of the document")
    pane = tab.locator("#reader")

    def width() -> float:
        return float((pane.bounding_box() or {})["width"])

    before = width()
    edge.press("ArrowLeft")
    wait_for(lambda: width() > before or None, 20, "a wider pane")
    wider = edge.get_attribute("aria-valuenow") or ""
    edge.press("ArrowRight")
    expect(edge).not_to_have_attribute("aria-valuenow", wider)
    edge.press("Home")
    expect(edge).to_have_attribute("aria-valuenow", edge.get_attribute("aria-valuemax") or "")
    widest, handle = width(), edge.bounding_box() or {}
    tab.mouse.move(handle["x"] + 12, 450)
    tab.mouse.down()
    tab.mouse.move(handle["x"] + 312, 450, steps=4)
    tab.mouse.up()
    wait_for(lambda: abs(width() - widest + 300) < 15 or None, 20, "the width that was drawn")
    now = width()
    tab.reload()
    expect(pane.locator(".document-text")).to_be_visible()
    assert width() == pytest.approx(now, abs=10)


def test_on_a_phone_the_pane_covers_the_page(tab: Page, read: Read) -> None:
    tab.set_viewport_size(PHONE)  # type: ignore[arg-type]
    read("debates.pilots", "Speech 1 of Mr Finch")
    pane = tab.locator("#reader")
    box = pane.bounding_box() or {}
    assert (box["x"], box["y"], box["height"]) == (0, 0, PHONE["height"])
    expect(pane.locator("mark")).to_be_in_viewport()
    expect(tab.get_by_role("separator")).to_have_count(0)
    # what it covers cannot be reached
    for part in (".masthead", ".ask", "#views"):
        expect(tab.locator(f"{part}[inert]")).to_have_count(1)
    assert tab.evaluate(WIDE) <= 0
    tab.get_by_role("button", name="Close").click()
    expect(tab.locator("[inert]")).to_have_count(0)


def test_on_a_phone_the_page_of_a_pdf_stands_above_the_text(tab: Page, read: Read) -> None:
    tab.set_viewport_size(PHONE)  # type: ignore[arg-type]
    read("papers.kestrel-point", STORM)
    tab.get_by_role("button", name="Page image").click()
    expect(tab.locator("#reader .picture .box")).to_be_in_viewport()
    text, picture = (
        tab.locator(part).bounding_box() or {} for part in ("#reader-body", "#reader .picture")
    )
    assert picture["y"] + picture["height"] <= text["y"] + 1
    assert tab.evaluate(WIDE) <= 0
    # and none is offered of what is no PDF
    read("notes.harbour")
    expect(tab.get_by_role("button", name="As written")).to_be_visible()
    expect(tab.get_by_role("button", name="Page image")).to_have_count(0)


def test_a_cited_sentence_of_a_scan_is_marked_on_its_image(tab: Page, read: Read) -> None:
    tab.set_viewport_size(DESK)  # type: ignore[arg-type]
    read("papers.tide", TIDE)
    tab.get_by_role("button", name="Page image").click()
    boxes = tab.locator("#reader .picture .box")
    expect(boxes).to_have_count(1)
    mark, image = (
        each.bounding_box() or {} for each in (boxes, tab.locator("#reader .picture img"))
    )
    assert image["width"] == pytest.approx(1.2 * image["height"], rel=0.01)
    assert mark["y"] - image["y"] == pytest.approx(0.3 * image["height"], abs=3)
    assert mark["width"] == pytest.approx(1150 / 1200 * image["width"], abs=4)


def test_a_pdf_that_is_gone_is_said_to_be_so(tab: Page, read: Read, files: Path) -> None:
    path = files / "papers" / "kestrel-point.pdf"
    path.unlink()
    try:
        read("papers.kestrel-point", STORM)
        tab.get_by_role("button", name="Page image").click()
        alert = tab.locator("#reader .picture").get_by_role("alert")
        expect(alert).to_have_text(GONE)
        expect(tab.locator("#reader mark")).to_be_visible()
    finally:
        path.write_bytes(PAPER)


def test_a_link_to_a_selection_marks_exactly_that(tab: Page, read: Read) -> None:
    text = read("notes.harbour")["text"]
    bar = select(tab, "levied", "vessel")
    bar.get_by_role("button", name="Copy link to this selection").click()
    expect(bar).to_contain_text("The link is copied.")
    words = "levied on every *vessel"
    assert tab.evaluate("window.heard") == {
        "documentId": "notes.harbour",
        "start": text.index(words),  # in characters, though a fish stands before it
        "end": text.index(words) + len(words),
        "text": words,
    }
    tab.goto(clipboard(tab))
    expect(tab.locator("#reader mark")).to_have_text(["levied on every ", "vessel"])
    expect(tab.locator("#reader").get_by_role("alert")).to_have_count(0)


def test_a_link_to_what_has_changed_says_so_and_finds_the_words(tab: Page, read: Read) -> None:
    text = read("debates.pilots", "Speech 2 of Ms Marlowe")["text"]
    bar = select(tab, "Speech 2")
    bar.get_by_role("button", name="Copy link to this selection").click()
    expect(bar).to_contain_text("copied")
    query = {name: value for name, [value] in parse_qs(urlsplit(clipboard(tab)).query).items()}
    start, end = int(query["start"]), int(query["end"])
    assert text[start:end] == query["words"] == "Speech 2"
    # as if 30 characters had been written before it
    read(**query | {"start": start - 30, "end": end - 30})
    alert = tab.locator("#reader").get_by_role("alert")
    expect(alert).to_contain_text("The document has changed since this link was made")
    expect(tab.locator("#reader mark")).to_have_count(0)
    expect(tab.get_by_role("searchbox", name="Find in the document")).to_have_value("Speech 2")
    expect(tab.locator("#reader .find output")).to_have_text("1 of 2")


def test_a_quotation_is_copied_with_its_source(tab: Page, read: Read) -> None:
    read("debates.pilots", "Speech 1 of Mr Finch")
    # the first such words stand in an earlier speech: the selection runs backwards, and counts
    select(tab, "Speech 1", "northern fairway")
    bar = select(tab, "Speech 1")
    # what was selected before is what is copied until the page has looked again
    tab.wait_for_function("() => window.heard?.text === 'Speech 1'")
    bar.get_by_role("button", name="Copy quotation with source").click()
    expect(bar).to_contain_text("quotation is copied")
    copy = clipboard(tab)
    assert copy.startswith("“Speech 1” (Mr Finch, Pilots) http")
    assert "document=debates.pilots" in copy


def test_a_selection_elsewhere_offers_nothing_and_keys_select_from_the_mark_on(
    tab: Page, read: Read
) -> None:
    read("debates.pilots", "Speech 1 of Mr Finch")
    bar = tab.locator("#reader .selection")
    tab.evaluate("getSelection().selectAllChildren(document.querySelector('.masthead'))")
    select(tab, "Speech 0")
    expect(bar).to_be_visible()
    tab.evaluate("getSelection().removeAllRanges()")
    expect(bar).to_be_hidden()
    tab.reload()
    expect(tab.locator("#reader mark")).to_be_focused()
    tab.evaluate(HEARD)
    for _ in range(8):
        tab.keyboard.press("Shift+ArrowRight")
    expect(bar).to_be_visible()
    # it looks again some time after each key
    tab.wait_for_function("() => window.heard?.text === 'Speech 1'")


@pytest.mark.parametrize(("start", "end"), [(10**9, 10**9 + 5), (9, 3)])
def test_a_link_to_impossible_places_shows_the_document(
    tab: Page, read: Read, start: int, end: int
) -> None:
    read("debates.pilots", start=start, end=end)
    expect(tab.locator("#reader .document-text")).to_contain_text("Speech 0")
