"""What is read: contents, the place in view, find, Markdown, and long texts."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.page.asking import ask, latest
from tests.page.reader.conftest import Open
from tests.page.reader.sources import LONG_PARAGRAPHS, MARKDOWN

pytestmark = pytest.mark.browser

SCROLLED = """async () => {
  const body = document.getElementById('reader-body');
  const frames = [];
  let before = performance.now();
  for (let step = 0; step < 60; step += 1) {
    body.scrollTop += 1500;
    await new Promise(requestAnimationFrame);
    frames.push(performance.now() - before);
    before = performance.now();
  }
  return frames.sort((a, b) => a - b);
}"""


def find(page: Page, words: str) -> None:
    page.locator("#reader").get_by_role("button", name="Find", exact=True).click()
    box = page.get_by_role("searchbox", name="Find in the document")
    expect(box).to_be_focused()
    box.fill(words)


def highlighted(page: Page, name: str) -> list[str]:
    found: list[str] = page.evaluate(
        """name => [...CSS.highlights.get(name)].map((each) => {
          const range = document.createRange();
          range.setStart(each.startContainer, each.startOffset);
          range.setEnd(each.endContainer, each.endOffset);
          return range.toString();
        })""",
        name,
    )
    return found


def test_contents_lead_to_a_speech_and_follow_the_reading(page: Page, read: Open) -> None:
    read("debates.pilots")
    pane = page.locator("#reader")
    contents = pane.get_by_role("navigation", name="Contents")
    expect(contents).to_be_hidden()
    pane.get_by_role("button", name="Contents").click()
    expect(contents.get_by_role("button")).to_have_text(
        [
            *("Pilots Bill", "Second reading", "Ms Marlowe", "Mr Finch"),
            *("Committee", "Ms Marlowe", "Questions", "The Speaker"),
        ]
    )
    nested = contents.locator("li", has_text="Pilots Bill").locator("li", has_text="Committee")
    expect(nested.first).to_contain_text("Ms Marlowe")
    where = pane.locator(".in-view")
    expect(where).to_have_text("Pilots Bill › Second reading · Ms Marlowe")
    contents.get_by_role("button", name="Ms Marlowe").nth(1).click()
    expect(where).to_have_text("Pilots Bill › Committee · Ms Marlowe")
    expect(pane.get_by_text("Speech 2 of Ms Marlowe")).to_be_in_viewport()
    here = contents.locator("[aria-current=location]")
    expect(here).to_have_count(1)
    expect(here).to_have_text("Ms Marlowe")
    page.evaluate("document.getElementById('reader-body').scrollTop = 1e6")
    expect(where).to_have_text("Questions · The Speaker")
    expect(here).to_have_text("The Speaker")


def test_pages_are_named_where_there_are_some(page: Page, read: Open) -> None:
    found = read("papers.kestrel-point", "The keeper of Kestrel Point lit")
    pane = page.locator("#reader")
    expect(pane.locator(".in-view")).to_have_text("p. 2")
    labels = pane.locator(".page-start").evaluate_all("all => all.map(one => one.dataset.label)")
    assert labels == ["p. 1", "p. 2"]
    # a label is no part of the text
    assert pane.locator(".document-text").evaluate("node => node.textContent") == found["text"]


def test_find_counts_and_goes_from_hit_to_hit(page: Page, read: Open) -> None:
    read("notes.log")
    find(page, "  uberfahre CARRIED   naive facades ")
    count = page.locator("#reader .find output")
    expect(count).to_have_text("1 of 2")
    assert highlighted(page, "reader-hits") == ["Überfähre carried naïve façades"] * 2
    middle = page.locator("#reader p", has_text=f"Entry {LONG_PARAGRAPHS // 2}.")
    expect(middle).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(count).to_have_text("2 of 2")
    expect(page.locator("#reader p", has_text=f"Entry {LONG_PARAGRAPHS - 1}.")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(count).to_have_text("1 of 2")
    page.keyboard.press("Shift+Enter")
    expect(count).to_have_text("2 of 2")
    page.get_by_role("button", name="Previous hit").click()
    expect(count).to_have_text("1 of 2")
    expect(middle).to_be_in_viewport()
    box = page.get_by_role("searchbox", name="Find in the document")
    box.fill("dragon")
    expect(count).to_have_text("Not found")
    box.fill("lamp")
    expect(count).to_contain_text("15,000")
    box.press("Escape")  # closes find, and not the document
    expect(box).to_be_hidden()
    expect(page.locator("#reader")).to_be_visible()


def test_a_hit_far_down_in_a_paragraph_is_in_view(page: Page, read: Open) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    read("debates.pilots")
    find(page, "so ends speech 2")
    expect(page.locator("#reader .find output")).to_have_text("1 of 1")
    page.wait_for_function(
        """() => {
          const [hit] = CSS.highlights.get('reader-hit');
          const range = document.createRange();
          range.setStart(hit.startContainer, hit.startOffset);
          range.setEnd(hit.endContainer, hit.endOffset);
          const { top, bottom } = document.getElementById('reader-body').getBoundingClientRect();
          const at = range.getBoundingClientRect().top;
          return top < at && at < bottom - 20;
        }"""
    )


def test_the_words_of_the_question_are_found_at_once(page: Page) -> None:
    ask(page, "Is the tide of a FAIRWAY fast?")
    latest(page).get_by_role("button", name="Open in document").first.click()
    page.locator("#reader").get_by_role("button", name="Find", exact=True).click()
    page.get_by_role("button", name="Words of the question").click()
    expect(page.locator("#reader .find output")).to_have_text(re.compile(r"^\d+ of \d+$"))
    assert {word.lower() for word in highlighted(page, "reader-hits")} == {
        "tide",
        "fairway",
        "fast",
    }


def test_markdown_is_rendered_and_keeps_every_place(page: Page, read: Open) -> None:
    found = read("notes.harbour")
    text = page.locator("#reader .document-text")
    expect(text.get_by_role("heading", name="The 🐟 harbour")).to_be_visible()
    expect(text.locator("strong").first).to_have_text("levied on every vessel")
    expect(text.locator("strong em")).to_have_text("vessel")
    expect(text.locator("code").first).to_have_text("enters")
    link = text.get_by_role("link")
    expect(link).to_have_count(1)
    expect(link).to_have_attribute("href", "https://example.org/act")
    expect(text).to_contain_text("[here](javascript:alert(1))")
    expect(text).to_contain_text("snake_case_words, *not emphasised*.")
    table = text.get_by_role("table")
    expect(table.get_by_role("columnheader")).to_have_text(["Vessel", "Dues"])
    expect(table.get_by_role("cell")).to_have_text(["Lifeboat", "none", "Ferry", "12 pounds"])
    expect(text.locator("ul > li > ul > li")).to_have_text(["of the north", "of the south"])
    expect(text.locator("ol")).to_have_attribute("start", "3")
    expect(text.locator("blockquote")).to_have_text("The tide waits\nfor no one.")
    expect(text.locator("pre")).to_have_text("<b>kept</b> **as it is**")
    expect(text).to_contain_text("<script>alert(2)</script> is text.")
    assert text.locator("script, b").count() == 0
    page.get_by_role("button", name="As written").click()
    assert text.evaluate("node => node.textContent") == found["text"]
    assert found["text"].strip() == MARKDOWN.split("---\n", 2)[2].strip()


def test_what_is_cited_in_markdown_is_marked(page: Page, read: Open) -> None:
    read("notes.harbour", "every *vessel*** that `enters`, as [the act]")
    marks = page.locator("#reader mark")
    expect(marks).to_have_text(["every ", "vessel", " that ", "enters", ", as ", "the act"])
    page.get_by_role("button", name="As written").click()
    expect(marks).to_have_text("every *vessel*** that `enters`, as [the act]")
    find(page, "of the north")
    expect(page.locator("#reader .find output")).to_have_text("1 of 1")
    assert highlighted(page, "reader-hit") == ["of the north"]


def test_a_text_of_a_megabyte_stays_smooth(page: Page, read: Open) -> None:
    found = read("notes.log")
    assert len(found["text"]) > 1_000_000
    expect(page.locator("#reader p").nth(LONG_PARAGRAPHS - 1)).to_be_attached()
    frames = page.evaluate(SCROLLED)
    # 16 ms are a frame; a busy machine may drop some, but no frame is a standstill
    assert frames[len(frames) // 2] < 50
    assert frames[int(len(frames) * 0.95)] < 150
