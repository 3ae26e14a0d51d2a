"""Whether figures differ by more than chance: by hand, by scipy, and over many null comparisons."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from atlas_search.evaluation.compare_figures import (
    QuestionFigures,
    correct,
    differences,
    unlike_sources,
)
from atlas_search.evaluation.scored import Source
from atlas_search.evaluation.statistics import holm, least_p_value, mean_interval, paired_p_values

EIGHT = [0.5, 0.1, -0.2, 0.3, 0.25, 0.05, -0.15, 0.4]
MANY = [((n * 37) % 100 - 42) / 100 + n / 10_000 for n in range(60)]


def p_value(changes: Sequence[float], **options: int) -> float:
    (p,) = paired_p_values([changes], **options)
    return p


def by_enumeration(changes: Sequence[float]) -> float:
    observed = abs(sum(changes))
    signs = list(product((1, -1), repeat=len(changes)))
    sums = [abs(sum(s * c for s, c in zip(sign, changes, strict=True))) for sign in signs]
    return sum(one >= observed - 1e-9 for one in sums) / len(signs)


def test_p_is_the_share_of_signs_whose_sum_is_as_far_from_0() -> None:
    # of the four sums 3, 1, -1, -3 two are as far as 3, and all as far as 1
    assert p_value([1, 2]) == 2 / 4
    assert p_value([-1, 2]) == 4 / 4
    assert p_value([1, 1, 1, 1, 1, 1]) == pytest.approx(2 / 2**6)
    assert p_value([1, 1, 1, 1, 1, -1]) == pytest.approx(2 * (1 + 6) / 2**6)


def test_eight_pairs_are_gone_through_one_by_one() -> None:
    assert p_value(EIGHT) == pytest.approx(by_enumeration(EIGHT))


def test_p_is_that_of_scipy() -> None:
    found = stats.permutation_test(
        (EIGHT, [0.0] * 8), lambda x, y: np.mean(x - y), permutation_type="samples"
    )
    assert p_value(EIGHT) == pytest.approx(found.pvalue)


def test_of_values_that_are_0_or_1_it_is_the_sign_test_of_any_number() -> None:
    changes = [1.0] * 620 + [-1.0] * 540 + [0.0] * 300
    assert p_value(changes) == pytest.approx(stats.binomtest(540, 1160).pvalue)


def test_drawn_signs_come_near_the_exact_value() -> None:
    scale = np.sqrt(np.sum(np.square(MANY)))
    normal = 2 * stats.norm.sf(abs(np.sum(MANY)) / scale)
    assert p_value(MANY) == pytest.approx(normal, abs=0.01)


def test_the_same_seed_gives_the_same_p() -> None:
    once, other = p_value(MANY, seed=1), p_value(MANY, seed=2)
    assert once != other
    assert once == pytest.approx(other, abs=0.01)
    assert once == p_value(MANY, seed=1)


def test_thousands_of_pairs_that_all_differ_are_drawn() -> None:
    changes = [((n * 7919) % 5003) / 5003 - 0.499 for n in range(3000)]
    expected = 2 * stats.norm.sf(abs(np.sum(changes)) / np.sqrt(np.sum(np.square(changes))))
    assert p_value(changes, draws=2000) == pytest.approx(expected, abs=0.04)


def test_no_drawn_p_is_0() -> None:
    assert p_value([abs(c) + 0.01 for c in MANY], draws=999) == 1 / 1000


def test_more_signs_are_drawn_where_p_could_not_be_as_small_as_it_has_to() -> None:
    rare, often = [abs(c) + 0.01 for c in MANY], [c + 0.001 for c in MANY]
    usual = paired_p_values([rare, often], draws=999)
    assert paired_p_values([rare, often], draws=999, least=1e-5) == [1 / 100_000, usual[1]]
    assert paired_p_values([rare, often], draws=999, least=0) == usual  # no number would do


@pytest.mark.parametrize("changes", [[], [0.0], [0.0] * 50])
def test_where_nothing_differs_p_is_1(changes: list[float]) -> None:
    assert p_value(changes) == 1


@settings(max_examples=50)
@given(st.lists(st.sampled_from([-1, -0.5, -1 / 3, 0, 1 / 3, 0.5, 1]), max_size=10))
def test_p_is_that_of_going_through_all_signs(changes: list[float]) -> None:
    assert p_value(changes) == pytest.approx(by_enumeration(changes))
    assert p_value(changes) == pytest.approx(p_value([-c for c in changes]))
    assert p_value(changes) >= least_p_value(sum(map(bool, changes))) - 1e-12


def test_the_interval_of_a_difference_is_near_that_of_scipy() -> None:
    found = stats.bootstrap((MANY,), np.mean, method="percentile", rng=1)
    assert mean_interval(MANY) == pytest.approx(tuple(found.confidence_interval), abs=0.01)
    assert mean_interval(MANY) == mean_interval(MANY)
    assert mean_interval([0.0] * 20) == (0, 0)


def test_holm_multiplies_the_smallest_by_all_the_next_by_one_less() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([3 * 0.01, 2 * 0.03, 2 * 0.03])
    assert holm([0.5, 0.6]) == [1, 1]
    assert holm([0.02]) == [0.02]
    assert holm([]) == []


def test_tests_that_could_not_come_out_are_not_counted() -> None:
    able, unable, same = [1.0] * 8, [1.0] * 5 + [0.0] * 20, [0.0] * 30
    tests = [able, unable, same]
    assert correct(tests, paired_p_values(tests), 0.05) == pytest.approx([2 / 2**8, 1, 1])


def null_rejections(random: np.random.Generator, figures: int, questions: int) -> bool:
    """Whether any figure of a comparison in which nothing differs comes out below 5%.

    A third each is of 0 or 1, of thirds, and of any value; figures depend on each other.
    """
    ease = random.random((questions, 1))
    a, b = (ease + random.normal(0, 0.3, (questions, figures)) for _ in range(2))
    kinds = [lambda x: (x > 0.5) * 1.0, lambda x: np.round(x * 3) / 3, lambda x: x]
    changes = [kinds[n % 3](b[:, n]) - kinds[n % 3](a[:, n]) for n in range(figures)]
    return min(correct(changes, paired_p_values(changes, draws=2000), 0.05)) < 0.05


def test_of_300_comparisons_without_a_difference_few_have_one() -> None:
    random = np.random.default_rng(7)
    wrong = sum(null_rejections(random, figures=12, questions=40) for _ in range(300))
    assert wrong <= 300 * 0.05 + 1.65 * np.sqrt(300 * 0.05 * 0.95)  # 95 of 100 such seeds


def test_a_difference_of_a_fifth_of_the_questions_is_mostly_seen() -> None:
    random = np.random.default_rng(7)
    seen = 0
    for _ in range(100):
        planted = np.where(random.random(100) < 0.2, -1.0, 0.0) + (random.random(100) < 0.03)
        others = [random.choice([-1.0, 0.0, 1.0], 100, p=[0.1, 0.8, 0.1]) for _ in range(11)]
        tests = [list(planted), *map(list, others)]
        seen += correct(tests, paired_p_values(tests), 0.05)[0] < 0.05
    assert seen >= 80


NAMES = ("f1", *(f"recall@{n}" for n in range(1, 2700)))


def made(values: Sequence[float], figure: str = "recall") -> dict[str, QuestionFigures]:
    return {f"q{n}": QuestionFigures("same", {figure: v}) for n, v in enumerate(values)}


@pytest.mark.parametrize(
    ("figure", "a", "b", "verdict"),
    [
        ("recall", [1.0] * 10, [0.0] * 10, "worse"),
        ("recall", [0.0] * 10, [1.0] * 10, "better"),
        ("seconds", [1.0] * 10, [2.0] * 10, "worse"),
        ("no metric", [0.0] * 10, [1.0] * 10, "differs"),
        ("kept_share.coast", [0.0] * 10, [1.0] * 10, "differs"),
        ("kept_share.coast", [0.0] * 10, [0.0] * 10, "no difference"),
        ("recall", [1.0] * 10, [1.0] * 5 + [0.0] * 5, "no difference"),
        ("recall", [1.0] * 10, [1.0 + 1e-7] * 10, "no difference"),
        ("recall", [1.0] * 5, [0.0] * 5, "too few"),
    ],
)
def test_the_verdict_is_by_the_better_side_of_the_figure(figure, a, b, verdict) -> None:
    ids = [f"q{n}" for n in range(len(a))]
    (found,) = differences(made(a, figure), made(b, figure), {"all": ids})
    assert found.verdict == verdict
    assert (found.a, found.b) == pytest.approx((sum(a) / len(a), sum(b) / len(b)))
    assert found.low <= found.change <= found.high


def test_one_figure_of_thousands_can_differ() -> None:
    a = {f"q{n}": QuestionFigures("", dict.fromkeys(NAMES, 0.5)) for n in range(60)}
    b = {
        id_: QuestionFigures("", dict.fromkeys(NAMES, 0.5 + (-1) ** n / 4) | {"f1": 0.1 + n / 1e3})
        for n, id_ in enumerate(a)
    }
    found = {one.figure: one for one in differences(a, b, {"all": list(a)})}
    assert (len(found), found["f1"].verdict) == (len(NAMES), "worse")
    assert {one.verdict for name, one in found.items() if name != "f1"} == {"no difference"}


def test_what_has_no_better_side_is_tested_and_corrected_with_the_rest() -> None:
    shares = {f"kept_share.c{n}": float(n) for n in range(1, 3)}
    a = {f"q{n}": QuestionFigures("", {"f1": 1.0} | shares) for n in range(8)}
    b = {f"q{n}": QuestionFigures("", {"f1": 0.0} | dict.fromkeys(shares, 0.5)) for n in range(8)}
    found = {one.figure: one for one in differences(a, b, {"all": list(a)})}
    assert found["f1"].p == pytest.approx(2 / 2**8)
    assert found["f1"].corrected == pytest.approx(3 * 2 / 2**8)  # of three figures
    share = found["kept_share.c2"]
    assert (share.change, share.low, share.high) == (-1.5, -1.5, -1.5)
    assert (share.p, share.verdict) == (pytest.approx(2 / 2**8), "differs")


def test_figures_of_other_sources_are_not_compared() -> None:
    def of(values: Sequence[float], *sources: Source) -> dict[str, QuestionFigures]:
        return {
            f"q{n}": QuestionFigures("", {"faithfulness": v, "recall": v}, {"faithfulness": source})
            for n, (v, source) in enumerate(zip(values, sources, strict=True))
        }

    a = of([0, 0, 0, 1], "heuristic", "heuristic", "judge", "judge")
    b = of([1, 1, 1, 0], "judge", "heuristic", "judge", "heuristic")
    found = {one.figure: one for one in differences(a, b, {"all": list(a)})}
    assert (found["faithfulness"].questions, found["faithfulness"].change) == (2, 1)
    assert found["recall"].questions == 4
    assert unlike_sources(a, b, list(a)) == {"faithfulness": 2}


def test_a_figure_is_compared_over_the_questions_that_have_it_in_both() -> None:
    a = made([1, 0, 1]) | {"q3": QuestionFigures("same", {"f1": 1.0})}
    b = made([0, 0]) | {"q3": QuestionFigures("same", {"f1": 0.5})}
    parts = {"all": ["q0", "q1", "q3"], "corpus.c": ["q3"], "corpus.d": []}
    found = {(d.slice, d.figure): d for d in differences(a, b, parts)}
    assert set(found) == {("all", "recall"), ("all", "f1"), ("corpus.c", "f1")}
    recall = found["all", "recall"]
    assert (recall.questions, recall.a, recall.b, recall.change) == (2, 1 / 2, 0, -1 / 2)
