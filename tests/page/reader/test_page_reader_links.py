"""Links to any words of a document, and what can be done with words that are selected."""

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.page.reader.conftest import Open

pytestmark = pytest.mark.browser

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
COPIED = "navigator.clipboard.readText()"


@pytest.fixture
def clipboard(page: Page, server: str) -> Page:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server)
    return page


def test_a_link_to_a_selection_marks_exactly_that(clipboard: Page, read: Open) -> None:
    page = clipboard
    found = read("notes.harbour")
    page.evaluate(HEARD)
    page.evaluate(SELECT, ["levied", "vessel"])
    bar = page.get_by_role("toolbar", name="Selected words")
    bar.get_by_role("button", name="Copy link to this selection").click()
    expect(bar).to_contain_text("The link is copied.")
    words = "levied on every *vessel"
    heard = page.evaluate("window.heard")
    assert heard == {
        "documentId": "notes.harbour",
        "start": found["text"].index(words),  # in characters, though a fish stands before it
        "end": found["text"].index(words) + len(words),
        "text": words,
    }
    link = page.evaluate(COPIED)
    page.goto(link)
    expect(page.locator("#reader mark")).to_have_text(["levied on every ", "vessel"])
    expect(page.locator("#reader").get_by_role("alert")).to_have_count(0)


def test_a_link_to_what_has_changed_says_so_and_finds_the_words(
    clipboard: Page, read: Open, server: str
) -> None:
    page = clipboard
    found = read("debates.pilots", "Speech 2 of Ms Marlowe")
    page.evaluate(SELECT, ["Speech 2", "Speech 2"])
    page.get_by_role("button", name="Copy link to this selection").click()
    expect(page.get_by_role("toolbar", name="Selected words")).to_contain_text("copied")
    link = page.evaluate(COPIED)
    query = {name: value for name, [value] in parse_qs(urlsplit(link).query).items()}
    assert found["text"][int(query["start"]) : int(query["end"])] == query["words"] == "Speech 2"
    # as if 30 characters had been written before it
    read(**query | {"start": int(query["start"]) - 30, "end": int(query["end"]) - 30})
    alert = page.locator("#reader").get_by_role("alert")
    expect(alert).to_contain_text("The document has changed since this link was made")
    expect(page.locator("#reader mark")).to_have_count(0)
    expect(page.get_by_role("searchbox", name="Find in the document")).to_have_value("Speech 2")
    expect(page.locator("#reader .find output")).to_have_text("1 of 2")


def test_a_quotation_is_copied_with_its_source(clipboard: Page, read: Open) -> None:
    page = clipboard
    read("debates.pilots", "Speech 1 of Mr Finch")
    page.evaluate(SELECT, ["Speech 1", "northern fairway"])
    # the first such words stand in an earlier speech: the selection runs backwards, and counts
    page.evaluate(HEARD)
    page.evaluate(SELECT, ["Speech 1", "Speech 1"])
    # what was selected before is what is copied until the page has looked again
    page.wait_for_function("() => window.heard?.text === 'Speech 1'")
    page.get_by_role("button", name="Copy quotation with source").click()
    expect(page.get_by_role("toolbar", name="Selected words")).to_contain_text(
        "quotation is copied"
    )
    copied = page.evaluate(COPIED)
    assert copied.startswith("“Speech 1” (Mr Finch, Pilots, p. 1) http")
    assert "document=debates.pilots" in copied


def test_a_selection_elsewhere_offers_nothing(page: Page, read: Open) -> None:
    read("debates.pilots")
    page.evaluate("getSelection().selectAllChildren(document.querySelector('.masthead'))")
    page.evaluate(HEARD)
    bar = page.locator("#reader .selection")
    page.evaluate(SELECT, ["Speech 0", "Speech 0"])
    expect(bar).to_be_visible()
    page.evaluate("getSelection().removeAllRanges()")
    expect(bar).to_be_hidden()


def test_words_are_selected_by_keys_from_the_mark_on(page: Page, read: Open) -> None:
    read("debates.pilots", "Speech 1 of Mr Finch")
    expect(page.locator("#reader mark")).to_be_focused()
    page.evaluate(HEARD)
    for _ in range(8):
        page.keyboard.press("Shift+ArrowRight")
    expect(page.locator("#reader .selection")).to_be_visible()
    # it looks again some time after each key
    page.wait_for_function("() => window.heard?.text === 'Speech 1'")


@pytest.mark.parametrize(
    "query",
    [
        "document=..%2F..%2Fapi%2Fhealth&start=0&end=4",
        "document=%3Cimg%20src%3Dx%3E&start=-1&end=1e9&digest=%3Cb%3E",
        "document=debates.nothing&start=5",
    ],
)
def test_a_link_that_leads_nowhere_says_so(page: Page, server: str, query: str) -> None:
    page.goto(f"{server}/?{query}")
    expect(page.locator("#reader").get_by_role("alert")).to_be_visible()
    expect(page.locator("#reader img")).to_have_count(0)


def test_a_link_to_impossible_places_shows_the_document(page: Page, read: Open) -> None:
    for start, end in ((10**9, 10**9 + 5), (9, 3)):
        read("debates.pilots", start=start, end=end)
        expect(page.locator("#reader .document-text")).to_contain_text("Speech 0")
