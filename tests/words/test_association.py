"""Measures of association against figures that were published, and against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.words.lists import keyness, log_dice, log_likelihood, log_ratio


def of(value: int) -> np.ndarray:
    return np.array([value])


@pytest.mark.parametrize(
    ("both", "first", "second", "neither", "published"),
    # Dunning 1993, table 1: bigrams of a text on Swiss banking
    [
        (110, 2442, 111, 29114, 270.72),  # the swiss
        (29, 13, 123, 31612, 263.90),  # can be
        (31, 23, 139, 31584, 256.84),  # previous year
        (3, 10, 5, 31759, 36.98),  # current transaction
        # a keyword of AntConc, shown at corpus4u.org
        (288, 92_965 - 288, 114_099, 104_570_472 - 114_099, 228.02),
    ],
)
def test_log_likelihood_is_that_of_dunning(
    both: int, first: int, second: int, neither: int, published: float
) -> None:
    words = both + first + second + neither
    found = log_likelihood(of(both), both + first, of(both + second), words)
    assert found.round(2).tolist() == [published]


@given(*[st.integers(0, 50)] * 4)
def test_log_likelihood_is_its_definition(a: int, b: int, c: int, d: int) -> None:
    from math import log

    words = a + b + c + d
    cells = [(a, a + b, a + c), (b, a + b, b + d), (c, c + d, a + c), (d, c + d, b + d)]
    expected = 2 * sum(seen * log(seen * words / (r * k)) for seen, r, k in cells if seen)
    (found,) = log_likelihood(of(a), a + b, of(a + c), words)
    assert found == pytest.approx(max(expected, 0), abs=1e-9)


def test_log_dice_has_the_values_that_its_author_gives() -> None:
    # Rychlý 2008, section 3: at most 14; 0 is one place in 16,000; 1 more is twice as often, 7 more
    # a hundred times
    joint, frequency = np.array([100, 1, 2, 128]), np.array([100, 16384, 16384, 16384])
    assert log_dice(joint, 100, frequency)[0] == 14
    assert log_dice(joint, 16384, frequency)[1:].tolist() == [0, 1, 7]


def test_keyness_is_that_of_a_worked_example() -> None:
    # an exercise with the log-likelihood wizard of UCREL, Lancaster, which gives + 2.65
    assert keyness(of(52), 50_000, of(57), 75_000).round(2).tolist() == [2.65]
    assert keyness(of(57), 75_000, of(52), 50_000).round(2).tolist() == [2.65]


def test_log_ratio_is_how_often_a_frequency_doubles() -> None:
    # Hardie 2014, as the manual of WordSmith sums it up: 2 is 4 times as frequent, 3 is 8 times
    own, other = np.array([10, 40, 80, 10, 5, 0]), np.array([10, 10, 10, 40, 0, 8])
    found = log_ratio(own, 1000, other, 1000).tolist()
    assert found == pytest.approx([0, 2, 3, -2, np.log2(5 / 0.5), -4])
    assert log_ratio(of(10), 1000, of(10), 4000).tolist() == [2]
