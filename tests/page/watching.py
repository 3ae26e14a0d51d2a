"""A browser whose pages may do nothing wrong but what their test expects."""

import re
import socket
from collections.abc import Iterator, Mapping
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
    """What pages did wrong so far, and patterns of what a test expects of them."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.expected: list[str] = []

    def listen(self, message: ConsoleMessage) -> None:
        # the browser itself reports what `look` and `lose` hear of
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            self.found.append(f"console: {message.text} {message.location['url']}")

    def fail(self, error: WebError) -> None:
        self.found.append(f"script: {error.error}")

    def lose(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # that the page itself gave up
            self.found.append(f"lost: {request.failure} {request.url}")

    def look(self, response: Response) -> None:
        # tests ask the API on purpose for what it refuses
        if response.status >= (500 if "/api/" in response.url else 400):
            self.found.append(f"answered: {response.status} {response.url}")

    def check(self) -> None:
        """Raise AssertionError with what no pattern expects, and with patterns of nothing.

        A server that the test has ended meanwhile loses what was on its way.
        """
        unexpected = [
            fault
            for fault in self.found
            if not any(re.search(pattern, fault) for pattern in self.expected)
            and not (fault.startswith("lost: ") and _is_gone(fault.split()[-1]))
        ]
        absent = [
            pattern
            for pattern in self.expected
            if not any(re.search(pattern, fault) for fault in self.found)
        ]
        said = [*unexpected, *(f"did not come: {pattern}" for pattern in absent)]
        assert said == [], "\n".join(said)


def _is_gone(address: str) -> bool:
    server = urlsplit(address)
    try:
        socket.create_connection((server.hostname, server.port), timeout=5).close()
    except OSError:
        return True
    return False


_FAULTS: WeakKeyDictionary[BrowserContext, Faults] = WeakKeyDictionary()
_FREE: WeakKeyDictionary[Browser, dict[str, list["Profile"]]] = WeakKeyDictionary()


class Profile:
    """A browser context that one test uses after another, for a new one takes half a second.

    A first tab stays open, whose session of commands empties the context.
    """

    def __init__(self, browser: Browser, options: Mapping[str, Any]):
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(ACTION_MILLISECONDS)
        self.context.add_init_script(VIOLATIONS)
        self.context.add_init_script(PART)
        first = self.context.new_page()
        self._kept = [first]
        self._commands = self.context.new_cdp_session(first)
        self._origins: set[str] = set()
        self.context.on("console", lambda message: self.faults.listen(message))
        self.context.on("weberror", lambda error: self.faults.fail(error))
        self.context.on("requestfailed", lambda request: self.faults.lose(request))
        self.context.on("response", self._look)
        self.watch()

    def _look(self, response: Response) -> None:
        self._origins.add(_origin(response.url))
        self.faults.look(response)

    def watch(self) -> None:
        """Begin to note what its pages do wrong."""
        self.faults = _FAULTS[self.context] = Faults()

    def empty(self) -> None:
        """Close its tabs, and forget what they kept and what they were allowed."""
        for page in self.context.pages:
            if page not in self._kept:
                page.close()
        self.context.unroute_all()
        self.context.set_offline(False)
        self.context.clear_permissions()
        self.context.clear_cookies()
        for origin in self._origins:
            everything = {"origin": origin, "storageTypes": "all"}
            self._commands.send("Storage.clearDataForOrigin", everything)
        self._origins.clear()


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


@contextmanager
def watched(browser: Browser, **options: object) -> Iterator[BrowserContext]:
    """A browser that knows nothing yet. An error in the console or a script, a violation of the
    policy, a lost request or an answer of 500 and more fails the test, unless it is expected.

    Scripts that begin with a page are added to the page: a context keeps them for good.
    """
    free = _FREE.setdefault(browser, {}).setdefault(repr(sorted(options.items())), [])
    profile = free.pop() if free else Profile(browser, options)
    profile.watch()
    try:
        yield profile.context
    except BaseException:
        profile.context.close()
        raise
    profile.empty()
    free.append(profile)
    profile.faults.check()


def expect_faults(page: Page, *patterns: str) -> None:
    """Have faults that one of the patterns is found in fail nothing; each has to come."""
    _FAULTS[page.context].expected.extend(patterns)


def seen(page: Page) -> list[str]:
    """What pages of this browser did wrong so far."""
    page.evaluate("() => new Promise(requestAnimationFrame)")  # hears what has come meanwhile
    return list(_FAULTS[page.context].found)
