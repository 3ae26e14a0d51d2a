"""Figures of two runs in pairs, and their differences with intervals and tests."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Literal

from atlas_search.evaluation.metrics import known_metric
from atlas_search.evaluation.run import EvalRun, JudgeUsed, RunSpec
from atlas_search.evaluation.scored import FAILED, MetricsSource, Scored, Source
from atlas_search.evaluation.statistics import (
    SEED,
    holm,
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

    `sources` names who gave a figure that a judge or a heuristic can give.
    """

    digest: str
    figures: Mapping[str, float]
    sources: Mapping[str, Source] = field(default_factory=dict)


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
    return QuestionFigures(digest, numbers, dict(one.sources))


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


ALPHA = 0.05

Verdict = Literal["better", "worse", "differs", "no difference", "too few"]
"""Of the second run. `too few` are questions of which all could differ and p be no less than alpha;
a figure that has no better side `differs`."""


@dataclass(frozen=True)
class Difference:
    """A figure in a slice of the `questions` that have it in both runs: its means `a` and `b`.

    `change` is b - a, and in 95 of 100 such sets of questions lies between `low` and `high`. `p`
    is that of this figure alone, `corrected` for the number of figures and slices tested.
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
    """Every figure of questions in every slice, in the order of slices and by name."""
    names = sorted({name for one in (*a.values(), *b.values()) for name in one.figures})
    places = [(slice_, name) for slice_ in slices for name in names]
    values = [paired_values(a, b, slices[slice_], name) for slice_, name in places]
    known = [(place, found) for place, found in zip(places, values, strict=True) if found]
    changes = [paired_differences(found) for _, found in known]
    p_values = p_pairs(changes, alpha, seed)
    ends = mean_intervals({str(test): change for test, change in enumerate(changes)})
    return [
        _difference(place, values, ends[str(test)], p_values[test], alpha)
        for test, (place, values) in enumerate(known)
    ]


def p_pairs(tests: Sequence[Sequence[float]], alpha: float, seed: int) -> list[tuple[float, float]]:
    """The p value of each of several tests alone, and that corrected for their number.

    Given are the differences of pairs. One could be below alpha however many tests there are, up to
    half of alpha * MOST_DRAWS.
    """
    least = alpha / (2 * max(1, len(tests)))
    p_values = paired_p_values(tests, seed=seed, least=least)
    return list(zip(p_values, correct(tests, p_values, alpha), strict=True))


def correct(
    tests: Sequence[Sequence[float]], p_values: Sequence[float], alpha: float
) -> list[float]:
    """The p values corrected for the number of those tests that could come out below alpha.

    The others have so few differing pairs that no choice of signs does, and get 1. Given the sizes
    of the differences it is settled which tests these are, so leaving them out of the number is
    no choice by result (Tarone, Biometrics 46, 1990).
    """
    able = [n for n, test in enumerate(tests) if least_p_value(sum(map(bool, test))) < alpha]
    corrected = [1.0] * len(p_values)
    for test, p in zip(able, holm([p_values[test] for test in able]), strict=True):
        corrected[test] = p
    return corrected


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
