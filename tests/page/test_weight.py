"""How much the page asks for, and of whom; and its parts at addresses with their version."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Response, expect

from atlas_search.atlas import Atlas
from tests.page.conftest import open_page
from tests.page.watching import watched
from tests.page.words import open_words
from tests.servers import app_of, served

pytestmark = pytest.mark.browser
MOST_REQUESTS = 12
MOST_BYTES = 100_000  # on the wire: headers, and bodies as they are sent
PREFIX = "/archive/atlas"
Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def test_the_first_view_is_light_and_all_of_it_is_the_servers_own(
    browser: Browser, server: str
) -> None:
    responses: list[Response] = []
    sizes: list[float] = []
    # no other test has these options: this browser has nothing in its cache
    with watched(browser, viewport={"width": 1279, "height": 720}) as context:
        page = context.new_page()
        page.on("response", lambda response: responses.append(response))
        network = context.new_cdp_session(page)
        network.on("Network.loadingFinished", lambda end: sizes.append(end["encodedDataLength"]))
        network.send("Network.enable")
        page.goto(server)
        expect(page.locator("select#target option").first).to_be_attached()
        page.wait_for_load_state("networkidle")
        assert all(response.url.startswith(server) for response in responses)
    paths = [response.url.removeprefix(server) for response in responses]
    print(f"first view: {len(sizes)} requests, {sum(sizes):,.0f} bytes: {paths}")
    assert all(size > 0 for size in sizes)
    assert sum("/api/" in path for path in paths) >= 4
    assert 8 <= len(sizes) <= MOST_REQUESTS
    assert sum(sizes) < MOST_BYTES
    parts = sorted(path.split("/", 3)[3] for path in paths if path.startswith("/static/v-"))
    assert parts == ["app.js", "favicon.svg", "index.css", "strings/en.js"]


@pytest.fixture
def paths() -> list[str]:
    """The paths that the server was asked for."""
    return []


@pytest.fixture
def below(parish: Atlas, paths: list[str]) -> Iterator[str]:
    """A server as a proxy offers it below a path, which it takes away; the address of its page."""
    app: Wsgi = app_of(parish)

    def proxy(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        assert path.startswith(f"{PREFIX}/"), path
        paths.append(path.removeprefix(PREFIX))
        return app(environ | {"PATH_INFO": path.removeprefix(PREFIX)}, start)

    with served(proxy, threads=16) as address:
        yield f"{address}{PREFIX}/"


@pytest.mark.thorough
def test_a_reload_asks_for_the_page_and_for_what_the_server_knows_and_late_parts_are_its_own(
    tab: Page, below: str, paths: list[str]
) -> None:
    open_page(tab, below, choices=3)
    tab.wait_for_load_state("networkidle")
    parts = [path for path in paths if path.startswith("/static/")]
    assert len(parts) >= 3
    assert all(path.startswith("/static/v-") for path in parts)
    assert len(parts) == len(set(parts))
    paths.clear()
    open_page(tab, below, choices=3)
    tab.wait_for_load_state("networkidle")
    assert [path for path in paths if not path.startswith("/api/")] == ["/"]
    assert len(paths) < 10, paths
    paths.clear()
    open_words(tab)
    late = {path.split("/", 3)[3] for path in paths if path.startswith("/static/v-")}
    assert late == {"words/view.js", "words/words.css", "charts/charts.css"}
    assert not any(path.startswith("/static/words") for path in paths)
