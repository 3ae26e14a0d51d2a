"""Intervals of a mean by the percentile bootstrap.

Efron & Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000
SEED = 20260101
SURE = 0.95

_AT_ONCE = 200  # samples whose weights are in memory

FloatArray = NDArray[np.float64]


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """Between what the mean of `values` (at least one) lies in 95 of 100 samples like it.

    Always the same for the same values.
    """
    known = np.asarray(values, dtype=float)
    drawn = np.random.default_rng(SEED).integers(len(known), size=(RESAMPLES, len(known)))
    low, high = np.quantile(known[drawn].mean(axis=1), [(1 - SURE) / 2, (1 + SURE) / 2])
    return float(low), float(high)


def resample_interval(
    figure: Callable[[FloatArray], FloatArray], count: int
) -> tuple[float, float]:
    """The same for any `figure` of `count` questions, given how often each was drawn.

    It gets weights of shape (m, count) and gives m values, NaN for a sample that says nothing.
    """
    random = np.random.default_rng(SEED)
    values = [
        figure(random.multinomial(count, np.full(count, 1 / count), size=_AT_ONCE).astype(float))
        for _ in range(RESAMPLES // _AT_ONCE)
    ]
    low, high = np.nanquantile(np.concatenate(values), [(1 - SURE) / 2, (1 + SURE) / 2])
    return float(low), float(high)
