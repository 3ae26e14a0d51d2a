"""The text of a document: pages, find, Markdown, and a long text."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.page.asking import ask, latest
from tests.page.conftest import Read
from tests.page.documents import LONG_PARAGRAPHS, MARKDOWN

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

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


def find(tab: Page, words: str) -> None:
    tab.locator("#reader").get_by_role("button", name="Find", exact=True).click()
    box = tab.get_by_role("searchbox", name="Find in the document")
    expect(box).to_be_focused()
    box.fill(words)


def highlighted(tab: Page, name: str) -> list[str]:
    texts: list[str] = tab.evaluate(
        """name => [...CSS.highlights.get(name)].map((each) => {
          const range = document.createRange();
          range.setStart(each.startContainer, each.startOffset);
          range.setEnd(each.endContainer, each.endOffset);
          return range.toString();
        })""",
        name,
    )
    return texts


def test_pages_are_named_where_there_are_some(tab: Page, read: Read) -> None:
    text = read("papers.kestrel-point", "The keeper of Kestrel Point lit")["text"]
    pane = tab.locator("#reader")
    expect(pane.locator(".in-view")).to_have_text("p. 2")
    labels = pane.locator(".page-start").evaluate_all("all => all.map(one => one.dataset.label)")
    assert labels == ["p. 1", "p. 2"]
    # a label is no part of the text
    assert pane.locator(".document-text").evaluate("node => node.textContent") == text


def test_find_counts_and_goes_from_hit_to_hit(tab: Page, read: Read) -> None:
    read("notes.log")
    find(tab, "  uberfahre CARRIED   naive facades ")
    count = tab.locator("#reader .find output")
    expect(count).to_have_text("1 of 2")
    assert highlighted(tab, "reader-hits") == ["Überfähre carried naïve façades"] * 2
    middle = tab.locator("#reader p", has_text=f"Entry {LONG_PARAGRAPHS // 2}.")
    expect(middle).to_be_in_viewport()
    tab.keyboard.press("Enter")
    expect(count).to_have_text("2 of 2")
    expect(tab.locator("#reader p", has_text=f"Entry {LONG_PARAGRAPHS - 1}.")).to_be_in_viewport()
    tab.keyboard.press("Enter")
    expect(count).to_have_text("1 of 2")
    tab.keyboard.press("Shift+Enter")
    expect(count).to_have_text("2 of 2")
    tab.get_by_role("button", name="Previous hit").click()
    expect(count).to_have_text("1 of 2")
    expect(middle).to_be_in_viewport()
    box = tab.get_by_role("searchbox", name="Find in the document")
    box.fill("dragon")
    expect(count).to_have_text("Not found")
    box.fill("lamp")
    expect(count).to_contain_text("15,000")
    box.press("Escape")  # closes find, and not the document
    expect(box).to_be_hidden()
    expect(tab.locator("#reader")).to_be_visible()


def test_a_hit_far_down_in_a_paragraph_is_in_view(tab: Page, read: Read) -> None:
    tab.set_viewport_size({"width": 360, "height": 740})
    read("debates.pilots")
    find(tab, "so ends speech 2")
    expect(tab.locator("#reader .find output")).to_have_text("1 of 1")
    tab.wait_for_function(
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


def test_the_words_of_the_question_are_found_at_once(tab: Page, reading: str) -> None:
    tab.goto(reading)
    ask(tab, "Is the tide of a FAIRWAY fast?")
    latest(tab).get_by_role("button", name="Open in document").first.click()
    tab.locator("#reader").get_by_role("button", name="Find", exact=True).click()
    tab.get_by_role("button", name="Words of the question").click()
    expect(tab.locator("#reader .find output")).to_have_text(re.compile(r"^\d+ of \d+$"))
    assert {word.lower() for word in highlighted(tab, "reader-hits")} == {
        "tide",
        "fairway",
        "fast",
    }


def test_markdown_is_rendered_and_keeps_every_place(tab: Page, read: Read) -> None:
    source = read("notes.harbour")["text"]
    text = tab.locator("#reader .document-text")
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
    tab.get_by_role("button", name="As written").click()
    assert text.evaluate("node => node.textContent") == source
    assert source.strip() == MARKDOWN.split("---\n", 2)[2].strip()


def test_what_is_cited_in_markdown_is_marked(tab: Page, read: Read) -> None:
    read("notes.harbour", "every *vessel*** that `enters`, as [the act]")
    marks = tab.locator("#reader mark")
    expect(marks).to_have_text(["every ", "vessel", " that ", "enters", ", as ", "the act"])
    tab.get_by_role("button", name="As written").click()
    expect(marks).to_have_text("every *vessel*** that `enters`, as [the act]")
    find(tab, "of the north")
    expect(tab.locator("#reader .find output")).to_have_text("1 of 1")
    assert highlighted(tab, "reader-hit") == ["of the north"]


def test_a_text_of_a_megabyte_stays_smooth(tab: Page, read: Read) -> None:
    text = read("notes.log")["text"]
    assert len(text) > 1_000_000
    expect(tab.locator("#reader p").nth(LONG_PARAGRAPHS - 1)).to_be_attached()
    frames = tab.evaluate(SCROLLED)
    # 16 ms are a frame; a busy machine may drop some, but no frame is a standstill
    assert frames[len(frames) // 2] < 50
    assert frames[int(len(frames) * 0.95)] < 150
