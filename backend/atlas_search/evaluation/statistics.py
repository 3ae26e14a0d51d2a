"""Intervals, tests and agreement."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.errors import RequestError

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Figure:
    """A mean over `questions`, and between what it lies in 95 of 100 such sets of questions.

    `mean` is the value itself of a figure that is no mean.
    """

    mean: float
    low: float
    high: float
    questions: int


def cohen_kappa(a: Sequence[int], b: Sequence[int], *, squared: bool = False) -> float:
    """Agreement of two raters over the same items, in order.

    A disagreement counts once or, `squared`, for the square of the difference of its ratings.
    Cohen, Educational and Psychological Measurement 20 (1960), and Psychological Bulletin 70 (1968)
    for weights. Raises RequestError if there is no item, or all ratings are the same.
    """
    _check_items(len(a))
    known, at = np.unique([*a, *b], return_inverse=True)
    observed = np.zeros((len(known), len(known)))
    np.add.at(observed, (at[: len(a)], at[len(a) :]), 1)
    by_chance = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / len(a)
    steps = np.subtract.outer(known, known).astype(float)
    cost = steps**2 if squared else steps != 0
    return _beyond_chance(float((cost * observed).sum()), float((cost * by_chance).sum()))


def krippendorff_alpha(items: Sequence[Sequence[int]]) -> float:
    """Agreement of any number of raters on an ordinal scale.

    `items` are the ratings of each; one rating alone says nothing. Krippendorff, Computing
    Krippendorff's Alpha-Reliability (2011), part D. Raises RequestError if no item has two ratings,
    or all ratings are the same.
    """
    paired = [ratings for ratings in items if len(ratings) > 1]
    _check_items(len(paired))
    known = sorted({rating for ratings in paired for rating in ratings})
    coincidences = np.zeros((len(known), len(known)))  # an item of m ratings counts for m
    for ratings in paired:
        counts = np.array([ratings.count(rating) for rating in known], dtype=float)
        coincidences += (np.outer(counts, counts) - np.diag(counts)) / (len(ratings) - 1)
    totals = coincidences.sum(axis=1)
    by_chance = (np.outer(totals, totals) - np.diag(totals)) / (totals.sum() - 1)
    # two ratings are as far apart as there are ratings from one to the other
    at = np.cumsum([0.0, *((before + after) / 2 for before, after in pairwise(totals))])
    distances = np.subtract.outer(at, at) ** 2
    return _beyond_chance(
        float((distances * coincidences).sum()), float((distances * by_chance).sum())
    )


def _beyond_chance(disagreement: float, by_chance: float) -> float:
    if by_chance == 0:
        raise RequestError(
            "All ratings are the same: chance would agree as well, so agreement says nothing."
        )
    return 1 - disagreement / by_chance


def _check_items(number: int) -> None:
    if not number:
        raise RequestError("No item has two ratings to compare.")


RESAMPLES = 2000
SEED = 20260101
SURE = 0.95

_AT_ONCE = 200  # samples that are in memory


def mean_figures(values: Mapping[str, Sequence[float]]) -> dict[str, Figure]:
    """The mean of each list of values with its interval."""
    ends = mean_intervals(values)
    return {
        name: Figure(sum(known) / len(known), *ends[name], len(known))
        for name, known in values.items()
    }


def mean_intervals(values: Mapping[str, Sequence[float]]) -> dict[str, tuple[float, float]]:
    """Between what each mean lies in 95 of 100 samples like its values, of which it has one or
    more; always the same for the same values.

    Means over as many questions are drawn together: drawing takes longer than all else, for 80
    figures of 1,000 questions 0.2 s, one by one 6 s.
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
    """Return how often each of `count` questions is in each of _AT_ONCE samples."""
    drawn = random.integers(count, size=(_AT_ONCE, count))
    places = drawn + count * np.arange(_AT_ONCE)[:, None]
    counted = np.bincount(places.ravel(), minlength=count * _AT_ONCE)
    return counted.reshape(_AT_ONCE, count).astype(float)


DRAWS = 50_000
"""Choices of signs drawn where there are too many to go through: no p value is below 1 / DRAWS."""

MOST_DRAWS = 1_000_000
"""So many at most where p has to be smaller: half a minute for 300 figures of 1,000 questions."""

_MOST_SUMS = 17  # a power of 2; gone through one by one: 17 magnitudes, or any that repeat
_PERMUTATIONS_AT_ONCE = 2_000_000  # signs drawn at once, or sums of them
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
    """Return what p is at least where so many pairs differ: below 5% from 6 on."""
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
    block = max(1, _PERMUTATIONS_AT_ONCE // max(columns.shape))
    for done in range(0, draws, block):
        size = (min(block, draws - done), len(columns))
        signs = random.integers(0, 2, size=size, dtype=np.int8) * 2.0 - 1.0
        as_far += (np.abs(signs @ columns) >= observed).sum(axis=0)
    return as_far


_Z = 1.959963984540054  # 95%


def share_interval(good: float, of: float) -> tuple[float, float]:
    """Between what the share lies of which `good` of `of` (more than 0) were seen, 95% sure."""
    share = good / of
    spread = _Z * sqrt(share * (1 - share) / of + (_Z / (2 * of)) ** 2)
    middle, scale = share + _Z**2 / (2 * of), 1 + _Z**2 / of
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def holm(p_values: Sequence[float]) -> list[float]:
    """Each p value as if it were the only one, in the same order, at most 1.

    Of all tests in which nothing differs, with those below alpha being taken for differences, one
    or more is wrong in at most the share alpha of comparisons, however the tests depend on each
    other (Holm, Scandinavian Journal of Statistics 6, 1979).
    """
    order = sorted(range(len(p_values)), key=lambda test: (p_values[test], test))
    corrected = [1.0] * len(p_values)
    so_far = 0.0
    for rank, test in enumerate(order):
        so_far = max(so_far, p_values[test] * (len(p_values) - rank))
        corrected[test] = min(1.0, so_far)
    return corrected
