"""A run: every question of a label set asked of one target, and scored."""

import hashlib
import json
import platform
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from atlas_search.atlas import Atlas
from atlas_search.core.errors import SourceError
from atlas_search.evaluation.asking import (
    PatientEmbedder,
    ProcessAsker,
    ask_all,
    run_trace,
    without_kept_answers,
)
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.metrics import Reply, Tools
from atlas_search.evaluation.scored import (
    MetricsSource,
    Scored,
    metrics_source,
    score,
    summarise,
)
from atlas_search.evaluation.statistics import Figure

PROCESS = "process"
"""Where a run asks that has no address."""

PACKAGES = (
    "atlas-research-search",
    "chromadb",
    "ir-measures",
    "numpy",
    "onnxruntime",
    "scipy",
    "torch",
    "transformers",
)
"""What a figure may depend on: what embeds and writes, what is searched with, what computes."""

_LABEL = TypeAdapter(Label)


class LabelsUsed(BaseModel):
    """Questions of a run: the name of their file, split, how many, and their digest.

    Label sets that say the same have the same digest, in whatever order, form and file.
    """

    name: str
    sha256: str = Field(description="See `labels_digest`")
    split: str = Field(description="Empty: all")
    questions: int


class JudgeUsed(BaseModel):
    """Judge of a run, as its report says."""

    model_config = ConfigDict(frozen=True)

    provider: str
    model: str
    votes: int
    prompts: dict[str, str] = Field(description="Versions of what the model was told to do")


class RunSpec(BaseModel):
    """Specification of a run: enough to do it again.

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
    k: int | None = Field(None, description="Passages wanted; null: as many as the target says")
    today: date | None = Field(None, description="The day that the age of sources is counted from")
    seed: int = 0
    limit: int | None = Field(None, description="Questions drawn at random; null: all")
    parallel: int = Field(1, description="Questions asked at once")
    settings: dict[str, str] = Field(
        default_factory=dict,
        description="What else the figures depend on: models, prompt, thresholds",
    )
    versions: dict[str, str] = Field(default_factory=dict)
    command: str = ""
    index_recall: dict[str, Figure] = Field(
        default_factory=dict, description="By `index_audit`; empty: the index was not audited"
    )
    index_asked: tuple[str, ...] = Field(
        (), description="Audited corpora whose searches ask the index; others compare every vector"
    )


@dataclass(frozen=True)
class EvalRun:
    """A run, and how each question went, in the order of the labels.

    `judge` is who gave some of the figures, None if no one did.
    """

    spec: RunSpec
    scored: tuple[Scored, ...]
    judge: JudgeUsed | None = None

    @property
    def metrics_source(self) -> MetricsSource:
        """Return who gave the figures that a judge or a heuristic can give."""
        return metrics_source(self.scored)

    @property
    def failed(self) -> list[str]:
        """Return why nothing came back for a question, for each."""
        return [one.reply.error for one in self.scored if one.reply.error]

    @property
    def lacking(self) -> list[str]:
        """Return why a question lacks figures that it should have, for each."""
        return [one.lacking for one in self.scored if one.lacking]


def evaluate(
    atlas: Atlas, labels: Iterable[Label], target: str, today: date, *, parallel: int = 1
) -> list[Scored]:
    """Ask a collection that is open here every question, as on the day `today`.

    None is answered with what was kept of an earlier one. Nothing is written. Figures that cannot
    be computed are `lacking`.
    """
    services, labels, id_ = atlas.services, list(labels), run_id()
    _, how = services.target(target)
    tools = Tools(services.searcher.embedder, corpora=services.default_corpora, limit=how.search_k)
    asker = ProcessAsker(without_kept_answers(atlas), target, today, session=id_)
    with run_trace(services.tracer, id_) as trace:
        replies: list[Reply] = []
        ask_all(asker, labels, trace, replies.append, parallel=parallel)
        scored = score_all(labels, replies, tools)
        trace.describe(services.composite_target(target), len(scored), means(scored))
    return scored


def score_all(labels: Iterable[Label], replies: Iterable[Reply], tools: Tools) -> list[Scored]:
    """The figures of every question that has a reply, in the order of the labels.

    What cannot be computed is `lacking`, and costs no other figure.
    """
    came = {reply.label_id: reply for reply in replies}
    able = replace(tools, embedder=PatientEmbedder(tools.embedder))
    return [score(label, came[label.id], able) for label in labels if label.id in came]


def means(scored: Sequence[Scored]) -> dict[str, float]:
    """The mean of every figure."""
    return {name: figure.mean for name, figure in summarise(scored).items()}


def judge_used(path: Path) -> JudgeUsed | None:
    """Return who judged, by the report at `path`; None if there is none. Raises SourceError."""
    try:
        return JudgeUsed.model_validate_json(path.read_bytes()) if path.is_file() else None
    except (OSError, ValidationError) as error:
        raise SourceError(f"{path} is no report of a judge: {error}") from error


def labels_digest(labels: Iterable[Label]) -> str:
    """SHA-256 of all that the labels say: sorted, without what they leave out."""
    said = [_LABEL.dump_python(label, mode="json", exclude_defaults=True) for label in labels]
    for one in said:
        for names in ("gold_document_ids", "gold_passage_ids"):  # sets: in no order
            one[names] = sorted(one.get(names, ()))
    lines = sorted(json.dumps(one, sort_keys=True) for one in said)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def run_id() -> str:
    """A new name for a run: when it began, and something of its own."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}"


def versions() -> dict[str, str]:
    """The versions of what a figure may depend on."""
    return {"python": platform.python_version()} | {
        name: found for name in PACKAGES if (found := _version(name))
    }


def _version(package: str) -> str:
    """Empty for one that is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
