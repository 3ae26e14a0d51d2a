"""A browser whose pages may do nothing wrong but what their test expects."""

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Response,
    WebError,
)

ACTION_MILLISECONDS = 60_000
EXPECT_MILLISECONDS = 20_000
"""Longer than any page takes on a busy machine: whoever waits so long waits for ever."""

VIOLATIONS = """addEventListener('securitypolicyviolation', (event) => {
  console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
});"""

PART = """globalThis.part = async (name) => {
  if (globalThis.modules?.[name]) return globalThis.modules[name];
  const { src } = document.querySelector('script[type=module]');
  return import(/^.*?\\/static\\/(v-\\w+\\/)?/.exec(src)[0] + name);
};"""
"""`part('ask/scope.js')` is that module of the page, and not another copy of it."""


class Faults:
    """All that pages did wrong so far, and patterns of the faults that a test expects."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self.expected: list[str] = []

    def listen(self, message: ConsoleMessage) -> None:
        # the browser itself reports all that `look` and `lose` hear of
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            self.all.append(f"console: {message.text} {message.location['url']}")

    def fail(self, error: WebError) -> None:
        self.all.append(f"script: {error.error}")

    def lose(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # that the page itself gave up
            self.all.append(f"lost: {request.failure} {request.url}")

    def look(self, response: Response) -> None:
        # tests ask the API on purpose for what it refuses
        if response.status >= (500 if "/api/" in response.url else 400):
            self.all.append(f"answered: {response.status} {response.url}")

    def check(self) -> None:
        """Raise AssertionError with what no pattern expects, and with patterns of nothing.

        A server that the test has ended meanwhile loses what was on its way.
        """
        unexpected = [
            fault
            for fault in self.all
            if not any(re.search(pattern, fault) for pattern in self.expected)
            and not (fault.startswith("lost: ") and _is_gone(fault.split()[-1]))
        ]
        absent = [
            pattern
            for pattern in self.expected
            if not any(re.search(pattern, fault) for fault in self.all)
        ]
        wrong = [*unexpected, *(f"did not come: {pattern}" for pattern in absent)]
        assert wrong == [], "\n".join(wrong)


def _is_gone(address: str) -> bool:
    server = urlsplit(address)
    try:
        socket.create_connection((server.hostname, server.port), timeout=5).close()
    except OSError:
        return True
    return False


_FAULTS: WeakKeyDictionary[BrowserContext, Faults] = WeakKeyDictionary()


@contextmanager
def watched(browser: Browser, **options: Any) -> Iterator[BrowserContext]:
    """A browser that knows nothing yet. An error in the console or a script, a violation of the
    policy, a lost request or an answer of 500 and more fails the test, unless it is expected."""
    context = browser.new_context(**options)
    context.set_default_timeout(ACTION_MILLISECONDS)
    context.add_init_script(VIOLATIONS)
    context.add_init_script(PART)
    faults = _FAULTS[context] = Faults()
    context.on("console", faults.listen)
    context.on("weberror", faults.fail)
    context.on("requestfailed", faults.lose)
    context.on("response", faults.look)
    try:
        yield context
    finally:
        context.close()
    faults.check()


def expect_faults(page: Page, *patterns: str) -> None:
    """Have faults that one of the patterns is found in fail nothing; each has to come."""
    _FAULTS[page.context].expected.extend(patterns)


def seen_faults(page: Page) -> list[str]:
    """All that pages of this browser did wrong so far."""
    page.evaluate(
        "() => new Promise(requestAnimationFrame)"
    )  # hears of all that has come meanwhile
    return list(_FAULTS[page.context].all)
