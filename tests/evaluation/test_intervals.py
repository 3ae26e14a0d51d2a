"""Intervals by the bootstrap: of many means at once as of one, and of any figure."""

from dataclasses import replace

import numpy as np
import pytest

from atlas_search.evaluation.compare_figures import question_figures
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.metrics import Tools
from atlas_search.evaluation.scored import score, summarise
from atlas_search.evaluation.statistics import interval, mean_interval, mean_intervals
from tests.hash_embedder import HashEmbedder
from tests.replies import reply

VALUES = {"half": [0.0, 1.0] * 20, "rare": [0.0] * 36 + [1.0] * 4, "few": [0.2, 0.4, 0.9]}


def test_means_that_are_drawn_together_have_their_own_intervals() -> None:
    together = mean_intervals(VALUES)
    for name, values in VALUES.items():
        assert together[name] == pytest.approx(mean_interval(values))
        low, high = together[name]
        assert min(values) <= low < np.mean(values) < high <= max(values)


def test_the_interval_of_a_share_is_near_the_normal_one() -> None:
    low, high = mean_interval(VALUES["half"])
    half_width = 1.96 * (0.5 * 0.5 / 40) ** 0.5
    assert (low, high) == pytest.approx((0.5 - half_width, 0.5 + half_width), abs=0.03)


def test_equal_values_leave_no_doubt() -> None:
    assert mean_interval([0.5] * 10) == pytest.approx((0.5, 0.5))


def test_a_figure_that_is_no_number_is_none() -> None:
    class Odd(HashEmbedder):
        def embed(self, texts, **options):
            return super().embed(texts, **options) * np.nan

    label = Label("q1", "", "", "?", ("Seven days",), frozenset({"d"}))
    scored = score(label, reply("ANSWER", "Seven days.", found=["d"]), Tools(Odd()))
    assert "similarity" not in scored.figures
    assert summarise([scored])["f1"].low == 1
    odd = replace(scored, figures={**scored.figures, "similarity": np.nan, "recall@5": np.inf})
    assert question_figures(odd).figures.keys() == {*scored.figures, "seconds"} - {"recall@5"}


def test_a_sample_that_says_nothing_is_left_out() -> None:
    def first_or_nothing(weights: np.ndarray) -> np.ndarray:
        return np.where(weights[:, 0] > 0, 1.0, np.nan)

    assert interval(first_or_nothing, 3).tolist() == [1.0, 1.0]
