"""How sure a mean is, and a difference of two means. The seed is fixed: equal input, equal output.

`samples` are one array a set, a number for each question; the mean of several sets is the mean of
their means, so that no set counts more for having more questions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats  # type: ignore[import-untyped]

from atlas_search.stores.terms import FloatArray

CONFIDENCE = 0.95
RESAMPLES = 2000
PERMUTATIONS = 9999
SEED = 0


@dataclass(frozen=True)
class Estimate:
    """A mean with its bootstrap interval."""

    mean: float
    low: float
    high: float


def estimate(samples: Sequence[FloatArray]) -> Estimate:
    """The mean and the percentiles of means of questions drawn anew within each set."""
    random = np.random.default_rng(SEED)
    means = np.zeros(RESAMPLES)
    for sample in samples:
        means += _drawn(sample, random) / len(samples)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(means, (tail, 1 - tail))
    return Estimate(float(np.mean([sample.mean() for sample in samples])), float(low), float(high))


def p_value(differences: Sequence[FloatArray]) -> float:
    """Two-sided permutation test of paired differences: how often random signs give such a mean.

    Fisher's test, in the form of Smucker, Allan and Carterette 2007.
    """
    weighted = np.concatenate([found / len(found) for found in differences])
    tested = stats.permutation_test(
        (weighted,),
        lambda values, axis: values.sum(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=PERMUTATIONS,
        batch=500,
        rng=np.random.default_rng(SEED),
    )
    return float(tested.pvalue)


def _drawn(sample: FloatArray, random: np.random.Generator) -> FloatArray:
    if len(sample) < 2:
        return np.full(RESAMPLES, sample.mean())  # scipy refuses what cannot vary
    drawn: FloatArray = stats.bootstrap(
        (sample,), np.mean, n_resamples=RESAMPLES, method="percentile", batch=500, rng=random
    ).bootstrap_distribution
    return drawn
