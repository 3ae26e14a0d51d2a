"""Runs over bundled labels that are traced to a Phoenix, and what it holds of them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from atlas_search.atlas import Atlas
from atlas_search.cli.evaluate_options import LABELS
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
from atlas_search.evaluation.phoenix import Uploaded
from atlas_search.evaluation.phoenix_api import PhoenixApi
from atlas_search.services import Services
from tests.conftest import TODAY
from tests.servers import wait_for
from tests.spans.recorded import trace_with

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
    atlas = Atlas(trace_with(services, tracer))
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
    roots = api.pages(
        f"/v1/projects/{PROJECT}/spans", {"parent_id": "null", "name": "ask", "limit": 100}
    )
    return {span["context"]["trace_id"] for span in roots}


@contextmanager
def silent(what: str) -> Iterator[Told]:
    """Progress that nobody hears."""
    yield no_one


def examples(phoenix: str, uploaded: Uploaded) -> dict[str, dict[str, Any]]:
    """The examples of a dataset as they are now, by the ids of labels."""
    address = f"{phoenix}/v1/datasets/{uploaded.dataset_id}/examples"
    said = httpx2.get(address, timeout=60).raise_for_status().json()
    return {one["id"]: one for one in said["data"]["examples"]}


def held(phoenix: str, uploaded: Uploaded, place: int) -> dict[str, dict[str, Any]]:
    """What an experiment holds of each question, by the ids of labels."""
    labels = {one["node_id"]: id_ for id_, one in examples(phoenix, uploaded).items()}
    address = f"{phoenix}/v1/experiments/{uploaded.experiment_ids[place]}/json"
    said = httpx2.get(address, timeout=60).raise_for_status().json()
    return {labels[one["example_id"]]: one for one in said}


def versions(phoenix: str, uploaded: Uploaded) -> int:
    """How many a dataset has."""
    address = f"{phoenix}/v1/datasets/{uploaded.dataset_id}/versions"
    return len(httpx2.get(address, timeout=60).raise_for_status().json()["data"])


def pages(phoenix: str, uploaded: Uploaded, place: int) -> list[dict[str, Any]]:
    """What the pages of Phoenix show of each run of an experiment."""
    body = {"query": PAGES, "variables": {"id": uploaded.experiment_ids[place]}}
    said = httpx2.post(f"{phoenix}/graphql", json=body, timeout=60).raise_for_status().json()
    return [edge["node"] for edge in said["data"]["node"]["runs"]["edges"]]
