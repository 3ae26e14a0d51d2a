"""The watch over pages: each planted fault is seen, and one that is expected has to come."""

import pytest
from playwright.sync_api import Browser

from tests.page.watching import expect_faults, seen_faults, watched
from tests.servers import wait_for

pytestmark = [pytest.mark.browser, pytest.mark.thorough]
WRONG = {
    "console: planted": "console.error('planted')",
    "script: .*planted": "setTimeout(() => { throw new Error('planted'); })",
    "policy: img-src": "document.body.append(Object.assign(new Image(), {src: 'http://a.example/'}))",
    "lost: .*api/live": "fetch('api/live').catch(() => {})",
    "answered: 500 .*api/health": "fetch('api/health')",
    "answered: 404 .*static/none.js": "fetch('static/none.js')",
    "did not come: nothing": "console.error('planted')",
}


def go_wrong(browser: Browser, server: str, pattern: str) -> None:
    with watched(browser) as context:
        page = context.new_page()
        page.goto(server)
        page.wait_for_load_state("networkidle")
        page.route("**/api/live", lambda route: route.abort())
        page.route("**/api/health", lambda route: route.fulfill(status=500, json={}))
        page.evaluate(f"() => {{ {WRONG[pattern]}; }}")
        if pattern.startswith("did not come"):
            expect_faults(page, "nothing", "planted")
        # a busy machine tells of it late; a fault that is not told at all fails the test
        wait_for(lambda: seen_faults(page) or None, 20, "a fault")


@pytest.mark.parametrize("pattern", WRONG)
def test_a_planted_fault_is_seen(browser: Browser, server: str, pattern: str) -> None:
    with pytest.raises(AssertionError, match=pattern):
        go_wrong(browser, server, pattern)
