"""Rankings of one stage; the expected values are worked out here."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.core.targets import Target
from atlas_search.search.ranking import SCORERS, fuse, lexical, rerank
from atlas_search.search.signals import SignalTable
from tests.search.three_passages import candidates_of, hits, signals_of, table_of


def test_the_lexical_reranker_is_the_published_table() -> None:
    # "right to silence": passage 0 holds it verbatim, twice right and once silence, within one
    # window, and each once in its title; passage 1 has each word once within one window. No
    # metadata matches.
    expected = [
        0.5 * 1 + 0.3 * (5 / 7) + 0.2 * 1,
        0.5 * 0 + 0.3 * (2 / 4) + 0.2 * 1,
        0.5 * 0 + 0.3 * 0 + 0.2 * 0,
    ]
    assert lexical(signals_of("right to silence"), Target()) == pytest.approx(expected)


def test_the_lexical_reranker_adds_a_half_for_each_metadata_match() -> None:
    # author and tags match passage 0, the date passage 2
    table = signals_of("Warren police questioning 1966")
    hits = table.signals["frequency"]
    near = table.signals["proximity"]
    expected = [
        0.3 * hits[0] + 0.2 * near[0] + 0.5 * 2,
        0.3 * hits[1] + 0.2 * near[1] + 0.5 * 0,
        0.3 * hits[2] + 0.2 * near[2] + 0.5 * 1,
    ]
    assert lexical(table, Target()) == pytest.approx(expected)
    assert hits == pytest.approx([1 / 5, 1 / 5, 0.0])


def test_the_fused_score_is_the_weighted_mean_of_five_signals() -> None:
    table = signals_of("right silence")
    s = table.signals
    total = 0.6 + 0.3 + 0.15 + 0.25 + 0.15
    expected = [
        (
            0.6 * s["semantic"][i]
            + 0.3 * s["bm25"][i]
            + 0.15 * s["phrase"][i]
            + 0.25 * s["proximity"][i]
            + 0.15 * s["neighbours"][i]
        )
        / total
        for i in range(3)
    ]
    assert fuse(table) == pytest.approx(expected)


def test_weights_of_the_target_are_used() -> None:
    table = signals_of("right silence")
    only_meaning = Target(
        weight_semantic=1,
        weight_bm25=0,
        weight_phrase=0,
        weight_proximity=0,
        weight_neighbours=0,
    )
    assert rerank(candidates_of(table), only_meaning).scores == pytest.approx([0.8, 0.6, 0.0])


def test_equal_scores_are_ordered_by_row() -> None:
    table = table_of(("same words", "same words"))
    same = signals_of("same", table, vectors=np.ones((2, 3), dtype=np.float32))
    assert rerank(candidates_of(same), Target()).rows.tolist() == [0, 1]


def test_the_relative_score_scales_meaning_and_bm25_to_the_candidates() -> None:
    table = signals_of("right silence")
    s = table.signals
    assert s["semantic"] == pytest.approx([0.8, 0.6, 0.0])
    keyword = (s["bm25"] - s["bm25"].min()) / (s["bm25"].max() - s["bm25"].min())
    total = 0.6 + 0.3 + 0.15 + 0.25 + 0.15
    expected = [
        (
            0.6 * (0.8, 0.75 * 0.8, 0.0)[i] / 0.8
            + 0.3 * keyword[i]
            + 0.15 * s["phrase"][i]
            + 0.25 * s["proximity"][i]
            + 0.15 * s["neighbours"][i]
        )
        / total
        for i in range(3)
    ]
    ranking = rerank(candidates_of(table), Target(reranker="relative"))
    assert ranking.scores == pytest.approx(sorted(expected, reverse=True))


def test_reciprocal_ranks_are_summed_over_legs_and_run_over_all_corpora() -> None:
    table = signals_of("right silence")
    first = (hits((0, 0.9), (1, 0.5)), hits((1, 7.0)))
    second = (hits((2, 0.7)), hits())
    # dense: 0, 2, 1; lexical: 1; the best possible sum is 2 / (60 + 1)
    best = 2 / (60 + 1)
    expected = [1 / (60 + 1) / best, (1 / (60 + 3) + 1 / (60 + 1)) / best, 1 / (60 + 2) / best]
    ranking = rerank(candidates_of(table, first, second), Target(reranker="rrf"))
    assert ranking.rows.tolist() == [1, 0, 2]
    assert ranking.scores == pytest.approx([expected[1], expected[0], expected[2]])


def test_the_weights_of_the_legs_and_k_are_those_of_the_target() -> None:
    candidates = candidates_of(signals_of("right silence"), (hits((0, 0.9)), hits((1, 7.0))))
    target = Target(reranker="rrf", rrf_k=1, rrf_weight_dense=1, rrf_weight_lexical=3)
    assert rerank(candidates, target).scores == pytest.approx([3 / 4, 1 / 4, 0.0])


def test_the_weighted_score_is_seven_parts_meaning_and_three_parts_words() -> None:
    table = SignalTable(
        np.arange(3),
        {"semantic": np.array([0.9, 0.5, 0.1]), "bm25": np.array([0.2, 0.6, 0.4])},
        np.zeros(3),
    )
    ranking = rerank(candidates_of(table), Target(reranker="weighted"))
    assert ranking.rows.tolist() == [0, 1, 2]
    assert ranking.scores == pytest.approx([0.7 * 1 + 0.3 * 0, 0.7 * 0.5 + 0.3 * 1, 0.3 * 0.5])
    half = Target(reranker="weighted", mix_dense=0.5, mix_lexical=0.5)
    assert rerank(candidates_of(table), half).rows.tolist() == [1, 0, 2]


def test_without_reranking_meaning_decides() -> None:
    ranking = rerank(candidates_of(signals_of("fishing")), Target(reranker="none"))
    assert ranking.scores == pytest.approx([0.8, 0.6, 0.0])


SCORES = st.floats(0, 1, width=16)


@given(st.data(), st.sampled_from(sorted(SCORERS)))
def test_scores_do_not_depend_on_the_order_in_which_corpora_answer(
    data: st.DataObject, reranker: str
) -> None:
    table = signals_of("right silence")
    legs = [
        (hits(*((row, data.draw(SCORES)) for row in rows)), hits((rows[0], data.draw(SCORES))))
        for rows in ([0], [1, 2])
    ]
    target = Target(reranker=reranker)
    one, other = (rerank(candidates_of(table, *order), target) for order in (legs, legs[::-1]))
    assert one.rows.tolist() == other.rows.tolist()
    assert one.scores.tolist() == other.scores.tolist()
    if reranker != "lexical":
        assert ((one.scores >= 0) & (one.scores <= 1)).all()


@pytest.mark.parametrize("reranker", sorted(SCORERS))
def test_no_candidates_give_no_ranking(reranker: str) -> None:
    empty = signals_of("police", rows=np.arange(0))
    candidates = candidates_of(empty, (hits(), hits()))
    assert rerank(candidates, Target(reranker=reranker)).rows.tolist() == []
