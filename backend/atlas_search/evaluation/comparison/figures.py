"""The figures of the questions of a run, those that every run has among them."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from atlas_search.evaluation.metrics.catalogue import METRICS, metric_of
from atlas_search.evaluation.run import EvalRun
from atlas_search.evaluation.scored import Scored

Better = Literal["higher", "lower", "none"]

SECONDS, FAILED = "seconds", "failed"

_OF_EVERY_RUN: Mapping[str, Better] = {SECONDS: "lower", FAILED: "lower"}


@dataclass(frozen=True)
class QuestionFigures:
    """The figures of a question by name, and the digest of its text."""

    digest: str
    figures: Mapping[str, float]


RunFigures = Mapping[str, QuestionFigures]
"""By the ids of labels, in their order."""


def run_figures(run: EvalRun) -> dict[str, QuestionFigures]:
    """Those of the metrics, `seconds` where a reply came, and `failed`: 1 where none did."""
    return {one.label.id: _question_figures(one) for one in run.scored}


def known_figures() -> list[str]:
    """The names of all metrics, those of depths as `recall@`, and of what every run has."""
    return sorted([*METRICS, *_OF_EVERY_RUN])


def is_known(figure: str) -> bool:
    """Whether some run could have this figure."""
    return figure in _OF_EVERY_RUN or _has_metric(figure)


def better(figure: str) -> Better:
    """Where a change of it for the better goes; `none` of a figure whose metric is not known."""
    if figure in _OF_EVERY_RUN:
        return _OF_EVERY_RUN[figure]
    return metric_of(figure).better if _has_metric(figure) else "none"


def _question_figures(one: Scored) -> QuestionFigures:
    digest = hashlib.sha256(one.label.question.encode()).hexdigest()[:8]
    came = {} if one.reply.error else {SECONDS: one.reply.seconds}
    return QuestionFigures(digest, {**one.figures, **came, FAILED: float(bool(one.reply.error))})


def _has_metric(figure: str) -> bool:
    try:
        metric_of(figure)
    except KeyError:
        return False
    return True
