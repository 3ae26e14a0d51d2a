"""`python -m tests.phoenix_pictures` takes the pictures of docs/phoenix.md anew.

A real Phoenix gets traces of the bundled collection, and a real Chromium shows them. It takes some
minutes, so that no test does; tests/evaluation/test_docs.py holds the page to the files.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import httpx2
from PIL import Image
from playwright.sync_api import FloatRect, Page, ViewportSize, expect, sync_playwright

from atlas_search.answer.answer import Answer
from atlas_search.atlas import Atlas
from atlas_search.core.settings import Settings, load_settings
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.providers.open import open_embedder
from atlas_search.services import Services, open_services
from tests.answering import answered_by, asked
from tests.browser import chromium
from tests.conftest import build_demo, free_port
from tests.evaluation.made_traces import shallow
from tests.places import ROOT
from tests.recorded_spans import traced_by
from tests.servers import ATLAS, PHOENIX, START_SECONDS, answers, running, wait_for
from tests.telemetry.conftest import cited

PICTURES = ROOT / "docs" / "images"
PROJECT = "atlas"
COLORS = 128
SIZE: ViewportSize = {"width": 1280, "height": 960}
FILTERED: FloatRect = {"x": 261, "y": 300, "width": 1019, "height": 134}
LIST: FloatRect = {"x": 261, "y": 48, "width": 1019, "height": 500}
TRACE: FloatRect = {"x": 321, "y": 48, "width": 959, "height": 912}
SETTLED = 3000  # milliseconds
UNEQUAL = "parent_id is None and attributes['imbalance']['depth'] > 0"

QUESTIONS = (
    "Can a local authority sue a newspaper for libel?",
    "Who may marry in New Zealand?",
    "When must the police warn a suspect of the right to silence?",
    "How do Britain and New Zealand treat libel of a local authority?",
    "How long should I roast a chicken?",
)


@contextmanager
def demo_phoenix(folder: Path) -> Iterator[str]:
    """A Phoenix with traces of the demo; its address."""
    environment = {"PHOENIX_PORT": str(free_port()), "PHOENIX_WORKING_DIR": str(folder / "phoenix")}
    command = (*ATLAS, "phoenix", "--phoenix-executable", PHOENIX)
    with running(*command, environment=environment, folder=folder) as server:
        address = server.address("Phoenix")
        wait_for(lambda: answers(f"{address}/healthz"), START_SECONDS, "Phoenix")
        ask_demo(address, folder)
        yield address


def ask_demo(phoenix: str, folder: Path) -> None:
    """Ask the demo collection of several targets, rate some answers, and search it unevenly."""
    embedder = open_embedder(load_settings())
    build_demo(folder, embedder)
    settings = Settings(chroma_persist_directory=folder, query_cache_enabled=False)
    services = open_services(settings, embedder)
    tracer = Tracer(phoenix, PROJECT, content=True, delay=0.2)
    own = traced_by(services, tracer)
    given = ask_all(own)
    wait_for(lambda: tracer.waiting == 0 or None, 60, "the end of sending")
    tracer.close()
    services.close()
    wait_for(lambda: rate(phoenix, given[0], 1.0) or None, 60, "the root")
    rate(phoenix, given[1], 0.0)


def ask_all(services: Services) -> list[Answer]:
    """The answers."""
    atlas = Atlas(services)
    given = [
        atlas.ask(question, target=target)
        for target in ("k15_quota", "k10_extractive")
        for question in QUESTIONS
    ]
    with answered_by("openai", services) as (modelled, server):
        server.says(cited)
        answer, _ = asked(modelled, QUESTIONS[0], llm_price_input=1.0, llm_price_output=2.0)
    atlas.search(QUESTIONS[1])
    Atlas(shallow(services, "legal_us", 40)).ask(QUESTIONS[2])
    return [*given, answer]


def rate(phoenix: str, answer: Answer, score: float) -> bool:
    """Thumbs, as the server sends them; whether Phoenix has the trace."""
    one = {
        "name": "thumbs",
        "annotator_kind": "HUMAN",
        "identifier": "anna",
        "result": {"label": "up" if score else "down", "score": score},
    }
    return all(
        httpx2.post(
            f"{phoenix}/v1/{what}_annotations?sync=true",
            json={"data": [one | {f"{what}_id": id_}]},
            timeout=60,
        ).is_success
        for what, id_ in {"span": answer.span_id, "trace": answer.trace_id}.items()
    )


def take_pictures(phoenix: str, folder: Path) -> None:
    """Write every picture into a folder."""
    folder.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, timezone_id="UTC")
        show_list(page, phoenix)
        keep(page, folder / "phoenix-list.png", LIST)
        show_unequal(page, phoenix)
        keep(page, folder / "phoenix-filter.png", FILTERED)
        show_trace(page, phoenix)
        keep(page, folder / "phoenix-trace.png", TRACE)
        show_reranking(page)
        keep(page, folder / "phoenix-rerank.png", TRACE)
        browser.close()


def show_list(page: Page, phoenix: str) -> None:
    """All traces, as they come up without a filter."""
    page.goto(f"{project_page(phoenix)}/traces")
    settle(page, "thumbs")


def project_page(phoenix: str) -> str:
    """The address of the project's page."""
    projects = httpx2.get(f"{phoenix}/v1/projects", timeout=60).json()["data"]
    (id_,) = [project["id"] for project in projects if project["name"] == PROJECT]
    return f"{phoenix}/projects/{id_}"


def show_unequal(page: Page, phoenix: str) -> None:
    """The roots that were not equally deep."""
    page.goto(f"{project_page(phoenix)}/spans")
    field = page.locator(".cm-content").first
    field.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(UNEQUAL)
    page.keyboard.press("Escape")
    expect(page.locator("tbody tr")).to_have_count(1)
    page.mouse.click(1245, 329)  # the statistics beside the table
    page.wait_for_timeout(SETTLED)


def show_trace(page: Page, phoenix: str) -> None:
    """The trace of the answer that was rated."""
    query = {"parent_id": "null", "sort": "start_time", "order": "asc", "limit": 1}
    address = f"{phoenix}/v1/projects/{PROJECT}/spans"
    (root,) = httpx2.get(address, params=query, timeout=60).json()["data"]
    page.goto(f"{phoenix}/redirects/traces/{root['context']['trace_id']}")
    settle(page, "thumbs")


def show_reranking(page: Page) -> None:
    """What the reranker made of the candidates; what it was given is folded."""
    page.get_by_text("rerank", exact=True).first.click()
    settle(page, "Query")
    page.mouse.click(686, 370)
    settle(page, "Document Metadata")


def settle(page: Page, text: str) -> None:
    """Wait for a text, and for what is drawn with it."""
    page.get_by_text(text, exact=True).locator("visible=true").first.wait_for()
    page.wait_for_timeout(SETTLED)


def keep(page: Page, file: Path, clip: FloatRect) -> None:
    """A part of what is shown, in a few colours."""
    shown = Image.open(BytesIO(page.screenshot(clip=clip)))
    shown.convert("RGB").quantize(COLORS, dither=Image.Dither.NONE).save(file, optimize=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as held, demo_phoenix(Path(held)) as address:
        take_pictures(address, PICTURES)
