"""How far raters agree, beyond what chance would make of their habits.

Each is 1 where all agree, 0 where they agree as often as chance, and below 0 where less. A rating
is a number or a word; `None` is a rating that was not given.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np

from atlas_search.core.errors import RequestError
from atlas_search.stores.terms import FloatArray

Rating = str | float
Weights = Literal["none", "linear", "quadratic"]
Level = Literal["nominal", "ordinal", "interval"]


def cohen_kappa(
    a: Sequence[Rating],
    b: Sequence[Rating],
    *,
    weights: Weights = "none",
    scale: Sequence[Rating] = (),
) -> float:
    """Agreement of two raters over the same items, in order.

    With `weights` a disagreement counts for the steps between two ratings on the `scale`, or for
    their square; without a scale it is all ratings given, sorted. Cohen, Educational and
    Psychological Measurement 20 (1960), and Psychological Bulletin 70 (1968) for weights. Raises
    RequestError if there is no item, a rating is not on the scale, or all ratings are the same.
    """
    known = list(scale) or _sorted({*a, *b})
    _check_on_scale({*a, *b}, known)
    place = {rating: number for number, rating in enumerate(known)}
    observed = np.zeros((len(known), len(known)))
    for first, second in zip(a, b, strict=True):
        observed[place[first], place[second]] += 1
    _check_items(len(a))
    by_chance = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / len(a)
    cost = _costs(len(known), weights)
    return _beyond_chance(float((cost * observed).sum()), float((cost * by_chance).sum()))


def fleiss_kappa(items: Sequence[Sequence[Rating]]) -> float:
    """Agreement of as many ratings of each item, no matter whose.

    `items` are the ratings of each. Fleiss, Psychological Bulletin 76 (1971). Raises RequestError
    if there is no item, one has fewer than two ratings or another number of them, or all ratings
    are the same.
    """
    _check_items(len(items))
    raters = len(items[0])
    if raters < 2 or any(len(ratings) != raters for ratings in items):
        raise RequestError("Fleiss' kappa needs two or more ratings, as many of each item.")
    counts = [Counter(ratings) for ratings in items]
    agreeing = sum(n * (n - 1) for count in counts for n in count.values())
    observed = agreeing / (len(items) * raters * (raters - 1))
    shares = [n / (len(items) * raters) for n in sum(counts, Counter()).values()]
    return _beyond_chance(1 - observed, 1 - sum(share**2 for share in shares))


def krippendorff_alpha(
    items: Sequence[Sequence[Rating | None]], *, level: Level = "nominal"
) -> float:
    """Agreement of any number of raters, some of whose ratings are missing.

    `items` are the ratings of each. Ratings of an `ordinal` or `interval` level are numbers.
    Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), part D. Raises RequestError if
    no item has two ratings, or all ratings are the same.
    """
    given = [[rating for rating in ratings if rating is not None] for ratings in items]
    paired = [ratings for ratings in given if len(ratings) > 1]
    _check_items(len(paired))
    known = _sorted({rating for ratings in paired for rating in ratings})
    coincidences = _coincidences(paired, {rating: n for n, rating in enumerate(known)})
    totals = coincidences.sum(axis=1)
    by_chance = (np.outer(totals, totals) - np.diag(totals)) / (totals.sum() - 1)
    distances = _distances(known, totals, level)
    return _beyond_chance(
        float((distances * coincidences).sum()), float((distances * by_chance).sum())
    )


def _coincidences(items: Sequence[Sequence[Rating]], place: Mapping[Rating, int]) -> FloatArray:
    """How often two ratings stand in one item; an item of m ratings counts for m."""
    found = np.zeros((len(place), len(place)))
    for ratings in items:
        counts = np.zeros(len(place))
        for rating in ratings:
            counts[place[rating]] += 1
        found += (np.outer(counts, counts) - np.diag(counts)) / (len(ratings) - 1)
    return found


def _distances(known: Sequence[Rating], totals: FloatArray, level: Level) -> FloatArray:
    """Squared, between each two ratings; those of `ordinal` count the ratings in between."""
    if level == "nominal":
        return _costs(len(known), "none")
    if not all(isinstance(rating, int | float) for rating in known):
        raise RequestError(f"Ratings of the level {level} are numbers.")
    if level == "interval":
        at = np.asarray(known, dtype=float)
    else:
        steps = [(before + after) / 2 for before, after in pairwise(totals)]
        at = np.concatenate([[0.0], np.cumsum(steps)])
    return np.asarray(np.subtract.outer(at, at) ** 2)


def _costs(size: int, weights: Weights) -> FloatArray:
    steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(float)
    power = {"none": 0, "linear": 1, "quadratic": 2}[weights]
    return np.asarray(np.where(steps > 0, steps**power, 0.0))


def _beyond_chance(disagreement: float, by_chance: float) -> float:
    if by_chance == 0:
        raise RequestError(
            "All ratings are the same: chance would agree as well, so agreement says nothing."
        )
    return 1 - disagreement / by_chance


def _check_items(number: int) -> None:
    if not number:
        raise RequestError("No item has two ratings to compare.")


def _check_on_scale(given: set[Rating], scale: Sequence[Rating]) -> None:
    strange = given - set(scale)
    if strange:
        known = ", ".join(map(str, scale))
        raise RequestError(f"{_sorted(strange)[0]!r} is not on the scale: {known}.")


def _sorted(ratings: set[Rating]) -> list[Rating]:
    """Numbers by size, then words."""
    return sorted(ratings, key=lambda r: (1, 0.0, r) if isinstance(r, str) else (0, r, ""))
