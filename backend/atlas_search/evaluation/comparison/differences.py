"""The figures of two runs, in every slice, and whether they differ by more than chance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from atlas_search.evaluation.comparison.figures import RunFigures, better
from atlas_search.evaluation.comparison.pairs import paired_differences, paired_values
from atlas_search.evaluation.comparison.set_pairs import SetPairs, set_pairs
from atlas_search.evaluation.metrics.of_sets import FIGURES
from atlas_search.evaluation.statistics.correction import holm
from atlas_search.evaluation.statistics.interval import SEED, mean_intervals
from atlas_search.evaluation.statistics.permutation import least_p_value, paired_p_values

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
    """Whether a figure that changed by so much is worse than before."""
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
