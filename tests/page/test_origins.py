"""Pages of other origins can do nothing to a server that listens beside them."""

from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from atlas_search.atlas import Atlas
from atlas_search.services import Services
from tests.browser import chromium
from tests.page.asking import ask
from tests.page.conftest import FLAGS, open_page
from tests.servers import app_of, served

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

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


class Recorded(NamedTuple):
    """A server, and its responses: `GET /api/config 403`."""

    address: str
    responses: list[str]


@pytest.fixture(scope="module")
def whole(services: Services) -> Iterator[Recorded]:
    app = app_of(Atlas(services))
    responses: list[str] = []

    def record(environ: dict[str, Any], start: Any) -> Any:
        def begin(status: str, *rest: Any) -> Any:
            responses.append(f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']} {status[:3]}")
            return start(status, *rest)

        return app.wsgi_app(environ, begin)

    with served(record) as address:
        yield Recorded(address, responses)


@pytest.fixture
def recorded(whole: Recorded) -> Recorded:
    whole.responses.clear()
    return whole


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[int]:
    """The port of another site's server."""

    def another_site(_: dict[str, Any], start: Any) -> list[bytes]:
        start("200 OK", [("Content-Type", "text/html")])
        return [b"<!doctype html><title>Elsewhere</title><p>Another site"]

    with served(another_site) as address:
        yield urlsplit(address).port or 0


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
def test_a_page_of_another_port_or_site_is_refused(
    page: Page, recorded: Recorded, elsewhere: int, host: str
) -> None:
    page.goto(f"http://{host}:{elsewhere}/")
    for name, attempt in ATTEMPTS.items():
        recorded.responses.clear()
        options = page.evaluate(f"() => ({attempt})")
        assert page.evaluate(FETCH, [recorded.address, options]) == "", name
        assert [line[-4:] for line in recorded.responses] == [" 403"], name


def test_nothing_is_framed_or_embedded_but_a_link_leads_to_it(
    page: Page, recorded: Recorded, elsewhere: int
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
        recorded.address,
    )
    assert recorded.responses == ["GET /api/config 403"] * 3
    page.evaluate(
        """(address) => {
            const link = document.createElement("a");
            link.href = `${address}/api/config`;
            link.textContent = "What runs";
            document.body.append(link);
        }""",
        recorded.address,
    )
    with page.expect_navigation() as led:
        page.get_by_role("link", name="What runs").click()
    assert led.value.status == 200


def test_a_name_turned_to_this_machine_opens_nothing(page: Page, recorded: Recorded) -> None:
    rebound = recorded.address.replace("127.0.0.1", "evil.test")
    opened = page.goto(rebound)
    assert opened is not None
    assert opened.status == 421
    read = page.evaluate(FETCH, [rebound, {"path": "/api/config"}])
    assert "embedding_model" not in read
    assert all(line.endswith(" 421") for line in recorded.responses)


def test_the_own_page_still_asks(page: Page, recorded: Recorded) -> None:
    expect(ask(open_page(page, recorded.address))).to_contain_text("cannot sue for libel")
    assert [line for line in recorded.responses if int(line[-3:]) >= 400] == []
