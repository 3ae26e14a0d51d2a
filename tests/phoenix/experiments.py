"""Runs over bundled labels in a real Phoenix, and what it holds of them.

`python -m tests.phoenix.experiments` takes the picture of two experiments with a real Chromium.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from playwright.sync_api import FloatRect, Page, ViewportSize, expect, sync_playwright

from atlas_search.atlas import Atlas
from atlas_search.cli.evaluate_options import LABELS
from atlas_search.core.settings import Settings, load_settings
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.evaluation.asking import Told, no_one
from atlas_search.evaluation.carry_out import (
    ProcessSubject,
    RunRequest,
    begin_run,
    carry_out,
    choose_questions,
)
from atlas_search.evaluation.folder import RunFolder
from atlas_search.evaluation.label_files import load_labels
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.phoenix import Shown, Uploaded, upload_runs
from atlas_search.evaluation.phoenix_api import PhoenixApi
from atlas_search.providers.http import ErrorStatus
from atlas_search.providers.open import open_embedder
from atlas_search.services import Services, open_services
from tests.browser import chromium
from tests.conftest import TODAY, build_demo, free_port
from tests.phoenix_pictures import PICTURES, SETTLED, keep
from tests.recorded_spans import traced_by
from tests.servers import ATLAS, PHOENIX, START_SECONDS, answers, running, wait_for

PAGES = """
query ($id: ID!) {
  node(id: $id) { ... on Experiment { runs(first: 1000) { edges { node {
    trace { traceId } annotations { edges { node { name } } }
  } } } } }
}
"""
"""As the pages of Phoenix ask: for as many annotations as it gives unasked."""

PROJECT = "evaluations"
TARGETS = ("k10_extractive", "k10_lexical")
QUESTIONS = 8


def chosen_labels() -> tuple[Label, ...]:
    """Some bundled labels."""
    return choose_questions(LABELS, "test", load_labels(LABELS, "test"), QUESTIONS, 1).labels


def carried_out(
    folder: Path,
    services: Services,
    phoenix: str,
    labels: Sequence[Label],
    targets: Sequence[str] = TARGETS,
) -> list[RunFolder]:
    """A run of each target over the labels, traced to a Phoenix, which holds the traces now."""
    tracer = Tracer(phoenix, PROJECT, content=True, delay=0.2)
    atlas = Atlas(traced_by(services, tracer))
    runs = [RunFolder(folder / target) for target in targets]
    for run, target in zip(runs, targets, strict=True):
        subject = ProcessSubject(atlas, target)
        questions = choose_questions(LABELS, "test", labels, None, 0)
        begin_run(run, subject, questions, RunRequest(TODAY))
        carry_out(run, subject)
    wait_for(lambda: tracer.waiting == 0 or None, 60, "the end of sending")
    tracer.close()
    ids = {answer.trace_id for run in runs for answer in answers_of(run)}
    with PhoenixApi(phoenix, {}) as api:
        wait_for(lambda: ids <= _traces(api) or None, 60, "the traces")
    return runs


def answers_of(run: RunFolder) -> list[Any]:
    """The answers of a run, in the order in which they came."""
    return [reply.answer for reply in run.replies().values() if reply.answer]


def _traces(api: PhoenixApi) -> set[str]:
    which = {"parent_id": "null", "limit": 100}
    try:
        roots = api.pages(f"/v1/projects/{PROJECT}/spans", which)
        return {r["context"]["trace_id"] for r in roots if r["name"].startswith("ask")}
    except ErrorStatus:  # Phoenix knows no project before it has read its first span
        return set()


@contextmanager
def silent(what: str) -> Iterator[Told]:
    """Progress that nobody hears."""
    yield no_one


def examples(phoenix: str, uploaded: Uploaded) -> dict[str, dict[str, Any]]:
    """The examples of a dataset as they are now, by the ids of labels."""
    address = f"{phoenix}/v1/datasets/{uploaded.dataset_id}/examples"
    message = httpx2.get(address, timeout=60).raise_for_status().json()
    return {one["id"]: one for one in message["data"]["examples"]}


def held(phoenix: str, uploaded: Uploaded, place: int) -> dict[str, dict[str, Any]]:
    """Runs of an experiment, by the ids of labels."""
    labels = {one["node_id"]: id_ for id_, one in examples(phoenix, uploaded).items()}
    address = f"{phoenix}/v1/experiments/{uploaded.experiment_ids[place]}/json"
    message = httpx2.get(address, timeout=60).raise_for_status().json()
    return {labels[one["example_id"]]: one for one in message}


def versions(phoenix: str, uploaded: Uploaded) -> int:
    """Count the versions of a dataset."""
    address = f"{phoenix}/v1/datasets/{uploaded.dataset_id}/versions"
    return len(httpx2.get(address, timeout=60).raise_for_status().json()["data"])


def pages(phoenix: str, uploaded: Uploaded, place: int) -> list[dict[str, Any]]:
    """Runs of an experiment as the pages of Phoenix show them."""
    body = {"query": PAGES, "variables": {"id": uploaded.experiment_ids[place]}}
    message = httpx2.post(f"{phoenix}/graphql", json=body, timeout=60).raise_for_status().json()
    return [edge["node"] for edge in message["data"]["node"]["runs"]["edges"]]


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
        view = Shown(content=True, mask=str)
        return upload_runs(runs, api, view, silent).page(phoenix)


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
