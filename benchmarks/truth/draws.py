"""Questions drawn anew. All figures of the same questions take their intervals from the same draws.

`weights` have a row for each drawing and a column for each question. The first row is the questions
as they are; the figures themselves are computed from it, in the same way as those of the others.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from atlas_search.stores.terms import FloatArray
from benchmarks.quality.statistics import CONFIDENCE, RESAMPLES, SEED, Estimate

Flags = NDArray[np.bool_]


def draw(sizes: Sequence[int]) -> FloatArray:
    """Weights of the questions of sets with these `sizes`, drawn with replacement within each set.

    The weights of a set sum to 1: none counts more for having more questions.
    """
    random = np.random.default_rng(SEED)
    sets = [_counts(size, random) / size for size in sizes if size]
    return np.concatenate(sets, axis=1) if sets else np.empty((1 + RESAMPLES, 0))


def share(weights: FloatArray, true: Flags, among: Flags) -> Estimate | None:
    """The share of those `among` the questions for which it is `true`; None if there are none."""
    if not among.any():
        return None
    all_, found = weights @ among, weights @ (among & true)
    return _estimate(found[all_ > 0] / all_[all_ > 0])


def area(weights: FloatArray, scores: FloatArray, right: Flags) -> Estimate | None:
    """The area under precision over coverage, in [0, 1]: the mean precision of all coverages."""
    if not len(scores):
        return None
    return _estimate(np.array([_area(row, scores, right) for row in weights]))


def curve(weights: FloatArray, scores: FloatArray, right: Flags) -> tuple[FloatArray, FloatArray]:
    """Coverage and precision where the first, the first two, ... of all questions are answered.

    `weights` are one row, without zeros; the question with the highest score comes first.
    """
    order = np.argsort(-scores, kind="stable")
    answered = np.cumsum(weights[order])
    return answered / answered[-1], np.cumsum((weights * right)[order]) / answered


def threshold(weights: FloatArray, scores: FloatArray, coverage: float) -> float:
    """The score that a share `coverage` of the questions reaches, by the weights of one row."""
    order = np.argsort(-scores, kind="stable")
    reached = np.cumsum(weights[order]) / weights.sum()
    place = int(np.searchsorted(reached, coverage - 1e-9))
    return float(scores[order[min(place, len(scores) - 1)]])


def _area(weights: FloatArray, scores: FloatArray, right: Flags) -> float:
    drawn = weights > 0
    weights, scores, right = weights[drawn], scores[drawn], right[drawn]
    coverage, precision = curve(weights, scores, right)
    return float(precision @ np.diff(coverage, prepend=0.0))


def _counts(size: int, random: np.random.Generator) -> FloatArray:
    drawn = random.multinomial(size, np.full(size, 1 / size), size=RESAMPLES)
    return np.concatenate([np.ones((1, size)), drawn])


def _estimate(values: FloatArray) -> Estimate:
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(values[1:], (tail, 1 - tail))
    return Estimate(float(values[0]), float(low), float(high))
