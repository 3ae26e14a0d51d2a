"""Figures of all questions together, in two runs whose replies are swapped question by question."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from atlas_search.evaluation.compare_figures import (
    QuestionFigures,
    SetPairs,
    differences,
    set_pairs,
)
from atlas_search.evaluation.confidence import FIGURES, AnswerOutcome, together

NAMES = tuple(FIGURES)
ANSWERED_WELL = AnswerOutcome(True, 1.0, 0.9, 0.9, judged=False)
ANSWERED_BADLY = AnswerOutcome(True, 0.0, 0.9, 0.9, judged=False)
DECLINED = AnswerOutcome(False, 0.0, 0.1, None, judged=False)

A = [AnswerOutcome(True, float(n % 3 > 0), n / 9, n / 9, judged=False) for n in range(8)]
B = [AnswerOutcome(True, float(n % 2), n / 10, n / 8, judged=False) for n in range(7)] + [DECLINED]


def run(outcomes: Sequence[AnswerOutcome | None]) -> dict[str, QuestionFigures]:
    return {f"q{n}": QuestionFigures(f"d{n}", {}, {}, one) for n, one in enumerate(outcomes)}


def paired(
    figure: str, a: Sequence[AnswerOutcome | None], b: Sequence[AnswerOutcome | None]
) -> SetPairs:
    found = set_pairs(figure, run(a), run(b), run(a))
    assert found is not None
    return found


def value(figure: str, outcomes: Sequence[AnswerOutcome]) -> float:
    found = together(figure, outcomes)
    return float(FIGURES[figure](found, np.ones((1, len(found))))[0])


@pytest.mark.parametrize("figure", NAMES)
def test_the_values_of_both_runs_are_their_own(figure: str) -> None:
    assert paired(figure, A, B).values == pytest.approx((value(figure, A), value(figure, B)))


@pytest.mark.parametrize("figure", NAMES)
def test_p_is_that_of_all_swaps(figure: str) -> None:
    """Of eight questions there are 256, gone through here one by one."""
    observed = abs(value(figure, B) - value(figure, A))
    as_far = []
    for swaps in product([False, True], repeat=len(A)):
        one = [b if swap else a for a, b, swap in zip(A, B, swaps, strict=True)]
        other = [a if swap else b for a, b, swap in zip(A, B, swaps, strict=True)]
        change = abs(value(figure, other) - value(figure, one))
        as_far.append(not change < observed - 1e-9)
    assert paired(figure, A, B).p_value(1, 0.05) == pytest.approx(np.mean(as_far), abs=0.02)


def test_an_answer_that_is_the_same_but_for_rounding_is_no_difference() -> None:
    near = [one._replace(evidence=one.evidence + 1e-7) for one in A]
    found = paired("precision_coverage", A, near)
    assert len(found.differing) == 0
    assert found.p_value(1, 0.05) == 1
    assert found.values[0] == found.values[1]


def test_what_one_run_does_not_tell_or_another_measure_does_is_left_out() -> None:
    judged = [A[0]._replace(judged=True), None, *B[2:]]
    assert paired("precision_coverage", A, judged).questions == len(A) - 2
    declined = [DECLINED] * len(A)
    assert set_pairs("precision_coverage", run(A), run(declined), run(A)) is None


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ([ANSWERED_WELL] * 20, [ANSWERED_BADLY] * 20, "worse"),
        ([ANSWERED_BADLY] * 20, [ANSWERED_WELL] * 20, "better"),
        ([ANSWERED_WELL] * 20, [ANSWERED_WELL] * 20, "no difference"),
        ([ANSWERED_WELL] * 5, [ANSWERED_BADLY] * 5, "too few"),
    ],
)
def test_a_comparison_tells_which_run_is_better(
    a: list[AnswerOutcome], b: list[AnswerOutcome], verdict: str
) -> None:
    found = {one.figure: one for one in differences(run(a), run(b), {"all": list(run(a))})}
    assert found.keys() == set(NAMES)
    one = found["coverage_at_90"]
    assert (one.verdict, one.questions) == (verdict, len(a))
    assert one.low <= one.change <= one.high
    assert one.corrected >= one.p


def test_runs_that_differ_by_chance_seldom_have_a_small_p() -> None:
    """In 200 pairs of runs of the same target about 10 are below 5%."""
    random = np.random.default_rng(7)

    def drawn() -> list[AnswerOutcome]:
        sure = random.random(30)
        right = random.random(30) < sure
        return [
            AnswerOutcome(True, float(good), float(each), float(each), judged=False)
            for each, good in zip(sure, right, strict=True)
        ]

    below = sum(
        paired("precision_coverage", drawn(), drawn()).p_value(seed, 1.0) < 0.05
        for seed in range(200)
    )
    assert below <= 20
