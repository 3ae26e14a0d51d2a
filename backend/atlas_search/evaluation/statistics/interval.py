"""Intervals by the percentile bootstrap: of a mean, and of any figure of many questions.

Efron & Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000
SEED = 20260101
SURE = 0.95

_AT_ONCE = 200  # samples that are in memory

FloatArray = NDArray[np.float64]


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """Between what the mean of `values` (at least one) lies in 95 of 100 samples like it.

    Always the same for the same values.
    """
    return mean_intervals({"": values})[""]


def mean_intervals(values: Mapping[str, Sequence[float]]) -> dict[str, tuple[float, float]]:
    """The intervals of many means; those over as many questions are drawn together.

    Drawing takes longer than all else: 80 figures of 1,000 questions take 0.2 s, one by one 6 s.
    """
    by_count: dict[int, list[str]] = {}
    for name, known in values.items():
        by_count.setdefault(len(known), []).append(name)
    return {
        name: ends
        for names in by_count.values()
        for name, ends in zip(names, _means([values[name] for name in names]), strict=True)
    }


def interval(figure: Callable[[FloatArray], FloatArray], count: int) -> FloatArray:
    """The ends of the interval of a `figure` of `count` questions, shape (2) or (2, figures).

    The figure is given how often each question was drawn, shape (m, count), and gives its value in
    each sample, shape (m) or (m, figures), NaN for a sample that says nothing.
    """
    random = np.random.default_rng(SEED)
    values = [figure(_draw(random, count)) for _ in range(RESAMPLES // _AT_ONCE)]
    ends = [(1 - SURE) / 2, (1 + SURE) / 2]
    return np.asarray(np.nanquantile(np.concatenate(values), ends, axis=0))


def _means(columns: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    known = np.array(columns, dtype=float).T
    count = len(known)
    low, high = interval(lambda weights: weights @ known / count, count)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _draw(random: np.random.Generator, count: int) -> FloatArray:
    """How often each of `count` questions is in each of _AT_ONCE samples."""
    drawn = random.integers(count, size=(_AT_ONCE, count))
    places = drawn + count * np.arange(_AT_ONCE)[:, None]
    counted = np.bincount(places.ravel(), minlength=count * _AT_ONCE)
    return counted.reshape(_AT_ONCE, count).astype(float)
