"""A server that is killed and started again while the page is open."""

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from atlas_search.building.flow import BuildReport
from tests.conftest import free_port
from tests.page.asking import QUESTION, ask, begin, latest
from tests.page.watching import expect_faults, watched
from tests.servers import ATLAS, Server, answers, running, wait_for

pytestmark = pytest.mark.browser
TYPED = "Is the death penalty allowed?"


@contextmanager
def serving(folder: Path, stores: Path, collection: str, port: int) -> Iterator[Server]:
    """A real server at this port, and its sources."""
    environment = {
        "CHROMA_PERSIST_DIRECTORY": str(stores),
        "CHROMA_COLLECTION_NAME": collection,
        "ATLAS_PORT": str(port),
    }
    with running(*ATLAS, "serve", environment=environment, folder=folder) as server:
        wait_for(lambda: answers(f"{server.address('Atlas')}/api/live"), 60, "the server")
        yield server


def test_the_question_stays_and_is_answered_by_the_server_that_is_started_again(
    browser: Browser, stores: Path, demo: BuildReport, tmp_path: Path
) -> None:
    port, name = free_port(), demo.manifest.collection
    with ExitStack() as first, watched(browser) as context:
        server = first.enter_context(serving(tmp_path, stores, name, port))
        page = context.new_page()
        page.goto(server.address("Atlas"))
        ask(page)
        page.fill("textarea#question", TYPED)
        server.stop(signal.SIGKILL)
        expect_faults(page, "ERR_CONNECTION_REFUSED")
        page.get_by_role("button", name="Ask", exact=True).click()
        alert = latest(page).get_by_role("alert")
        expect(alert).to_contain_text("The server does not answer.", timeout=30_000)
        expect(page.locator("textarea#question")).to_have_value(TYPED)
        # what is on the page can still be read
        expect(page.locator("article.answer").nth(1).locator("h2")).to_have_text(QUESTION)
        with serving(tmp_path, stores, name, port):
            latest(page).get_by_role("button", name="Ask again").click()
            expect(latest(page)).to_have_attribute("data-state", "done", timeout=60_000)
            expect(latest(page).locator("h2")).to_have_text(TYPED)
            latest(page).locator("button.citation").first.click()
            expect(page.locator("#reader mark").first).to_be_visible()
            page.keyboard.press("Escape")
            begin(page, "And in New Zealand?")
            page.reload()
            expect(page.locator("article.answer").last.locator("h2")).to_have_text(QUESTION)
