"""All metrics, and what computes them."""

from collections.abc import Mapping

from atlas_search.evaluation.metrics import answers, citations, decisions, retrieval
from atlas_search.evaluation.metrics.metric import Case, Measure, Metric

_KINDS: tuple[tuple[tuple[Metric, ...], Measure], ...] = (
    (retrieval.METRICS, retrieval.measure),
    (decisions.METRICS, decisions.measure),
    (answers.METRICS, answers.measure),
    (citations.METRICS, citations.measure),
)

METRICS: Mapping[str, Metric] = {metric.name: metric for metrics, _ in _KINDS for metric in metrics}


def metric_of(figure: str) -> Metric:
    """The metric of a figure: that of `recall@` for `recall@5`. Raises KeyError."""
    name, at, _ = figure.partition("@")
    return METRICS[f"{name}{at}"]


def figures_of(case: Case) -> dict[str, float]:
    """Every figure that says something of a question, by name."""
    return {name: figure for _, measure in _KINDS for name, figure in measure(case).items()}
