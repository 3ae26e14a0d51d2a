"""A run: every question of a label set asked of one target, and scored."""

import hashlib
import platform
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from atlas_search.atlas import Atlas
from atlas_search.core.tracing.tracer import Tracer
from atlas_search.evaluation.asker import Asker, ProcessAsker
from atlas_search.evaluation.labels.label import Label
from atlas_search.evaluation.metrics.metric import Tools
from atlas_search.evaluation.scored import Scored, score, summarise
from atlas_search.evaluation.trace import run_trace


class LabelsUsed(BaseModel):
    """Which questions: the name of their file, the SHA-256 of its bytes, split, and how many."""

    name: str
    sha256: str
    split: str = Field(description="Empty: all")
    questions: int


class RunSpec(BaseModel):
    """What was asked of whom: enough to do it again.

    `options` are the values of the target, `where` is `process` or the address of a server.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    started: datetime
    labels: LabelsUsed
    target: str
    composite_target: str
    options: dict[str, Any]
    where: str
    collection: str
    collection_version: str
    corpora: tuple[str, ...]
    search_only: bool = False
    seed: int = 0
    versions: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True)
class EvalRun:
    """A run, and how each question went, in the order of the labels."""

    spec: RunSpec
    scored: tuple[Scored, ...]


def run(
    asker: Asker, labels: Iterable[Label], tools: Tools, tracer: Tracer, composite_target: str
) -> list[Scored]:
    """Ask every question; all their traces name the run."""
    with run_trace(tracer) as trace:
        scored = []
        for label in labels:
            with trace.question(label):
                reply = asker.ask(label)
            scored.append(score(label, reply, tools))
        means = {name: figure.mean for name, figure in summarise(scored).items()}
        trace.describe(composite_target, len(scored), means)
        return scored


def evaluate(atlas: Atlas, labels: Iterable[Label], target: str, today: date) -> list[Scored]:
    """Ask a collection that is open here every question, as on the day `today`."""
    services = atlas.services
    _, how = services.target(target)
    tools = Tools(services.searcher.embedder, corpora=services.default_corpora, limit=how.search_k)
    asker = ProcessAsker(atlas, target, today)
    return run(asker, labels, tools, services.tracer, services.composite_target(target))


def labels_used(path: Path, split: str, questions: int) -> LabelsUsed:
    """What is said of the labels of a file."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return LabelsUsed(name=path.name, sha256=digest, split=split, questions=questions)


def run_id() -> str:
    """A new name for a run: when it began, and something of its own."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"


def versions() -> Mapping[str, str]:
    """The versions of what a figure may depend on."""
    packages = ("atlas-research-search", "chromadb", "numpy", "torch", "transformers")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}
