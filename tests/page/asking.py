"""Asking in the page."""

import httpx2
from playwright.sync_api import Locator, Page, expect

QUESTION = "Can a local authority sue a newspaper for libel?"


def ask(page: Page, question: str = QUESTION) -> None:
    begin(page, question)
    expect(latest(page)).to_have_attribute("data-state", "done", timeout=60_000)


def begin(page: Page, question: str = QUESTION) -> None:
    page.fill("textarea#question", question)
    page.click("button#ask")


def settled(page: Page) -> None:
    """Wait until the browser keeps the last answer, after which its question leaves the box."""
    expect(page.locator("textarea#question")).to_have_value("")


def unfold(page: Page) -> None:
    """Open all that unfolds in the last answer, and wait for what is loaded then."""
    answer = latest(page)
    answer.locator("details").evaluate_all("all => all.forEach((each) => { each.open = true; })")
    expect(answer.get_by_text("Loading …")).to_have_count(0)
    expect(answer.locator(".all-candidates .candidates li").first).to_be_visible()
    why = answer.locator(".sources .why")
    expect(why.locator("dl")).to_have_count(why.count())


def latest(page: Page) -> Locator:
    return page.locator("article.answer").first


def best_passage(server: str, question: str = QUESTION, corpus: str = "all") -> dict:
    """The first passage found."""
    body = {"question": question, "corpus_filter": corpus}
    found = httpx2.post(f"{server}/api/search", json=body, timeout=60)
    return found.json()["passages"][0]
