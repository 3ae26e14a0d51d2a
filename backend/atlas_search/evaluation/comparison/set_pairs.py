"""A figure of many questions together in two runs, and whether it differs by more than chance.

The replies of a question are a pair, as in the tests of means: if the runs are alike, either could
have come from either. So the two replies of questions drawn by coins are swapped, and the figure of
both runs is computed anew.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from atlas_search.evaluation.comparison.figures import RunFigures
from atlas_search.evaluation.comparison.pairs import SAME
from atlas_search.evaluation.metrics.of_sets import (
    FIGURES,
    Outcome,
    Outcomes,
    counts,
    together,
)
from atlas_search.evaluation.statistics.interval import interval
from atlas_search.evaluation.statistics.permutation import least_p_value

DRAWS = 10_000
MOST_DRAWS = 100_000
"""Fewer than of means, for each computes the figure of all questions twice."""

_AT_ONCE = 2_000_000  # weights in memory
_ROUNDING = 1e-9

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class SetPairs:
    """What a figure of all questions is computed from in both runs.

    `place` is the question of each of the outcomes, and `second` 1 for those of the second run.
    `differing` are the places of questions with unlike outcomes: no other swap changes anything.
    """

    figure: str
    questions: int
    found: Outcomes
    place: NDArray[np.int64]
    second: FloatArray
    differing: NDArray[np.int64]

    @property
    def values(self) -> tuple[float, float]:
        """The figure in both runs."""
        once = np.ones((1, self.questions))
        a, b = self._both(once, np.zeros_like(once))
        return float(a[0]), float(b[0])

    @property
    def interval(self) -> tuple[float, float]:
        """Between what the second less the first lies, by the bootstrap over questions."""

        def change(weights: FloatArray) -> FloatArray:
            a, b = self._both(weights, np.zeros_like(weights))
            return np.asarray(b - a)

        low, high = interval(change, self.questions)
        return float(low), float(high)

    def p_value(self, seed: int, least: float) -> float:
        """That of a paired permutation test, two-sided; 1 where nothing differs.

        More is drawn where p would be as small as it can be, until it can be `least`.
        """
        if not len(self.differing):
            return 1.0
        random, (a, b) = np.random.default_rng(seed), self.values
        as_far, drawn = self._as_far(random, DRAWS, abs(b - a)), DRAWS
        more = min(MOST_DRAWS, ceil(1 / least) - 1 if least else MOST_DRAWS) - DRAWS
        if not as_far and more > 0:
            as_far, drawn = self._as_far(random, more, abs(b - a)), DRAWS + more
        return max((as_far + 1) / (drawn + 1), least_p_value(len(self.differing)))

    def _as_far(self, random: np.random.Generator, draws: int, observed: float) -> int:
        """In how many draws the runs are at least as far apart; where one has no figure, too."""
        as_far, block = 0, max(1, _AT_ONCE // len(self.found))
        for done in range(0, draws, block):
            count = min(block, draws - done)
            swapped = np.zeros((count, self.questions))
            coins = random.integers(0, 2, size=(count, len(self.differing)), dtype=np.int8)
            swapped[:, self.differing] = coins
            a, b = self._both(np.ones_like(swapped), swapped)
            as_far += int((~(np.abs(b - a) < observed - _ROUNDING)).sum())
        return as_far

    def _both(self, weights: FloatArray, swapped: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The figure of both runs for each row of weights and swaps of questions."""
        weight, swap = weights[:, self.place], swapped[:, self.place]
        of_second = np.abs(self.second - swap)
        of = FIGURES[self.figure]
        with np.errstate(invalid="ignore", divide="ignore"):
            return of(self.found, weight * (1 - of_second)), of(self.found, weight * of_second)


def set_pairs(figure: str, a: RunFigures, b: RunFigures, ids: Iterable[str]) -> SetPairs | None:
    """Of the questions of which both runs tell by the same measure what is right.

    None where either run has no answer to compute it from.
    """
    both = [
        (before, after)
        for id_ in ids
        if (before := a[id_].outcome) and (after := b[id_].outcome)
        if before.judged == after.judged and (counts(figure, before) or counts(figure, after))
    ]
    pairs = [(before, before if _same(before, after) else after) for before, after in both]
    sides = [
        (place, second, outcome)
        for place, pair in enumerate(pairs)
        for second, outcome in enumerate(pair)
        if counts(figure, outcome)
    ]
    if not all(any(o.answered for _, side, o in sides if side == second) for second in (0, 1)):
        return None
    return SetPairs(
        figure,
        len(pairs),
        together(figure, [outcome for _, _, outcome in sides]),
        np.array([place for place, _, _ in sides], dtype=np.int64),
        np.array([second for _, second, _ in sides], dtype=float),
        np.flatnonzero([before != after for before, after in pairs]),
    )


def unlike_outcomes(a: RunFigures, b: RunFigures, ids: Iterable[str]) -> int:
    """Questions of which a judge says in one run what is right, and the label in the other."""
    both = ((a[id_].outcome, b[id_].outcome) for id_ in ids)
    return sum(bool(x and y and x.judged != y.judged) for x, y in both)


def _same(a: Outcome, b: Outcome) -> bool:
    """But for rounding, as of figures of questions."""
    likely = (a.likelihood is None) == (b.likelihood is None)
    near: Sequence[tuple[float, float]] = (
        (a.right, b.right),
        (a.evidence, b.evidence),
        (a.likelihood or 0.0, b.likelihood or 0.0),
    )
    return a.answered == b.answered and likely and all(abs(x - y) < SAME for x, y in near)
