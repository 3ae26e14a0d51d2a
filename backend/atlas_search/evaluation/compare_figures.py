"""Figures of two runs in pairs, and their differences with intervals and tests."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, isfinite
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from atlas_search.evaluation.confidence import (
    FIGURES,
    AnswerOutcome,
    Outcomes,
    counts,
    outcome_of,
    together,
)
from atlas_search.evaluation.metrics import known_metric
from atlas_search.evaluation.run import EvalRun, JudgeUsed, RunSpec
from atlas_search.evaluation.scored import FAILED, MetricsSource, Scored, Source
from atlas_search.evaluation.statistics import (
    SEED,
    FloatArray,
    holm,
    interval,
    least_p_value,
    mean_intervals,
    paired_p_values,
)

Better = Literal["higher", "lower", "none"]

SECONDS = "seconds"
"""Until the reply came; no metric, since it says nothing of the target alone."""


@dataclass(frozen=True)
class QuestionFigures:
    """The figures of a question by name, and the digest of its text.

    `sources` names who gave a figure that a judge or a heuristic can give. Figures of all questions
    together are computed from the `outcome`, None where it is not known or not kept.
    """

    digest: str
    figures: Mapping[str, float]
    sources: Mapping[str, Source] = field(default_factory=dict)
    outcome: AnswerOutcome | None = None


RunFigures = Mapping[str, QuestionFigures]
"""By the ids of labels, in their order."""


@dataclass(frozen=True)
class Baseline:
    """Baseline of a run: the figures of another, what was asked of whom, and who judged."""

    spec: RunSpec
    figures: RunFigures
    metrics_source: MetricsSource
    judge: JudgeUsed | None


def run_figures(run: EvalRun) -> dict[str, QuestionFigures]:
    """Return the figures of each question, with `seconds` where a reply came."""
    return {one.label.id: question_figures(one) for one in run.scored}


def is_known(figure: str) -> bool:
    """Return whether some run could have this figure."""
    return figure == SECONDS or known_metric(figure) is not None


def better(figure: str) -> Better:
    """Return the better direction of a figure; `none` where its metric is not known."""
    if figure == SECONDS:
        return "lower"
    metric = known_metric(figure)
    return metric.better if metric else "none"


def question_figures(one: Scored) -> QuestionFigures:
    """Return the figures of one question that are numbers."""
    digest = hashlib.sha256(one.label.question.encode()).hexdigest()[:8]
    came = {} if one.reply.error else {SECONDS: one.reply.seconds}
    # a run that an older version scored has no `failed`
    figures = {FAILED: float(bool(one.reply.error)), **one.figures, **came}
    numbers = {name: value for name, value in figures.items() if isfinite(value)}
    return QuestionFigures(digest, numbers, dict(one.sources), outcome_of(one))


SAME = 1e-5
"""Figures of a question that differ by less are the same: other threads or batches add numbers in
another order, and a million questions of such differences would be significant."""


@dataclass(frozen=True)
class QuestionPairs:
    """The ids of labels whose question both runs were asked in the same words, in order.

    `only_a`, `only_b` and `reworded` are numbers of questions that are left out.
    """

    common: tuple[str, ...]
    only_a: int
    only_b: int
    reworded: int


NO_PAIRS = QuestionPairs((), 0, 0, 0)


def pairs(a: RunFigures, b: RunFigures) -> QuestionPairs:
    """Return what can be compared."""
    both = [id_ for id_ in a if id_ in b]
    common = tuple(id_ for id_ in both if a[id_].digest == b[id_].digest)
    return QuestionPairs(common, len(a) - len(both), len(b) - len(both), len(both) - len(common))


def paired_values(
    a: RunFigures, b: RunFigures, ids: Iterable[str], figure: str
) -> list[tuple[float, float]]:
    """The figure in both runs, of those questions that have it in both from the same source."""
    like = (id_ for id_ in ids if _same_source(a[id_], b[id_], figure))
    known = ((a[id_].figures.get(figure), b[id_].figures.get(figure)) for id_ in like)
    return [(before, after) for before, after in known if before is not None and after is not None]


def unlike_sources(a: RunFigures, b: RunFigures, ids: Iterable[str]) -> dict[str, int]:
    """Count by figure the questions that have it in both runs from different sources."""
    counts = Counter(
        name
        for id_ in ids
        for name in a[id_].figures.keys() & b[id_].figures.keys()
        if not _same_source(a[id_], b[id_], name)
    )
    return dict(sorted(counts.items()))


def paired_differences(values: Iterable[tuple[float, float]]) -> list[float]:
    """Return what was added to each figure; 0 if it is less than SAME."""
    changes = (after - before for before, after in values)
    return [change if abs(change) >= SAME else 0.0 for change in changes]


def _same_source(a: QuestionFigures, b: QuestionFigures, figure: str) -> bool:
    """Return what a judge says is another measure than what shared words do, under one name."""
    return a.sources.get(figure) == b.sources.get(figure)


DRAWS = 10_000
MOST_DRAWS = 100_000
"""Fewer than of means, for each computes the figure of all questions twice."""

_AT_ONCE = 2_000_000  # weights in memory
_ROUNDING = 1e-9


@dataclass(frozen=True)
class SetPairs:
    """Basis of a figure of all questions, in both runs.

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
        """Return that of a paired permutation test, two-sided; 1 where nothing differs.

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
    """Return the outcomes that both runs tell by the same measure.

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


def _same(a: AnswerOutcome, b: AnswerOutcome) -> bool:
    """But for rounding, as of figures of questions."""
    likely = (a.likelihood is None) == (b.likelihood is None)
    near: Sequence[tuple[float, float]] = (
        (a.right, b.right),
        (a.evidence, b.evidence),
        (a.likelihood or 0.0, b.likelihood or 0.0),
    )
    return a.answered == b.answered and likely and all(abs(x - y) < SAME for x, y in near)


ALPHA = 0.05

Verdict = Literal["better", "worse", "differs", "no difference", "too few"]
"""Of the second run. `too few` are questions of which all could differ and p be no less than alpha;
a figure that has no better side `differs`."""


@dataclass(frozen=True)
class Difference:
    """A figure in a slice of the `questions` that have it in both runs: its means `a` and `b`.

    `change` is b - a, and in 95 of 100 such sets of questions lies between `low` and `high`. `p`
    is that of this figure alone, `corrected` for the number of figures and slices tested. A figure
    of all questions together is no mean: `a` and `b` are its values.
    """

    figure: str
    slice: str
    questions: int
    a: float
    b: float
    change: float
    low: float
    high: float
    p: float
    corrected: float
    verdict: Verdict


def differences(
    a: RunFigures,
    b: RunFigures,
    slices: Mapping[str, Sequence[str]],
    *,
    alpha: float = ALPHA,
    seed: int = SEED,
) -> list[Difference]:
    """Every figure in every slice, in the order of slices and by name, then those of all questions
    of the slice together."""
    names = sorted({name for one in (*a.values(), *b.values()) for name in one.figures})
    places = [(slice_, name) for slice_ in slices for name in names]
    values = [paired_values(a, b, slices[slice_], name) for slice_, name in places]
    known = [(place, found) for place, found in zip(places, values, strict=True) if found]
    changes = [paired_differences(found) for _, found in known]
    sets = [
        (slice_, pairs)
        for slice_, ids in slices.items()
        for name in FIGURES
        if (pairs := set_pairs(name, a, b, ids))
    ]
    p_values = p_pairs([*changes, *(pairs for _, pairs in sets)], alpha, seed)
    ends = mean_intervals({str(test): change for test, change in enumerate(changes)})
    found = [
        _difference(place, values, ends[str(test)], p_values[test], alpha)
        for test, (place, values) in enumerate(known)
    ]
    found += [
        _difference_of_sets(slice_, pairs, p, alpha)
        for (slice_, pairs), p in zip(sets, p_values[len(known) :], strict=True)
    ]
    order = list(slices)
    return sorted(found, key=lambda one: order.index(one.slice))


Test = Sequence[float] | SetPairs
"""The differences of pairs, or both runs' replies to the questions of a figure of all together."""


def p_pairs(tests: Sequence[Test], alpha: float, seed: int) -> list[tuple[float, float]]:
    """The p value of each of several tests alone, and that corrected for their number.

    One could be below alpha however many tests there are, up to half of alpha * MOST_DRAWS.
    """
    least = alpha / (2 * max(1, len(tests)))
    of_means = [test for test in tests if not isinstance(test, SetPairs)]
    means = iter(paired_p_values(of_means, seed=seed, least=least))
    p_values = [
        test.p_value(seed, least) if isinstance(test, SetPairs) else next(means) for test in tests
    ]
    return list(zip(p_values, correct(tests, p_values, alpha), strict=True))


def correct(tests: Sequence[Test], p_values: Sequence[float], alpha: float) -> list[float]:
    """The p values corrected for the number of those tests that could come out below alpha.

    The others have so few differing pairs that no choice of signs does, and get 1. Given the sizes
    of the differences it is settled which tests these are, so leaving them out of the number is
    no choice by result (Tarone, Biometrics 46, 1990).
    """
    able = [n for n, test in enumerate(tests) if least_p_value(_differing(test)) < alpha]
    corrected = [1.0] * len(p_values)
    for test, p in zip(able, holm([p_values[test] for test in able]), strict=True):
        corrected[test] = p
    return corrected


def _differing(test: Test) -> int:
    return len(test.differing) if isinstance(test, SetPairs) else sum(map(bool, test))


def is_worse(figure: str, change: float) -> bool:
    """Return whether a figure that changed by so much is worse than before."""
    return change * {"higher": -1, "lower": 1, "none": 0}[better(figure)] > 0


def _difference(
    place: tuple[str, str],
    values: Sequence[tuple[float, float]],
    ends: tuple[float, float],
    p_values: tuple[float, float],
    alpha: float,
) -> Difference:
    slice_, figure = place
    changes = paired_differences(values)
    change = sum(changes) / len(changes)
    p, corrected = p_values
    return Difference(
        figure=figure,
        slice=slice_,
        questions=len(values),
        a=sum(before for before, _ in values) / len(values),
        b=sum(after for _, after in values) / len(values),
        change=change,
        low=ends[0],
        high=ends[1],
        p=p,
        corrected=corrected,
        verdict=_verdict(figure, change, len(values), corrected < alpha, alpha),
    )


def _difference_of_sets(
    slice_: str, pairs: SetPairs, p_values: tuple[float, float], alpha: float
) -> Difference:
    a, b = pairs.values
    low, high = pairs.interval
    p, corrected = p_values
    verdict = _verdict(pairs.figure, b - a, pairs.questions, corrected < alpha, alpha)
    return Difference(
        pairs.figure, slice_, pairs.questions, a, b, b - a, low, high, p, corrected, verdict
    )


def _verdict(
    figure: str, change: float, questions: int, significant: bool, alpha: float
) -> Verdict:
    if least_p_value(questions) >= alpha:
        return "too few"
    if not significant:
        return "no difference"
    if better(figure) == "none":
        return "differs"
    return "worse" if is_worse(figure, change) else "better"
