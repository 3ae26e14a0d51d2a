"""Figures of many questions together that are no mean over them.

All of them ask how far the confidence of an answer tells whether it is right. A question counts
by a weight, so that bootstrap samples are weights, too."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atlas_search.evaluation.statistics import Figure, FloatArray, interval

if TYPE_CHECKING:
    from atlas_search.evaluation.scored import Scored

PRECISION = 0.9
BINS = 10

_CORRECT = "answer_correctness"


SetFigure = Callable[["Outcomes", FloatArray], FloatArray]
"""A figure of outcomes for each row of weights, shape (m, n) to (m); NaN where it says nothing."""


@dataclass(frozen=True)
class Outcomes:
    """Outcomes of questions: whether each was answered, rightly, and how surely, in [0, 1]."""

    answered: FloatArray
    right: FloatArray
    confidence: FloatArray

    def __len__(self) -> int:  # noqa: D105
        return len(self.answered)


class CoveragePoint(NamedTuple):
    """Result of answering only questions with at least this confidence.

    `coverage` is the share of all questions that is answered, `precision` that of right answers.
    """

    confidence: float
    coverage: float
    precision: float


class Bin(NamedTuple):
    """Answers with a likelihood from `low` to below `high`: how many, its mean, the share right."""

    low: float
    high: float
    answers: int
    likelihood: float
    right: float


def set_figures(scored: Sequence["Scored"]) -> dict[str, Figure]:
    """Return FIGURES of the questions, with intervals by the percentile bootstrap."""
    every, likely = outcomes(scored), _with_likelihood(scored)
    found = {
        name: (of, likely if of is calibration_error else every) for name, of in FIGURES.items()
    }
    return {name: _figure(of, own) for name, (of, own) in found.items() if own.answered.any()}


def outcomes(scored: Iterable["Scored"]) -> Outcomes:
    """Gather the questions that were declined, or whose answer is known to be right or wrong.

    How right an answer is says a judge if one was asked, else its label (`right`). The confidence
    is the likelihood if every answer has one, else the evidence.
    """
    known = [
        one
        for one in scored
        if one.reply.answer and not (one.reply.answered and _right(one) is None)
    ]
    likely = all(_likelihood(one) is not None for one in known if one.reply.answered)
    return Outcomes(
        answered=np.array([one.reply.answered for one in known], dtype=float),
        right=np.array([_right(one) or 0.0 for one in known], dtype=float),
        confidence=np.array(
            [(_likelihood(one) or 0.0) if likely else one.reply.evidence for one in known],
            dtype=float,
        ),
    )


def _with_likelihood(scored: Iterable["Scored"]) -> Outcomes:
    """Gather the answers that state one."""
    return outcomes(one for one in scored if one.reply.answered and _likelihood(one) is not None)


def curve(scored: Iterable["Scored"]) -> list[CoveragePoint]:
    """Precision against coverage, from the most confident answers to all."""
    found = outcomes(scored)
    if not found.answered.any():
        return []
    bounds, given, right = _by_confidence(found, np.ones((1, len(found))))
    return [
        CoveragePoint(float(bound), float(count / len(found)), float(good / count))
        for bound, count, good in zip(bounds, given[0], right[0], strict=True)
    ]


def reliability(scored: Iterable["Scored"]) -> list[Bin]:
    """Bin the answers by their likelihood; bins without an answer are left out."""
    found = _with_likelihood(scored)
    places = _bins(found)
    return [
        Bin(
            place / BINS,
            (place + 1) / BINS,
            int(inside.sum()),
            float(found.confidence[inside].mean()),
            float(found.right[inside].mean()),
        )
        for place in range(BINS)
        if (inside := places == place).any()
    ]


def precision_coverage(found: Outcomes, weights: FloatArray) -> FloatArray:
    """Area under precision against coverage, over the coverage reached.

    1 - the area under the curve of risk and coverage (Geifman & El-Yaniv, Selective Classification
    for Deep Neural Networks, 2017). Answers of one confidence are given up together.
    """
    _, given, right = _by_confidence(found, weights)
    widths = np.diff(given, axis=1, prepend=0.0)
    with np.errstate(invalid="ignore"):
        precision = np.nan_to_num(right / given)
        return np.asarray((precision * widths).sum(axis=1) / given[:, -1])


def coverage_at(found: Outcomes, weights: FloatArray) -> FloatArray:
    """The largest coverage with a precision of PRECISION, 0 if there is none."""
    _, given, right = _by_confidence(found, weights)
    enough = (right >= PRECISION * given - 1e-9) & (given > 0)
    return np.asarray(np.where(enough, given, 0.0).max(axis=1) / weights.sum(axis=1))


def calibration_error(found: Outcomes, weights: FloatArray) -> FloatArray:
    """Expected calibration error over BINS bins of equal width.

    Guo et al., On Calibration of Modern Neural Networks (2017).
    """
    inside = (_bins(found)[:, None] == np.arange(BINS)).astype(float)
    off = weights * (found.right - found.confidence) @ inside
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(off).sum(axis=1) / weights.sum(axis=1))


FIGURES: Mapping[str, SetFigure] = {
    "precision_coverage": precision_coverage,
    "coverage_at_90": coverage_at,
    "calibration_error": calibration_error,
}
"""What computes each figure."""


def _by_confidence(
    found: Outcomes, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Each confidence of an answer, falling; answers and right ones with at least as much."""
    at = np.flatnonzero(found.answered)
    order = at[np.lexsort((at, -found.confidence[at]))]
    confidence = found.confidence[order]
    last = np.append(confidence[1:] != confidence[:-1], True)
    given = np.cumsum(weights[:, order], axis=1)[:, last]
    right = np.cumsum(weights[:, order] * found.right[order], axis=1)[:, last]
    return confidence[last], given, right


def _bins(found: Outcomes) -> NDArray[np.int64]:
    return np.minimum((found.confidence * BINS).astype(np.int64), BINS - 1)


def _figure(of: SetFigure, found: Outcomes) -> Figure:
    value = float(of(found, np.ones((1, len(found))))[0])
    (low, high) = interval(lambda weights: of(found, weights), len(found))
    return Figure(value, low, high, len(found))


def _right(one: "Scored") -> float | None:
    if one.sources.get(_CORRECT) == "judge":
        return one.figures[_CORRECT]
    return one.figures.get("right")


def _likelihood(one: "Scored") -> float | None:
    answer = one.reply.answer
    return answer.confidence.likelihood if answer and answer.confidence else None
