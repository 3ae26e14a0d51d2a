"""Asking in the page."""

import re
from collections.abc import Callable
from typing import Any

import httpx2
from playwright.sync_api import Locator, Page, expect

QUESTION = "Can a local authority sue a newspaper for libel?"
FOLLOW_UP = "And in New Zealand?"
READ_AS = "Can a local authority sue a newspaper for libel in New Zealand?"
COMPARED = "Which grounds make marriage between two people of the same sex lawful?"
NO_ANSWER = "How do I bake sourdough bread at home?"
NOT_HELD = "What was decided in Shelby County v. Holder?"
STREAM = "**/api/ask/stream"
WIDE = "document.documentElement.scrollWidth - window.innerWidth"
"""Pixels that the page is too wide, if positive."""


def ask(page: Page, question: str = QUESTION, target: str = "") -> Locator:
    """Ask, of a target if one is named; the answer once it is there."""
    if target:
        choose_target(page, target)
    begin(page, question)
    return finished(page)


def begin(page: Page, question: str = QUESTION) -> None:
    page.fill("textarea#question", question)
    page.click("button#ask")


def finished(page: Page) -> Locator:
    """The last answer, once it is there."""
    expect(latest(page)).to_have_attribute("data-state", "done", timeout=60_000)
    return latest(page)


def latest(page: Page) -> Locator:
    return page.locator("article.answer").last


def settings(page: Page) -> Locator:
    """What unfolds below the collection and the years, unfolded."""
    box = page.locator("#settings")
    if box.is_hidden():
        page.click("#settings-open")
    return box


def choose_target(page: Page, name: str) -> None:
    settings(page).get_by_label("Target", exact=True).select_option(name)


def unfold_filters(page: Page) -> Locator:
    """The section of filters, with its counts."""
    section = settings(page).locator(".filters")
    section.locator("> summary").click()
    expect(section.locator(".facet").first).to_be_visible()
    return section


def settle(page: Page) -> None:
    """Wait until the browser keeps the last answer, after which its question leaves the box."""
    expect(page.locator("textarea#question")).to_have_value("")


def request_body(page: Page, act: Callable[[], object]) -> dict[str, Any]:
    """The body of the question that an act sends."""
    with page.expect_request(STREAM) as sent:
        act()
    body: dict[str, Any] = sent.value.post_data_json
    return body


def questions_before(body: dict[str, Any]) -> list[str]:
    """The questions of the conversation that goes with a question."""
    return [turn["content"] for turn in body["chat_history"][::2]]


def compare(page: Page) -> None:
    settings(page).get_by_label("Compare the corpora").check()


def narrow(page: Page, **scope: object) -> None:
    """Narrow the search, as other views do."""
    page.evaluate("scope => part('ask/scope.js').then(m => m.changeScope(scope))", scope)


def chips(page: Page) -> Locator:
    """The list of all that narrows the search."""
    return page.get_by_role("list", name="What narrows the search")


def open_citation(page: Page) -> Locator:
    """The marked words of the first citation, opened beside the answer."""
    latest(page).locator("button.citation").first.click()
    mark = page.locator("#reader mark").first
    expect(mark).to_be_in_viewport()
    return mark


def take_home(page: Page) -> Locator:
    """The menu of the last answer, unfolded: to copy, print and export it."""
    menu = latest(page).locator("details:has(> .take-home)")
    menu.locator("> summary").click()
    return menu


def show_passages(page: Page) -> Locator:
    """All passages of the last answer, also those behind the button."""
    sources = latest(page).locator(".sources")
    more = sources.get_by_role("button", name=re.compile(r"more passages?$"))
    if more.count():
        more.click()
    return sources.locator("li[data-passage]")


def open_view(page: Page, name: str) -> Locator:
    """The section of a view: Answers, Words, About or Kept."""
    page.get_by_role("navigation", name="Views").get_by_role("button", name=name).click()
    return page.get_by_role("region", name=name, exact=True)


def unfold(page: Page) -> None:
    """Open all that unfolds in the last answer, and wait for what is loaded then."""
    answer = latest(page)
    answer.locator("details").evaluate_all("all => all.forEach((each) => { each.open = true; })")
    expect(answer.get_by_text("Loading …")).to_have_count(0)
    expect(answer.locator(".all-candidates .candidates li").first).to_be_visible()
    why = answer.locator(".sources .why")
    expect(why.locator("dl")).to_have_count(why.count())


def clipboard(page: Page) -> str:
    copied: str = page.evaluate("navigator.clipboard.readText()")
    return copied


def best_passage(server: str, question: str = QUESTION, corpus: str = "all") -> dict[str, Any]:
    """The first passage found."""
    body = {"question": question, "corpus_filter": corpus}
    response = httpx2.post(f"{server}/api/search", json=body, timeout=60)
    passage: dict[str, Any] = response.json()["passages"][0]
    return passage
