"""The parts of the page at addresses with their version: a reload asks for none of them again."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from atlas_search.server.app import create_app
from tests.access.two_corpora import two_corpora
from tests.hash_embedder import HashEmbedder
from tests.page.rating import opened
from tests.page.words import open_words
from tests.servers import served

Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
PREFIX = "/archive/atlas"


def _below(prefix: str, app: Wsgi, asked: list[str]) -> Wsgi:
    """The application as a proxy offers it below a path, which it takes away; what it is asked."""

    def wsgi(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        assert path.startswith(f"{prefix}/"), path
        asked.append(path.removeprefix(prefix))
        return app(environ | {"PATH_INFO": path.removeprefix(prefix)}, start)

    return wsgi


@pytest.fixture
def asked() -> list[str]:
    """The paths that the server was asked for."""
    return []


@pytest.fixture
def address(tmp_path: Path, asked: list[str]) -> Iterator[str]:
    """A server below a path of its proxy; the address of its page."""
    state = {"atlas_state_directory": tmp_path / "state"}
    with two_corpora(tmp_path / "parish", HashEmbedder(), **state) as atlas:
        app = _below(PREFIX, create_app(lambda: atlas), asked)
        with served(app, threads=16) as found:
            yield f"{found}{PREFIX}/"


def test_the_page_loads_one_script_one_sheet_and_its_language(
    browser: Browser, address: str, asked: list[str]
) -> None:
    with opened(browser, address) as page:
        page.wait_for_load_state("networkidle")
    parts = sorted(path.split("/", 3)[3] for path in asked if path.startswith("/static/v-"))
    assert parts == ["app.js", "favicon.svg", "index.css", "strings/en.js"]


def test_a_reload_asks_for_the_page_and_for_what_the_server_knows(
    browser: Browser, address: str, asked: list[str]
) -> None:
    with opened(browser, address) as page:
        page.wait_for_load_state("networkidle")
        first = list(asked)
        parts = [path for path in first if path.startswith("/static/")]
        assert len(parts) >= 3
        assert all(path.startswith("/static/v-") for path in parts)
        assert len(parts) == len(set(parts))
        asked.clear()
        page.reload()
        expect(page.locator("select#collection option")).to_have_count(3)
        page.wait_for_load_state("networkidle")
        assert [path for path in asked if not path.startswith("/api/")] == ["/"]
        assert len(asked) < 10, asked
        print(f"first visit: {len(first)} requests, reload: {len(asked)}")


def test_a_view_that_is_loaded_late_is_of_the_version_of_the_page(
    browser: Browser, address: str, asked: list[str]
) -> None:
    with opened(browser, address) as page:
        page.wait_for_load_state("networkidle")
        asked.clear()
        open_words(page)
        late = {path.split("/", 3)[3] for path in asked if path.startswith("/static/v-")}
        assert late == {"words/view.js", "words/words.css", "charts/charts.css"}
        assert not any(path.startswith("/static/words") for path in asked)
