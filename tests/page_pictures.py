"""`python -m tests.page_pictures` takes the pictures of the page in the documentation anew.

A real Chromium shows the bundled collection. It takes a minute, so that no test does;
tests/evaluation/test_docs.py holds the documentation to the files.
"""

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

from tests.browser import chromium
from tests.conftest import SAMPLES
from tests.page.asking import COMPARED, NOT_HELD, ask, compare, latest, open_citation, open_view
from tests.page.words import count
from tests.phoenix_pictures import COLORS, PICTURES
from tests.servers import ATLAS, running

DESK: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
SETTLED = 700  # milliseconds

Show = Callable[[Page], None]
"""Brings the opened page to what is to be seen."""


@contextmanager
def demo_server(folder: Path) -> Iterator[str]:
    """A server of the bundled collection, which knows where its PDFs lie; its address."""
    environment = {"CHROMA_PERSIST_DIRECTORY": str(folder / "stores"), "ATLAS_PORT": "0"}
    create = (*ATLAS, "create", "files", SAMPLES, "--collection", "atlas_demo")
    subprocess.run(create, env=os.environ | environment, cwd=folder, check=True)
    with running(*ATLAS, "serve", environment=environment, folder=folder) as server:
        yield server.address("Atlas")


def first(page: Page) -> None:
    """The page before a question."""
    expect(page.locator("#over-time li").first).to_be_visible()


def answer(page: Page) -> None:
    """An answer, and a citation opened beside it."""
    ask(page)
    open_citation(page)


def compared(page: Page) -> None:
    """An answer of each corpus for itself."""
    compare(page)
    ask(page, COMPARED)


def refused(page: Page) -> None:
    """A question that no passage answers."""
    ask(page, NOT_HELD)


def overruled(page: Page) -> None:
    """A source that another took the place of."""
    expect(ask(page, "Is separate but equal lawful?").locator(".succession")).to_be_visible()


def page_image(page: Page) -> None:
    """A cited place of a PDF, and the picture of its page."""
    ask(page, "What does the Constitutional Reform Act 2005 say of the rule of law?")
    open_citation(page)
    page.get_by_role("button", name="Page image", exact=True).click()
    expect(page.locator(".sheet .box").first).to_be_visible(timeout=30_000)


def collocates(page: Page) -> None:
    """The words beside a word."""
    count(page, "right*", "Collocates")


def add_sources(page: Page) -> None:
    """The panel that takes files."""
    page.get_by_role("button", name="Add sources").click()
    expect(page.get_by_role("dialog", name="Add sources")).to_be_visible()


def kept(page: Page) -> None:
    """A note on a passage, and the reading list."""
    ask(page)
    passage = latest(page).locator(".sources li[data-passage]").first
    passage.hover()
    menu = passage.locator(".keep-menu")
    menu.locator("summary").click()
    menu.get_by_role("button", name="Add to reading list").click()
    menu.get_by_role("button", name="Add a note").click()
    dialog = page.get_by_role("dialog", name="New note")
    dialog.get_by_label("Note", exact=True).fill(
        "The council may still sue for malicious falsehood?"
    )
    dialog.get_by_label("Tags").fill("libel, councils")
    dialog.get_by_role("button", name="Save").click()
    expect(open_view(page, "Kept").locator(".kept-list > li").first).to_be_visible()


def lines(page: Page) -> None:
    """A word in its lines."""
    count(page, "libel*")


def over_time(page: Page) -> None:
    """A word over time."""
    count(page, "right*", "Trends")
    page.get_by_label("Period", exact=True).select_option("decade")
    page.get_by_label("One line per corpus").check()
    expect(page.locator("#words .chart-legend li")).not_to_have_count(1)


def about(page: Page) -> None:
    """The collection."""
    expect(open_view(page, "About").locator("svg").first).to_be_visible()


VIEWS: Mapping[str, tuple[Show, ViewportSize, bool]] = {
    "page-first": (first, DESK, False),
    "page": (answer, DESK, False),
    "page-dark": (answer, DESK, True),
    "page-refused": (refused, DESK, False),
    "page-compared": (compared, DESK, False),
    "page-overruled": (overruled, DESK, False),
    "page-image": (page_image, DESK, False),
    "page-words": (lines, DESK, False),
    "page-over-time": (over_time, DESK, False),
    "page-collocates": (collocates, DESK, False),
    "page-sources": (add_sources, DESK, False),
    "page-kept": (kept, DESK, False),
    "page-about": (about, DESK, False),
    "page-phone-first": (first, PHONE, False),
    "page-phone": (answer, PHONE, True),
}
"""Each picture by its name: what it shows, how large, and whether in the dark."""


def take_pictures(browser: Browser, address: str, folder: Path) -> None:
    """Write every picture into a folder."""
    for name, (show, size, dark) in VIEWS.items():
        page = browser.new_page(
            viewport=size, color_scheme="dark" if dark else "light", reduced_motion="reduce"
        )
        page.goto(address)
        expect(page.locator("select#target option").first).to_be_attached()
        show(page)
        page.wait_for_timeout(SETTLED)
        page.evaluate("scrollTo(0, 0)")
        shown = Image.open(BytesIO(page.screenshot()))
        few = shown.convert("RGB").quantize(COLORS, dither=Image.Dither.NONE)
        few.save(folder / f"{name}.png", optimize=True)
        page.close()


if __name__ == "__main__":
    with (
        tempfile.TemporaryDirectory() as held,
        demo_server(Path(held)) as served,
        sync_playwright() as playwright,
    ):
        opened = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        take_pictures(opened, served, PICTURES)
        opened.close()
