"""Whether the means of paired values differ, by the paired permutation test.

If the two sides were alike, each difference could as well have the other sign. The p value is the
share of all choices of signs whose sum is as far from 0 as the one observed, to either side
(Fisher, The Design of Experiments, 1935, section 21; for retrieval: Smucker, Allan & Carterette,
CIKM 2007). Of values that are 0 or 1 it is the sign test, which is McNemar's exact test.
"""

from collections.abc import Sequence
from math import ceil

import numpy as np

from atlas_search.evaluation.statistics.interval import SEED
from atlas_search.stores.terms import FloatArray

DRAWS = 50_000
"""Choices of signs drawn where there are too many to go through: no p value is below 1 / DRAWS."""

MOST_DRAWS = 1_000_000
"""So many at most where p has to be smaller: half a minute for 300 figures of 1,000 questions."""

_MOST_SUMS = 17  # a power of 2; gone through one by one: 17 magnitudes, or any that repeat
_AT_ONCE = 2_000_000  # signs drawn at once, or sums of them
_ROUNDING = 1e-9  # sums that differ by less are the same: they were added in another order


def paired_p_values(
    tests: Sequence[Sequence[float]],
    *,
    seed: int = SEED,
    draws: int = DRAWS,
    least: float = 1.0,
) -> list[float]:
    """The two-sided p value of each of several tests, given the differences of its pairs.

    Exact where no more than 2^_MOST_SUMS sums can come out, else of `draws` seeded draws that all
    such tests share. Where none of these comes as far, more are drawn until p can be `least`,
    unless MOST_DRAWS are too few for it. 1 where nothing differs.
    """
    differing = [_differing(differences) for differences in tests]
    found = [_exact_p_value(differences) for differences in differing]
    drawn = iter(
        _drawn_p_values(
            [d for d, p in zip(differing, found, strict=True) if p is None],
            np.random.default_rng(seed),
            draws,
            least,
        )
    )
    return [next(drawn) if p is None else p for p in found]


def least_p_value(pairs: int) -> float:
    """What p is at least where so many pairs differ: below 5% from 6 on."""
    return float(min(1.0, 2.0 ** (1 - pairs)))


def _differing(differences: Sequence[float]) -> FloatArray:
    known: FloatArray = np.asarray(differences, dtype=float)
    return known[np.flatnonzero(known)]


def _exact_p_value(differences: FloatArray) -> float | None:
    """None where too many sums can come out."""
    magnitudes, counts = np.unique(np.abs(differences).round(12), return_counts=True)
    if float(np.log2(counts + 1).sum()) > _MOST_SUMS:
        return None
    sums, chances = np.zeros(1), np.ones(1)
    for magnitude, count in zip(magnitudes, counts, strict=True):
        positive = np.arange(count + 1)
        sums = np.add.outer(sums, magnitude * (2 * positive - count)).ravel()
        chances = np.multiply.outer(chances, _coin_chances(int(count))).ravel()
    as_far = np.abs(sums) >= abs(differences.sum()) - _ROUNDING
    return min(1.0, float(chances[as_far].sum()))


def _coin_chances(count: int) -> FloatArray:
    """The chance of 0, 1, ... `count` heads of as many fair coins."""
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, count + 1)))])
    return np.asarray(np.exp(logs[-1] - logs - logs[::-1] - count * np.log(2)))


def _drawn_p_values(
    tests: Sequence[FloatArray], random: np.random.Generator, draws: int, least: float
) -> list[float]:
    """The one observed counts among the drawn ones, so that no p value is 0.

    Going on only where p is as small as it can be makes none smaller than it would be with all
    draws.
    """
    as_far, drawn = _as_far(tests, random, draws), np.full(len(tests), draws)
    rare = [test for test, count in enumerate(as_far) if not count]
    more = ceil(1 / least) - 1 - draws if least * MOST_DRAWS >= 1 else 0
    if rare and more > 0:
        as_far[rare] = _as_far([tests[test] for test in rare], random, more)
        drawn[rare] += more
    return [float(p) for p in (as_far + 1) / (drawn + 1)]


def _as_far(tests: Sequence[FloatArray], random: np.random.Generator, draws: int) -> FloatArray:
    """In how many draws the sum of each test is as far from 0 as the one observed."""
    as_far = np.zeros(len(tests))
    if not tests:
        return as_far
    columns = np.zeros((max(map(len, tests)), len(tests)))
    for number, differences in enumerate(tests):
        columns[: len(differences), number] = differences
    observed = np.abs(columns.sum(axis=0)) - _ROUNDING
    block = max(1, _AT_ONCE // max(columns.shape))
    for done in range(0, draws, block):
        size = (min(block, draws - done), len(columns))
        signs = random.integers(0, 2, size=size, dtype=np.int8) * 2.0 - 1.0
        as_far += (np.abs(signs @ columns) >= observed).sum(axis=0)
    return as_far
