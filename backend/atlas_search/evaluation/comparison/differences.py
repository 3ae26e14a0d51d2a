"""The figures of two runs, in every slice, and whether they differ by more than chance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from atlas_search.evaluation.comparison.figures import RunFigures, better
from atlas_search.evaluation.comparison.pairs import paired_differences, paired_values
from atlas_search.evaluation.statistics.correction import holm
from atlas_search.evaluation.statistics.interval import SEED, mean_intervals
from atlas_search.evaluation.statistics.permutation import least_p_value, paired_p_values

ALPHA = 0.05
_NOT_TESTED = (1.0, 1.0)

Verdict = Literal["better", "worse", "no difference", "too few", "not tested"]
"""Of the second run. `too few` are questions of which all could differ and p be no less than alpha;
`not tested` is a figure that has no better side."""


@dataclass(frozen=True)
class Difference:
    """A figure in a slice of the `questions` that have it in both runs: its means `a` and `b`.

    `change` is b - a, and in 95 of 100 such sets of questions lies between `low` and `high`. `p`
    is that of this figure alone, `corrected` for the number of figures and slices tested; both are
    1 where it is not tested.
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
    """Every figure in every slice, in the order of slices and by name."""
    names = sorted({name for one in (*a.values(), *b.values()) for name in one.figures})
    places = [(slice_, name) for slice_ in slices for name in names]
    values = [paired_values(a, b, slices[slice_], name) for slice_, name in places]
    known = [(place, found) for place, found in zip(places, values, strict=True) if found]
    changes = [paired_differences(found) for _, found in known]
    tested = [test for test, ((_, name), _) in enumerate(known) if better(name) != "none"]
    found_p = p_pairs([changes[test] for test in tested], alpha, seed)
    p_values = dict(zip(tested, found_p, strict=True))
    ends = mean_intervals({str(test): change for test, change in enumerate(changes)})
    return [
        _difference(place, found, ends[str(test)], p_values.get(test, _NOT_TESTED), alpha)
        for test, (place, found) in enumerate(known)
    ]


def p_pairs(tests: Sequence[Sequence[float]], alpha: float, seed: int) -> list[tuple[float, float]]:
    """The p value of each of several tests alone, and that corrected for their number.

    One could be below alpha however many tests there are, up to half of alpha * MOST_DRAWS.
    """
    p_values = paired_p_values(tests, seed=seed, least=alpha / (2 * max(1, len(tests))))
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


def _verdict(
    figure: str, change: float, questions: int, significant: bool, alpha: float
) -> Verdict:
    if better(figure) == "none":
        return "not tested"
    if least_p_value(questions) >= alpha:
        return "too few"
    if not significant:
        return "no difference"
    return "worse" if is_worse(figure, change) else "better"
