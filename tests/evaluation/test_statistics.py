"""Agreement, p values and intervals: by hand, by published examples, and by scipy."""

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from atlas_search.core.errors import RequestError
from atlas_search.evaluation.compare_figures import (
    correct,
)
from atlas_search.evaluation.statistics import (
    cohen_kappa,
    holm,
    interval,
    krippendorff_alpha,
    least_p_value,
    mean_intervals,
    paired_p_values,
    share_interval,
)

# Krippendorff (2011), part C: four observers, twelve units; `.` was not rated
OBSERVERS = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
UNITS = [[int(rating) for rating in unit if rating != "."] for unit in zip(*OBSERVERS, strict=True)]
A = [1, 2, 3, 4, 5, 2, 2, 4, 1, 5]
B = [1, 3, 3, 4, 4, 2, 1, 5, 1, 2]


@pytest.mark.parametrize(("squared", "weights"), [(False, None), (True, "quadratic")])
def test_cohens_kappa_is_that_of_scikit_learn(squared: bool, weights: str | None) -> None:
    expected = cohen_kappa_score(A, B, weights=weights)
    assert cohen_kappa(A, B, squared=squared) == pytest.approx(expected)


def test_a_step_that_nobody_gave_counts_as_one() -> None:
    wider = cohen_kappa_score([1, 3, 4], [3, 3, 1], weights="quadratic", labels=[1, 2, 3, 4])
    assert cohen_kappa([1, 3, 4], [3, 3, 1], squared=True) == pytest.approx(wider)


def test_krippendorffs_alpha_is_that_of_the_published_example() -> None:
    assert krippendorff_alpha(UNITS) == pytest.approx(0.815, abs=0.0005)


def test_alpha_of_two_raters_is_by_hand() -> None:
    # 1 1, 1 2, 2 2: of the four 1s and 2s 2 of 6 values disagree; by chance 2 * 3 * 3 / 5
    assert krippendorff_alpha([[1, 1], [1, 2], [2, 2]]) == pytest.approx(1 - 2 / (2 * 3 * 3 / 5))


def test_an_item_with_one_rating_says_nothing() -> None:
    both = [[1, 1], [1, 2], [2, 2]]
    assert krippendorff_alpha([*both, [1], []]) == krippendorff_alpha(both)


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


def test_of_values_that_are_0_or_1_it_is_the_sign_test_of_any_number() -> None:
    changes = [1.0] * 620 + [-1.0] * 540 + [0.0] * 300
    assert p_value(changes) == pytest.approx(stats.binomtest(540, 1160).pvalue)


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
    """Compare where nothing differs: does any figure come out below 5%?

    A third each is of 0 or 1, of thirds, and of any value; figures depend on each other.
    """
    ease = random.random((questions, 1))
    a, b = (ease + random.normal(0, 0.3, (questions, figures)) for _ in range(2))
    kinds = [lambda x: (x > 0.5) * 1.0, lambda x: np.round(x * 3) / 3, lambda x: x]
    changes = [kinds[n % 3](b[:, n]) - kinds[n % 3](a[:, n]) for n in range(figures)]
    return min(correct(changes, paired_p_values(changes, draws=2000), 0.05)) < 0.05


@pytest.mark.thorough
def test_of_300_comparisons_without_a_difference_few_have_one() -> None:
    random = np.random.default_rng(7)
    wrong = sum(null_rejections(random, figures=12, questions=40) for _ in range(300))
    assert wrong <= 300 * 0.05 + 1.65 * np.sqrt(300 * 0.05 * 0.95)  # 95 of 100 such seeds


@pytest.mark.thorough
def test_a_difference_of_a_fifth_of_the_questions_is_mostly_seen() -> None:
    random = np.random.default_rng(7)
    seen = 0
    for _ in range(100):
        planted = np.where(random.random(100) < 0.2, -1.0, 0.0) + (random.random(100) < 0.03)
        others = [random.choice([-1.0, 0.0, 1.0], 100, p=[0.1, 0.8, 0.1]) for _ in range(11)]
        tests = [list(planted), *map(list, others)]
        seen += correct(tests, paired_p_values(tests), 0.05)[0] < 0.05
    assert seen >= 80


def test_drawn_signs_come_near_the_exact_value() -> None:
    for changes, draws, near in (
        (MANY, 10_000, 0.01),
        ([((n * 7919) % 5003) / 5003 - 0.499 for n in range(3000)], 2000, 0.04),
    ):
        scale = np.sqrt(np.sum(np.square(changes)))
        normal = 2 * stats.norm.sf(abs(np.sum(changes)) / scale)
        assert p_value(changes, draws=draws) == pytest.approx(normal, abs=near)
    once, other = p_value(MANY, seed=1), p_value(MANY, seed=2)
    assert once != other
    assert once == pytest.approx(other, abs=0.01)
    assert once == p_value(MANY, seed=1)
    assert p_value([abs(c) + 0.01 for c in MANY], draws=999) == 1 / 1000  # none is 0


def test_cohens_kappa_is_the_agreement_beyond_chance() -> None:
    # 50 grants, read by two: both yes 20, both no 15, only the first yes 5, only the second 10
    first = [1] * 25 + [0] * 25
    second = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    agreed, by_chance = 35 / 50, 25 / 50 * 30 / 50 + 25 / 50 * 20 / 50
    assert cohen_kappa(first, second) == pytest.approx((agreed - by_chance) / (1 - by_chance))


def test_all_that_agree_have_1_and_all_that_do_not_have_less_than_0() -> None:
    assert cohen_kappa([1, 2, 1, 2], [1, 2, 1, 2]) == krippendorff_alpha([[1, 1], [2, 2]]) == 1
    assert cohen_kappa([1, 2, 1, 2], [2, 1, 2, 1]) == -1
    assert krippendorff_alpha([[1, 2], [2, 1]]) < 0


@pytest.mark.parametrize(
    ("agreement", "problem"),
    [
        (lambda: krippendorff_alpha([[1, 1], [1, 1]]), "All ratings are the same"),
        (lambda: cohen_kappa([1, 1], [1, 1]), "All ratings are the same"),
        (lambda: krippendorff_alpha([]), "No item has two ratings"),
        (lambda: cohen_kappa([], []), "No item"),
    ],
)
def test_ratings_that_cannot_be_compared_are_told(
    agreement: Callable[[], float], problem: str
) -> None:
    with pytest.raises(RequestError, match=problem):
        agreement()


VALUES = {"half": [0.0, 1.0] * 20, "rare": [0.0] * 36 + [1.0] * 4, "few": [0.2, 0.4, 0.9]}


def test_means_that_are_drawn_together_have_their_own_intervals() -> None:
    together = mean_intervals(VALUES)
    for name, values in VALUES.items():
        assert together[name] == pytest.approx(mean_intervals({"": values})[""])
        low, high = together[name]
        assert min(values) <= low < np.mean(values) < high <= max(values)
    half_width = 1.96 * (0.5 * 0.5 / 40) ** 0.5
    assert together["half"] == pytest.approx((0.5 - half_width, 0.5 + half_width), abs=0.03)
    theirs = stats.bootstrap((MANY,), np.mean, method="percentile", rng=1).confidence_interval
    result = mean_intervals({"many": MANY, "same": [0.5] * 10})
    assert result["many"] == pytest.approx(tuple(theirs), abs=0.01)
    assert result["same"] == pytest.approx((0.5, 0.5))


def test_a_sample_that_says_nothing_is_left_out() -> None:
    def first_or_nothing(weights: np.ndarray) -> np.ndarray:
        return np.where(weights[:, 0] > 0, 1.0, np.nan)

    assert interval(first_or_nothing, 3).tolist() == [1.0, 1.0]


def test_intervals_of_shares_are_wilsons() -> None:
    # https://en.wikipedia.org/wiki/Binomial_proportion_confidence_interval: 3 of 3, z = 1.96
    z2 = 1.959963984540054**2
    assert share_interval(3, 3) == pytest.approx((3 / (3 + z2), 1))
    assert share_interval(0, 3) == pytest.approx((0, z2 / (3 + z2)))
