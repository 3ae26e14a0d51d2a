"""The figures of the questions of a run, those that every run has among them."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Literal

from atlas_search.evaluation.metrics.catalogue import FAILED as FAILED_METRIC
from atlas_search.evaluation.metrics.catalogue import METRICS, metric_of
from atlas_search.evaluation.metrics.of_sets import METRICS as SET_METRICS
from atlas_search.evaluation.metrics.of_sets import Outcome, outcome_of
from atlas_search.evaluation.run import EvalRun
from atlas_search.evaluation.scored import Scored, Source

Better = Literal["higher", "lower", "none"]

SECONDS = "seconds"
"""Until the reply came; no metric, since it says nothing of the target alone."""

FAILED = FAILED_METRIC.name


@dataclass(frozen=True)
class QuestionFigures:
    """The figures of a question by name, and the digest of its text.

    `sources` names who gave a figure that a judge or a heuristic can give. Figures of all questions
    together are computed from the `outcome`, None where it is not known or not kept.
    """

    digest: str
    figures: Mapping[str, float]
    sources: Mapping[str, Source] = field(default_factory=dict)
    outcome: Outcome | None = None


RunFigures = Mapping[str, QuestionFigures]
"""By the ids of labels, in their order."""


def run_figures(run: EvalRun) -> dict[str, QuestionFigures]:
    """Those of the metrics, and `seconds` where a reply came."""
    return {one.label.id: question_figures(one) for one in run.scored}


def known_figures() -> list[str]:
    """The names of all metrics, those of depths as `recall@`, and `seconds`."""
    return sorted([*METRICS, SECONDS])


def is_known(figure: str) -> bool:
    """Whether some run could have this figure."""
    return figure == SECONDS or _has_metric(figure)


def is_of_sets(figure: str) -> bool:
    """Whether it is a figure of many questions together, which no question has."""
    return figure in {metric.name for metric in SET_METRICS}


def better(figure: str) -> Better:
    """Where a change of it for the better goes; `none` of a figure whose metric is not known."""
    if figure == SECONDS:
        return "lower"
    return metric_of(figure).better if _has_metric(figure) else "none"


def question_figures(one: Scored) -> QuestionFigures:
    """Those of one question that are numbers."""
    digest = hashlib.sha256(one.label.question.encode()).hexdigest()[:8]
    came = {} if one.reply.error else {SECONDS: one.reply.seconds}
    # a run that an older version scored has no `failed`
    figures = {FAILED: float(bool(one.reply.error)), **one.figures, **came}
    numbers = {name: value for name, value in figures.items() if isfinite(value)}
    return QuestionFigures(digest, numbers, dict(one.sources), outcome_of(one))


def _has_metric(figure: str) -> bool:
    try:
        metric_of(figure)
    except KeyError:
        return False
    return True
