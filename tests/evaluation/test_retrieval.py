"""Whether the gold documents were found, and where: by hand, and as trec_eval itself has it."""

from math import log2

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.metrics import METRICS, Case, Reply, Tools, metric_of
from atlas_search.evaluation.metrics_ranked import (
    GradedRanking,
    measure_retrieval,
    rank,
    recall,
    reciprocal_rank,
    trec_eval,
)
from atlas_search.evaluation.scored import figures_of
from tests.hash_embedder import HashEmbedder
from tests.replies import passage, reply

LABEL = Label("q1", "test", "", "?", gold_document_ids=frozenset({"a", "b", "c"}))
DEPTHS = (1, 3, 5, 10)


def measured(found: list[str], label: Label = LABEL, limit: int = 10) -> dict[str, float]:
    return measure_retrieval(
        Case(label, reply("ANSWER", found=found), Tools(HashEmbedder(), limit=limit))
    )


def test_recall_is_the_share_of_gold_documents_found() -> None:
    assert recall(["a", "x", "a"], ["a", "b", "c"]) == 1 / 3
    assert recall(["b", "a"], ["a", "b"]) == 2 / 2
    assert recall([], ["a"]) == 0 / 1


def test_reciprocal_rank_is_that_of_the_first_gold_document() -> None:
    assert reciprocal_rank(["x", "y", "b", "a"], ["a", "b"]) == 1 / 3
    assert reciprocal_rank(["a"], ["a"]) == 1 / 1
    assert reciprocal_rank(["x"], ["a"]) == 0
    assert reciprocal_rank([], ["a"]) == 0


def test_every_figure_at_every_depth_by_hand() -> None:
    figures = measured(["x", "a", "y", "b", "z"])  # gold at ranks 2 and 4, c is not found
    expected = {
        "recall@1": 0 / 3,
        "recall@3": 1 / 3,
        "recall@5": 2 / 3,
        "precision@1": 0 / 1,
        "precision@3": 1 / 3,
        "precision@5": 2 / 5,
        "precision@10": 2 / 10,
        "mrr@1": 0,
        "mrr@3": 1 / 2,
        "map@3": (1 / 2) / 3,
        "map@5": (1 / 2 + 2 / 4) / 3,
        "ndcg@3": (1 / log2(3)) / (1 / log2(2) + 1 / log2(3) + 1 / log2(4)),
        "ndcg@5": (1 / log2(3) + 1 / log2(5)) / (1 / log2(2) + 1 / log2(3) + 1 / log2(4)),
        "success@1": 0,
        "success@3": 1,
        "rprec": 1 / 3,  # of the first three, for three are gold
    }
    assert {name: figures[name] for name in expected} == pytest.approx(expected)


def test_the_gain_is_the_grade() -> None:
    label = Label(
        "q1", "", "", "?", gold_document_ids=frozenset({"a", "b"}), grades={"a": 3, "b": 1}
    )
    best = 3 / log2(2) + 1 / log2(3)
    assert measured(["a", "b"], label)["ndcg@3"] == pytest.approx(1)
    assert measured(["b", "a"], label)["ndcg@3"] == pytest.approx(
        (1 / log2(2) + 3 / log2(3)) / best
    )


def test_a_document_is_ranked_at_its_first_passage() -> None:
    figures = measured(["x", "x", "a", "x", "a", "b"])  # x, a, b
    assert figures["mrr@3"] == 1 / 2
    assert figures["recall@3"] == 2 / 3
    assert figures["precision@3"] == 2 / 3


def test_no_figure_lies_deeper_than_was_asked() -> None:
    figures = measured(["a", "x", "b"], limit=3)
    assert {"recall@1", "recall@3", "rprec"} <= figures.keys()
    assert not figures.keys() & {"recall@5", "ndcg@10", "precision@5"}
    assert "rprec" not in measured(["a", "x"], limit=2)  # three are gold
    assert measured(["a", "x", "b"], limit=2).keys() >= {"recall", "mrr", "recall@1"}


def test_what_brought_fewer_than_were_asked_counts_in_full() -> None:
    figures = measured([], limit=5)
    assert (figures["recall@5"], figures["ndcg@5"], figures["precision@5"]) == (0, 0, 0)
    assert measured(["a"], limit=5)["precision@5"] == 1 / 5


def test_where_the_limit_is_not_known_the_passages_that_came_are_it() -> None:
    assert "recall@3" in measured(["a", "x", "a"], limit=0)
    assert "recall@5" not in measured(["a", "x", "a"], limit=0)


def test_a_question_without_gold_documents_has_no_figure() -> None:
    assert measured(["a"], Label("q1", "", "", "?")) == {}
    assert measured(["a"], Label("q1", "", "", "?", should_answer=True)) == {}


def test_an_error_is_no_empty_result() -> None:
    failed = Reply(label_id="q1", seconds=0.1, error="The server is down.")
    tools = Tools(HashEmbedder())
    assert figures_of(Case(LABEL, failed, tools)) == {"failed": 1.0}
    assert figures_of(Case(LABEL, reply("ANSWER", found=["a"]), tools))["failed"] == 0.0


IDS = st.lists(st.sampled_from([f"d{n}" for n in range(12)]), unique=True, max_size=12)
GRADES = st.dictionaries(
    st.sampled_from([f"d{n}" for n in range(15)]), st.integers(1, 3), min_size=1, max_size=6
)
OF_TREC_EVAL = {
    "recall@{}": "recall_{}",
    "precision@{}": "P_{}",
    "ndcg@{}": "ndcg_cut_{}",
    "map@{}": "map_cut_{}",
    "success@{}": "success_{}",
}


@given(IDS, GRADES)
def test_the_figures_are_those_of_trec_eval(found: list[str], gold: dict[str, int]) -> None:
    cuts = ",".join(map(str, DEPTHS))
    wanted = {f"{name}.{cuts}" for name in ("recall", "P", "ndcg_cut", "map_cut", "success")}
    judge = pytrec_eval.RelevanceEvaluator({"q": gold}, wanted | {"Rprec", "recip_rank"})
    scores = {id_: 1 / place for place, id_ in enumerate(found, start=1)}
    theirs = judge.evaluate({"q": scores}).get("q", {})
    ours = trec_eval(rank(found, gold), DEPTHS)
    for name, other in OF_TREC_EVAL.items():
        for depth in DEPTHS:
            expected = theirs.get(other.format(depth), 0.0)
            assert ours[name.format(depth)] == pytest.approx(expected, abs=1e-9)
    assert ours["rprec"] == pytest.approx(theirs.get("Rprec", 0.0))
    assert ours["mrr@10"] == pytest.approx(reciprocal_rank(found[:10], gold))
    assert all(0 <= value <= 1 for value in ours.values())


def test_what_is_not_found_counts_by_its_grade() -> None:
    assert rank(["x", "a"], {"a": 2, "c": 3, "b": 1}) == GradedRanking((0, 2), (1, 3))
    assert trec_eval(GradedRanking((2,), (3,)), (1,))["ndcg@1"] == pytest.approx(2 / 3)


def test_every_figure_has_its_metric() -> None:
    tools = Tools(HashEmbedder(), corpora=("a.b", "c"), limit=5)
    asked = reply("ANSWER", passages=[passage("a", "Found.")])
    assert {
        metric_of(name).name for name in figures_of(Case(LABEL, asked, tools))
    } <= METRICS.keys()
    assert metric_of("recall@5") is METRICS["recall@"]
    assert metric_of("kept_share.cases_2@x") is METRICS["kept_share."]
    assert metric_of("recall") is METRICS["recall"]
    with pytest.raises(KeyError):
        metric_of("nonsense@5")
