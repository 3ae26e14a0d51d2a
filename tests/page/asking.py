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


def latest(page: Page) -> Locator:
    return page.locator("article.answer").first


def best_passage(server: str, question: str = QUESTION, corpus: str = "all") -> dict:
    """The first passage found."""
    body = {"question": question, "corpus_filter": corpus}
    found = httpx2.post(f"{server}/api/search", json=body, timeout=60)
    return found.json()["passages"][0]
