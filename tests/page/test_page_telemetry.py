"""The page of a reader who wants no telemetry: no trace, and no link to one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.orchard import QUESTION, Orchard, build_orchard, orchard
from tests.page.watching import watched
from tests.servers import served, wait_for

pytestmark = pytest.mark.browser


@pytest.fixture
def found(tmp_path: Path) -> Iterator[Orchard]:
    build_orchard(tmp_path)
    # traces go nowhere: the page only needs an address of Phoenix
    with orchard(tmp_path, phoenix_collector_endpoint="http://127.0.0.1:9") as opened:
        yield opened


def ask(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_label("Question").fill(QUESTION)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("#answers article").first).to_contain_text("How it was found")


def names(found: Orchard) -> list[str]:
    return [span.name for span in found.spans()]


@pytest.mark.parametrize("wish", ["", "1"])
def test_global_privacy_control_leaves_no_trace_and_no_link(
    browser: Browser, found: Orchard, wish: str
) -> None:
    headers = {"Sec-GPC": wish} if wish else {}
    with (
        served(found.client.application) as address,
        watched(browser, extra_http_headers=headers) as context,
    ):
        page = context.new_page()
        ask(page, address)
        expect(page.locator("a.trace")).to_have_count(0 if wish else 1)
        if not wish:  # a trace ends after its answer is there
            wait_for(lambda: "ask" in names(found) or None, 20, "the trace")
    assert ("ask" in names(found)) is not bool(wish)


def test_a_trace_that_cannot_be_shown_yet_is_told(browser: Browser, found: Orchard) -> None:
    with served(found.client.application) as address, watched(browser) as context:
        page = context.new_page()
        ask(page, address)
        with context.expect_page():  # which the browser leaves empty
            page.locator("a.trace").click()
        expect(page.locator(".away")).to_contain_text("http://127.0.0.1:9 does not answer")
