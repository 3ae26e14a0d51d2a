"""`python -m tests.evaluation.phoenix_picture` takes the picture of two experiments anew.

A real Phoenix gets two runs over bundled labels, and a real Chromium shows them side by side.
"""

import tempfile
from pathlib import Path

from playwright.sync_api import FloatRect, Page, ViewportSize, expect, sync_playwright

from atlas_search.core.settings import Settings, load_settings
from atlas_search.evaluation.phoenix import Shown, upload_runs
from atlas_search.evaluation.phoenix_api import PhoenixApi
from atlas_search.providers.open import open_embedder
from atlas_search.services import open_services
from tests.browser import chromium
from tests.conftest import build_demo, free_port
from tests.evaluation.in_phoenix import TARGETS, carried_out, chosen_labels, silent
from tests.phoenix_pictures import PICTURES, SETTLED, keep
from tests.servers import ATLAS, PHOENIX, START_SECONDS, answers, running, wait_for

PICTURE = PICTURES / "phoenix-experiments.png"
SIZE: ViewportSize = {"width": 1440, "height": 900}
COMPARED: FloatRect = {"x": 261, "y": 48, "width": 1179, "height": 852}
WAIT = 60_000  # milliseconds


def compared(phoenix: str, folder: Path) -> str:
    """The page of two runs over some bundled labels."""
    embedder = open_embedder(load_settings())
    build_demo(folder, embedder)
    services = open_services(Settings(chroma_persist_directory=folder), embedder)
    runs = carried_out(folder / "runs", services, phoenix, chosen_labels())
    services.close()
    with PhoenixApi(phoenix, {}) as api:
        shown = Shown(content=True, mask=str)
        return upload_runs(runs, api, shown, silent).page(phoenix)


def show_compared(page: Page, address: str) -> None:
    """Both experiments: their figures, and their answers to the first question."""
    page.goto(address)
    for target in TARGETS:
        expect(page.get_by_role("columnheader").filter(has_text=target)).to_be_visible(timeout=WAIT)
    expect(page.get_by_role("row").filter(has_text='"decision"').first).to_be_visible(timeout=WAIT)


def take_picture(address: str, file: Path) -> None:
    """Write the picture of a page that compares experiments."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, timezone_id="UTC")
        show_compared(page, address)
        page.wait_for_timeout(SETTLED)
        keep(page, file, COMPARED)
        browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as held:
        place = Path(held)
        environment = {"PHOENIX_PORT": str(free_port()), "PHOENIX_WORKING_DIR": held}
        command = (*ATLAS, "phoenix", "--phoenix-executable", PHOENIX)
        with running(*command, environment=environment, folder=place) as server:
            at = server.address("Phoenix")
            wait_for(lambda: answers(f"{at}/healthz"), START_SECONDS, "Phoenix")
            take_picture(compared(at, place), PICTURE)
