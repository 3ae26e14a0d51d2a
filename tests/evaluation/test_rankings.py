"""Gold documents, passages and places: found or not and where, by hand and as trec_eval has it."""

from collections.abc import Sequence
from math import log2

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.core.wire import RankedPassageOut
from atlas_search.evaluation import scored
from atlas_search.evaluation.labels import GoldSpan, Label
from atlas_search.evaluation.metrics import (
    METRICS,
    Case,
    Tools,
    holds,
    metric_of,
)
from atlas_search.evaluation.scored import (
    GradedRanking,
    figures_of,
    measure_retrieval,
    overlap,
    rank,
    reciprocal_rank,
    trec_eval,
)
from tests.hash_embedder import HashEmbedder
from tests.replies import citation, passage, reply

LABEL = Label("q1", "test", "", "?", gold_document_ids=frozenset({"a", "b", "c"}))
DEPTHS = (1, 3, 5, 10)


def measured(found: list[str], label: Label = LABEL, limit: int = 10) -> dict[str, float]:
    return measure_retrieval(
        Case(label, reply("ANSWER", found=found), Tools(HashEmbedder(), limit=limit))
    )


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


def test_no_figure_lies_deeper_than_was_asked() -> None:
    figures = measured(["a", "x", "b"], limit=3)
    assert {"recall@1", "recall@3", "rprec"} <= figures.keys()
    assert not figures.keys() & {"recall@5", "ndcg@10", "precision@5"}
    assert "rprec" not in measured(["a", "x"], limit=2)  # three are gold
    assert measured(["a", "x", "b"], limit=2).keys() >= {"recall", "mrr", "recall@1"}


def test_a_question_without_gold_documents_has_no_figure() -> None:
    assert measured(["a"], Label("q1", "", "", "?")) == {}
    assert measured(["a"], Label("q1", "", "", "?", should_answer=True)) == {}


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
    request = {f"{name}.{cuts}" for name in ("recall", "P", "ndcg_cut", "map_cut", "success")}
    judge = pytrec_eval.RelevanceEvaluator({"q": gold}, request | {"Rprec", "recip_rank"})
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
    arguments = reply("ANSWER", passages=[passage("a", "Found.")])
    why: list[Exception] = []
    figures = figures_of(Case(LABEL, arguments, tools), why.append)
    assert not why
    assert {metric_of(name).name for name in figures} <= METRICS.keys()
    assert metric_of("recall@5") is METRICS["recall@"]
    assert metric_of("kept_share.cases_2@x") is METRICS["kept_share."]
    assert metric_of("recall") is METRICS["recall"]
    with pytest.raises(KeyError):
        metric_of("nonsense@5")


HUNDRED = "x" * 100
OF_FIVE = Tools(HashEmbedder(), limit=5)


def hundred(document: str, number: int) -> RankedPassageOut:
    """A passage of 100 characters from `number` times 100."""
    return passage(document, HUNDRED, number=number)


def case(label: Label, kept: Sequence[RankedPassageOut], *cited: dict[str, object]) -> Case:
    came = reply("ANSWER", "So it is.", passages=kept, citations=list(cited))
    return Case(label, came, OF_FIVE)


def of_spans(*gold: GoldSpan) -> Label:
    return Label("q1", "", "", "?", gold_spans=gold)


@pytest.mark.parametrize(
    ("start", "end", "held"),
    [
        (0, 100, True),
        (50, 150, True),  # 50 of 100
        (51, 151, False),  # 49 of 100
        (95, 105, True),  # 5 of 10, the shorter one
        (96, 106, False),
        (40, 60, True),
        (0, 1000, True),  # the passage is the shorter one
        (100, 200, False),
        (50, 50, False),
    ],
)
def test_a_passage_holds_a_span_if_they_share_half_of_the_shorter(
    start: int, end: int, held: bool
) -> None:
    assert holds(hundred("d", 0), GoldSpan("d", start, end)) is held
    assert not holds(hundred("e", 0), GoldSpan("d", start, end))


def test_the_ranking_of_passages_by_hand() -> None:
    label = of_spans(GoldSpan("d", 10, 20), GoldSpan("d", 230, 250), GoldSpan("e", 0, 50))
    kept = [hundred("x", 0), hundred("d", 0), hundred("d", 1), hundred("d", 2)]  # ranks 2 and 4
    figures = scored.measure_passages(case(label, kept))
    assert figures["passage_recall@1"] == 0 / 3
    assert figures["passage_recall@3"] == 1 / 3
    assert figures["passage_recall@5"] == 2 / 3
    assert figures["passage_precision@5"] == 2 / 5
    assert figures["passage_mrr@3"] == 1 / 2
    assert figures["passage_map@5"] == pytest.approx((1 / 2 + 2 / 4) / 3)
    assert figures["passage_rprec"] == pytest.approx(1 / 3)
    assert "passage_recall@10" not in figures


def test_two_passages_of_one_place_recall_no_more_than_one() -> None:
    label = of_spans(GoldSpan("d", 40, 160), GoldSpan("e", 0, 50))
    figures = scored.measure_passages(case(label, [hundred("d", 0), hundred("d", 1)]))
    assert (figures["passage_recall@3"], figures["passage_precision@3"]) == (1 / 2, 2 / 3)


def test_a_passage_may_hold_several_places() -> None:
    label = of_spans(GoldSpan("d", 0, 10), GoldSpan("d", 50, 60))
    figures = scored.measure_passages(case(label, [hundred("d", 0)]))
    assert figures["passage_recall@1"] == 2 / 2
    assert figures["passage_ndcg@1"] == 1


def test_a_passage_is_gold_by_its_id() -> None:
    label = Label("q1", "", "", "?", gold_passage_ids=frozenset({"d.100-200", "e.0-100"}))
    figures = scored.measure_passages(case(label, [hundred("d", 0), hundred("d", 1)]))
    assert (figures["passage_mrr@3"], figures["passage_recall@3"]) == (1 / 2, 1 / 2)
    assert scored.measure_passages(case(Label("q1", "", "", "?"), [hundred("d", 0)])) == {}


def test_the_gain_of_a_passage_is_the_grade_of_the_best_place_in_it() -> None:
    # grades: d 0-100 named 2; e 3, with a span; f named without a grade, and not hundred
    label = Label(
        *("q1", "", "", "?"),
        gold_passage_ids=frozenset({"d.0-100", "f.0-100"}),
        gold_spans=(GoldSpan("e", 10, 20), GoldSpan("g", 0, 9)),
        grades={"d.0-100": 2, "d": 3, "e": 3},
    )
    kept = [hundred("x", 0), hundred("d", 0), hundred("e", 0)]
    figures = scored.measure_passages(case(label, kept))
    gain = 2 / log2(3) + 3 / log2(4)
    assert figures["passage_ndcg@3"] == pytest.approx(gain / (3 + 2 / log2(3) + 1 / log2(4)))
    best = 3 + 2 / log2(3) + 1 / log2(4) + 1 / log2(5)
    assert figures["passage_ndcg@5"] == pytest.approx(gain / best)
    assert figures["passage_precision@3"] == pytest.approx(2 / 3)  # a grade is no second passage
    both = of_spans(GoldSpan("d", 0, 40), GoldSpan("d", 50, 90))
    graded = Label("q1", "", "", "?", gold_spans=both.gold_spans, grades={"d": 2})
    assert scored.measure_passages(case(graded, [hundred("d", 0)]))["passage_ndcg@1"] == 1


def test_the_characters_of_spans_by_hand() -> None:
    # gold: d 50-150 and e 0-100; hundred: d 0-100 (twice) and d 100-200; both: d 50-150
    label = of_spans(GoldSpan("d", 50, 150), GoldSpan("e", 0, 100))
    kept = [hundred("d", 0), hundred("d", 0), hundred("d", 1)]
    assert scored.measure_spans(case(label, kept)) == {
        "span_recall": 100 / 200,
        "span_precision": 100 / 200,
        "span_iou": 100 / 300,
        "cited_span_recall": 0.0,
        "cited_span_precision": 0.0,
        "cited_span_iou": 0.0,
    }


def test_quotes_are_measured_as_passages_are() -> None:
    label = of_spans(GoldSpan("d", 0, 40))
    figures = scored.measure_spans(case(label, [hundred("d", 0)], citation("d", "y" * 20)))
    assert figures["cited_span_recall"] == 20 / 40
    assert figures["cited_span_precision"] == 20 / 20
    assert figures["cited_span_iou"] == 20 / 40


# chunking_evaluation of Smith & Troynikov, Evaluating Chunking Strategies for Retrieval (2024)
Range = tuple[int, int]


def characters(ranges: Sequence[Range]) -> set[int]:
    return {place for start, end in ranges for place in range(start, end)}


def chunk_scores(chunks: Sequence[Range], references: Sequence[Range]) -> dict[str, float]:
    """As its base evaluation has it, for references apart from each other.

    Characters of overlapping chunks count once where they are gold, and as often as they were
    retrieved in the denominators of precision and IoU. What is gold and not found is added to that
    of IoU.
    """
    gold = characters(references)
    result = gold & characters(chunks)
    retrieved = sum(end - start for start, end in chunks)
    unused = len(gold - result)
    return {
        "recall": len(result) / len(gold),
        "precision": len(result) / retrieved if retrieved else 0.0,
        "iou": len(result) / (retrieved + unused) if retrieved + unused else 0.0,
    }


def spans(ranges: Sequence[Range]) -> list[GoldSpan]:
    return [GoldSpan("d", start, end) for start, end in ranges]


LENGTHS = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 30)), min_size=1, max_size=6)


def apart(lengths: Sequence[tuple[int, int]]) -> list[Range]:
    """Ranges one after the other, given the gap before each and its length."""
    ranges: list[Range] = []
    at = 0
    for gap, length in lengths:
        ranges.append((at + gap, at + gap + length))
        at += gap + length
    return ranges


@given(LENGTHS.map(apart), LENGTHS.map(apart))
def test_spans_are_scored_as_chunking_evaluation_does(
    chunks: list[Range], references: list[Range]
) -> None:
    expected = chunk_scores(chunks, references)
    assert overlap(spans(chunks), spans(references)) == pytest.approx(expected)


def test_passages_that_overlap_count_once_and_there_twice() -> None:
    chunks, references = [(0, 100), (50, 150)], [(40, 60)]
    assert chunk_scores(chunks, references) == pytest.approx(
        {"recall": 20 / 20, "precision": 20 / 200, "iou": 20 / 200}
    )
    assert overlap(spans(chunks), spans(references)) == pytest.approx(
        {"recall": 20 / 20, "precision": 20 / 150, "iou": 20 / 150}
    )
