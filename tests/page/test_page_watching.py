"""What a page does wrong is seen by those who watch it."""

import pytest
from playwright.sync_api import Browser

from tests.page.watching import expect_faults, seen, watched
from tests.servers import wait_for

pytestmark = pytest.mark.browser
WRONG = {
    "console: planted": "console.error('planted')",
    "script: .*planted": "setTimeout(() => { throw new Error('planted'); })",
    "policy: img-src": "document.body.append(Object.assign(new Image(), {src: 'http://a.example/'}))",
    "lost: .*api/live": "fetch('api/live').catch(() => {})",
    "answered: 500 .*api/health": "fetch('api/health')",
    "answered: 404 .*static/none.js": "fetch('static/none.js')",
}


def go_wrong(browser: Browser, server: str, script: str) -> None:
    with watched(browser) as context:
        page = context.new_page()
        page.goto(server)
        page.wait_for_load_state("networkidle")
        page.route("**/api/live", lambda route: route.abort())
        page.route("**/api/health", lambda route: route.fulfill(status=500, json={}))
        page.evaluate(f"() => {{ {script}; }}")
        # a busy machine tells of it late; what is not told at all fails the test
        wait_for(lambda: seen(page) or None, 20, "a fault")


@pytest.mark.parametrize("pattern", WRONG)
def test_a_planted_fault_is_seen(browser: Browser, server: str, pattern: str) -> None:
    with pytest.raises(AssertionError, match=pattern):
        go_wrong(browser, server, WRONG[pattern])


def expect_nothing(browser: Browser, server: str) -> None:
    with watched(browser) as context:
        page = context.new_page()
        page.goto(server)
        expect_faults(page, "nothing")


def test_a_fault_that_is_expected_has_to_come(browser: Browser, server: str) -> None:
    with pytest.raises(AssertionError, match="did not come: nothing"):
        expect_nothing(browser, server)
