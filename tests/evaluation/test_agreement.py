"""Agreement of raters, against worked examples that were published."""

import pytest
from sklearn.metrics import cohen_kappa_score

from atlas_search.core.errors import RequestError
from atlas_search.evaluation.statistics import (
    Level,
    Weights,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
)

# Krippendorff (2011), part C: four observers, twelve units; `.` was not rated
OBSERVERS = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
UNITS = [
    [None if rating == "." else int(rating) for rating in unit]
    for unit in zip(*OBSERVERS, strict=True)
]
# Fleiss (1971), table 1 as it is usually reprinted: of 14 ratings, how many in each of 5 categories
FLEISS = (
    (0, 0, 0, 0, 14),
    (0, 2, 6, 4, 2),
    (0, 0, 3, 5, 6),
    (0, 3, 9, 2, 0),
    (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0),
    (3, 2, 6, 3, 0),
    (2, 5, 3, 2, 2),
    (6, 5, 2, 1, 0),
    (0, 2, 2, 3, 7),
)
A = [1, 2, 3, 4, 5, 2, 2, 4, 1, 5]
B = [1, 3, 3, 4, 4, 2, 1, 5, 1, 2]


def test_cohens_kappa_is_the_agreement_beyond_chance() -> None:
    # 50 grants, read by two: both yes 20, both no 15, only the first yes 5, only the second 10
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    agreed, by_chance = 35 / 50, 25 / 50 * 30 / 50 + 25 / 50 * 20 / 50
    assert cohen_kappa(first, second) == pytest.approx((agreed - by_chance) / (1 - by_chance))
    assert cohen_kappa(first, second) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("weights", "other"), [("none", None), ("linear",) * 2, ("quadratic",) * 2]
)
def test_cohens_kappa_is_that_of_scikit_learn(weights: Weights, other: str | None) -> None:
    expected = cohen_kappa_score(A, B, weights=other)
    assert cohen_kappa(A, B, weights=weights) == pytest.approx(expected)
    wider = cohen_kappa_score(A, B, weights=other, labels=[1, 2, 3, 4, 5, 6])
    assert cohen_kappa(A, B, weights=weights, scale=[1, 2, 3, 4, 5, 6]) == pytest.approx(wider)


def test_a_step_of_the_scale_that_nobody_chose_is_still_a_step() -> None:
    a, b = [1, 1, 5, 5, 4], [1, 4, 5, 1, 4]
    whole = cohen_kappa(a, b, weights="linear", scale=[1, 2, 3, 4, 5])
    assert whole == pytest.approx(cohen_kappa_score(a, b, weights="linear", labels=[1, 2, 3, 4, 5]))
    assert whole != pytest.approx(cohen_kappa(a, b, weights="linear"))


def test_fleiss_kappa_is_that_of_the_published_example() -> None:
    items = [[c for c, count in enumerate(row) for _ in range(count)] for row in FLEISS]
    assert fleiss_kappa(items) == pytest.approx(0.210, abs=0.0005)


@pytest.mark.parametrize(
    ("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_krippendorffs_alpha_is_that_of_the_published_example(level: Level, alpha: float) -> None:
    assert krippendorff_alpha(UNITS, level=level) == pytest.approx(alpha, abs=0.0005)


def test_alpha_of_two_raters_without_a_gap_is_by_hand() -> None:
    # a a, a b, b b: of the four a's and b's 2 of 6 values disagree; by chance 2 * 3 * 3 / 5
    assert krippendorff_alpha(["aa", "ab", "bb"]) == pytest.approx(1 - 2 / (2 * 3 * 3 / 5))


def test_an_item_with_one_rating_says_nothing() -> None:
    alone: list[list[str | float | None]] = [["a", None], [None, None]]
    both: list[list[str | float | None]] = [["a", "a"], ["a", "b"], ["b", "b"]]
    assert krippendorff_alpha(both + alone) == krippendorff_alpha(both)


def test_all_that_agree_have_1_and_all_that_do_not_have_less_than_0() -> None:
    assert cohen_kappa("abab", "abab") == 1
    assert fleiss_kappa(["aaa", "bbb"]) == 1
    assert krippendorff_alpha([[1, 1], [2, 2]], level="interval") == 1
    assert cohen_kappa("abab", "baba") == -1
    assert fleiss_kappa(["ab", "ba"]) == -1
    assert krippendorff_alpha(["ab", "ba"]) < 0


@pytest.mark.parametrize("agreement", [fleiss_kappa, krippendorff_alpha])
def test_where_all_ratings_are_the_same_nothing_is_known(agreement) -> None:
    with pytest.raises(RequestError, match="All ratings are the same"):
        agreement(["aa", "aa"])
    with pytest.raises(RequestError, match="No item has two ratings"):
        agreement([])


def test_ratings_that_cannot_be_compared_are_told() -> None:
    with pytest.raises(RequestError, match="All ratings are the same"):
        cohen_kappa("aa", "aa")
    with pytest.raises(RequestError, match="No item"):
        cohen_kappa([], [])
    with pytest.raises(RequestError, match="7 is not on the scale: 1, 2"):
        cohen_kappa([1, 7], [1, 2], scale=[1, 2])
    with pytest.raises(RequestError, match="as many of each item"):
        fleiss_kappa(["aa", "aaa"])
    with pytest.raises(RequestError, match="ordinal are numbers"):
        krippendorff_alpha(["ab", "ba"], level="ordinal")
    with pytest.raises(ValueError, match="zip"):
        cohen_kappa([1], [1, 2])
