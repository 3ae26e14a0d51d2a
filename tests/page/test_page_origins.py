"""What pages of other origins can do to a server that listens beside them: nothing."""

import http.server
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, Page, expect

from atlas_search.atlas import Atlas
from atlas_search.server.app import create_app
from atlas_search.services import Services
from tests.browser import chromium
from tests.page.asking import ask, latest
from tests.page.conftest import FLAGS
from tests.servers import served

pytestmark = pytest.mark.browser

# `evil.test` is a site of its own, which owns its name and turns it to this machine
REBOUND = "--host-resolver-rules=MAP evil.test 127.0.0.1"

# requests that need no preflight, and those that do
ATTEMPTS = {
    "ask with a plain text": """{method: "POST", path: "/api/ask", mode: "no-cors",
        body: '{"question": "Can a local authority sue for libel?"}'}""",
    "ask with JSON": """{method: "POST", path: "/api/ask", mode: "cors",
        headers: {"Content-Type": "application/json"},
        body: '{"question": "Can a local authority sue for libel?"}'}""",
    "read": '{method: "GET", path: "/api/config", mode: "cors"}',
    "read unseen": '{method: "GET", path: "/api/config", mode: "no-cors"}',
    "read with a header": """{method: "GET", path: "/api/config", mode: "cors",
        headers: {"Last-Event-ID": "1"}}""",
    "clear": '{method: "POST", path: "/api/cache/clear", mode: "no-cors"}',
    "stop": '{method: "DELETE", path: "/api/ask/some", mode: "cors"}',
}
FETCH = """async ([server, {path, ...options}]) => {
    try {
        const response = await fetch(server + path, options);
        return response.type === "opaque" ? "" : await response.text();
    } catch (error) { return ""; }
}"""


class Watched(NamedTuple):
    """A server, and what it answered: `GET /api/config 403`."""

    address: str
    answered: list[str]


@pytest.fixture
def watched(services: Services) -> Iterator[Watched]:
    app = create_app(lambda: Atlas(services))
    answered: list[str] = []

    def watch(environ: dict[str, Any], start: Any) -> Any:
        def began(status: str, *rest: Any) -> Any:
            line = f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']} {status[:3]}"
            answered.append(line)
            return start(status, *rest)

        return app.wsgi_app(environ, began)

    with served(watch) as address:
        yield Watched(address, answered)


class _Elsewhere(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Elsewhere</title><p>Another site")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def elsewhere() -> Iterator[int]:
    """The port of another site's server."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Elsewhere) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def deceived(browser: Browser) -> Iterator[Browser]:
    """A browser for which `evil.test` is this machine."""
    opened = browser.browser_type.launch(executable_path=chromium(), args=[*FLAGS, REBOUND])
    yield opened
    opened.close()


@pytest.fixture
def page(deceived: Browser) -> Iterator[Page]:
    opened = deceived.new_page()
    yield opened
    opened.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "evil.test"])
@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_page_of_another_port_or_site_is_refused(
    page: Page, watched: Watched, elsewhere: int, host: str, attempt: str
) -> None:
    page.goto(f"http://{host}:{elsewhere}/")
    options = page.evaluate(f"() => ({ATTEMPTS[attempt]})")
    read = page.evaluate(FETCH, [watched.address, options])
    assert read == ""
    assert len(watched.answered) == 1
    assert watched.answered[0].endswith(" 403")


def test_nothing_is_framed_or_embedded_but_a_link_leads_to_it(
    page: Page, watched: Watched, elsewhere: int
) -> None:
    page.goto(f"http://127.0.0.1:{elsewhere}/")
    page.evaluate(
        """(address) => Promise.all(["iframe", "img", "script"].map((kind) => {
            const part = document.createElement(kind);
            part.src = `${address}/api/config?${kind}`;
            const tried = new Promise((done) => { part.onload = part.onerror = done; });
            document.body.append(part);
            return tried;
        }))""",
        watched.address,
    )
    assert watched.answered == ["GET /api/config 403"] * 3
    page.evaluate(
        """(address) => {
            const link = document.createElement("a");
            link.href = `${address}/api/config`;
            link.textContent = "What runs";
            document.body.append(link);
        }""",
        watched.address,
    )
    with page.expect_navigation() as led:
        page.get_by_role("link", name="What runs").click()
    assert led.value.status == 200


def test_a_name_turned_to_this_machine_opens_nothing(page: Page, watched: Watched) -> None:
    rebound = watched.address.replace("127.0.0.1", "evil.test")
    opened = page.goto(rebound)
    assert opened is not None
    assert opened.status == 421
    read = page.evaluate(FETCH, [rebound, {"path": "/api/config"}])
    assert "embedding_model" not in read
    assert all(line.endswith(" 421") for line in watched.answered)


def test_the_own_page_still_asks(page: Page, watched: Watched) -> None:
    page.goto(watched.address)
    expect(page.locator("select#collection option")).to_have_count(5)
    ask(page)
    expect(latest(page)).to_contain_text("cannot sue for libel")
    refused = [line for line in watched.answered if int(line[-3:]) >= 400]
    assert refused == []
