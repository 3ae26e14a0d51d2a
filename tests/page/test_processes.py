"""The page of `atlas serve`, a process of its own: traced to a real Phoenix, and killed and started
again while the page is open."""

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Page, expect

from atlas_search.building.flow import BuildReport
from tests.conftest import free_port
from tests.page.asking import FOLLOW_UP, QUESTION, ask, begin, finished, latest, open_citation
from tests.page.conftest import open_page
from tests.page.rating import ask_for_id, expect_saved, saved_rating
from tests.page.watching import expect_faults
from tests.servers import ATLAS, Server, answers, running, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.thorough]


@contextmanager
def serving(folder: Path, stores: Path, collection: str, **settings: str) -> Iterator[Server]:
    environment = {
        "CHROMA_PERSIST_DIRECTORY": str(stores),
        "CHROMA_COLLECTION_NAME": collection,
        **settings,
    }
    with running(*ATLAS, "serve", environment=environment, folder=folder) as process:
        wait_for(lambda: answers(f"{process.address('Atlas')}/api/live"), 60, "the server")
        yield process


@pytest.mark.phoenix
def test_a_question_and_a_vote_reach_phoenix(
    tab: Page, stores: Path, demo: BuildReport, phoenix: str, tmp_path: Path
) -> None:
    settings = {"ATLAS_PORT": "0", "PHOENIX_COLLECTOR_ENDPOINT": phoenix}
    with serving(tmp_path, stores, demo.manifest.collection, **settings) as process:
        address = process.address("Atlas")
        qa_id = ask_for_id(open_page(tab, address))
        trace = latest(tab).locator("a.trace").get_attribute("href") or ""
        assert trace.startswith(f"{phoenix}/redirects/traces/")
        assert httpx2.get(trace, follow_redirects=True).is_success
        latest(tab).get_by_role("button", name="Helpful", exact=True).click()
        expect_saved(tab)
        wait_for(lambda: saved_rating(tab, address, qa_id)["sent"] or None, 60, "the vote")


def test_a_question_is_answered_by_the_server_that_was_killed_and_started_again(
    tab: Page, stores: Path, demo: BuildReport, tmp_path: Path
) -> None:
    question = "Is the death penalty allowed?"
    name, port = demo.manifest.collection, str(free_port())
    with ExitStack() as first:
        process = first.enter_context(serving(tmp_path, stores, name, ATLAS_PORT=port))
        tab.goto(process.address("Atlas"))
        ask(tab)
        tab.fill("textarea#question", question)
        process.stop(signal.SIGKILL)
        expect_faults(tab, "ERR_CONNECTION_REFUSED")
        tab.get_by_role("button", name="Ask", exact=True).click()
        alert = latest(tab).get_by_role("alert")
        expect(alert).to_contain_text("The server does not answer.", timeout=30_000)
        expect(tab.locator("textarea#question")).to_have_value(question)
        # the answer of before can still be read
        expect(tab.locator("article.answer").nth(1).locator("h2")).to_have_text(QUESTION)
        with serving(tmp_path, stores, name, ATLAS_PORT=port):
            latest(tab).get_by_role("button", name="Ask again").click()
            expect(finished(tab).locator("h2")).to_have_text(question)
            open_citation(tab)
            tab.keyboard.press("Escape")
            begin(tab, FOLLOW_UP)
            tab.reload()
            expect(tab.locator("article.answer").last.locator("h2")).to_have_text(QUESTION)
