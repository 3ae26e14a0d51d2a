"""All metrics, and what computes them."""

import re
from collections.abc import Callable, Mapping
from math import isfinite

from atlas_search.evaluation import index_audit
from atlas_search.evaluation.metrics import (
    answers,
    balance,
    citations,
    decisions,
    of_sets,
    overlap,
    passages,
    periods,
    retrieval,
    sources,
    spans,
    tokens,
)
from atlas_search.evaluation.metrics.metric import Case, Measure, Metric

_KINDS: tuple[tuple[tuple[Metric, ...], Measure], ...] = (
    (retrieval.METRICS, retrieval.measure),
    (passages.METRICS, passages.measure),
    (spans.METRICS, spans.measure),
    (balance.METRICS, balance.measure),
    (periods.METRICS, periods.measure),
    (decisions.METRICS, decisions.measure),
    (answers.METRICS, answers.measure),
    (answers.OF_MEANING, answers.measure_meaning),
    (citations.METRICS, citations.measure),
    (sources.METRICS, sources.measure),
    (overlap.METRICS, overlap.measure),
    (tokens.METRICS, tokens.measure),
)

FAILED = Metric(
    "failed", "decisions", "all questions", "Share of which no reply came, but an error", "lower"
)

AGREEMENT = Metric(
    "judge_agreement",
    "judge",
    "questions that a judge decided something about",
    "Mean share of its votes that are the commonest one",
    "none",
)

METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metrics in (
        *(own for own, _ in _KINDS),
        of_sets.METRICS,
        index_audit.METRICS,
        (FAILED, AGREEMENT),
    )
    for metric in metrics
}

_NAME = re.compile(r"\w+[@.]?")


def metric_of(figure: str) -> Metric:
    """The metric of a figure: that of `recall@` for `recall@5`. Raises KeyError."""
    name = _NAME.match(figure)
    return METRICS[name.group() if name else figure]


def raised(error: Exception) -> None:
    """Raise it."""
    raise error


def figures_of(case: Case, lacking: Callable[[Exception], object] = raised) -> dict[str, float]:
    """Every figure that says something of a question, by name.

    Of a question that came to nothing only `failed`: an outage is not an empty result. What is no
    number (a model's vector may be none) says nothing. `lacking` hears why figures of one kind
    cannot be computed, and those of the other kinds are given.
    """
    if case.reply.error:
        return {FAILED.name: 1.0}
    found = {FAILED.name: 0.0}
    for _, measure in _KINDS:
        try:
            found |= {name: value for name, value in measure(case).items() if isfinite(value)}
        except Exception as error:
            lacking(error)
    return found
