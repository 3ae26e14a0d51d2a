"""Gold passages and spans: which passages hold them, and how many characters were found."""

from collections.abc import Sequence
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.documents.search import RankedPassageOut
from atlas_search.evaluation import metrics_ranked
from atlas_search.evaluation.labels import GoldSpan, Label
from atlas_search.evaluation.metrics import (
    Case,
    CharacterSpan,
    Tools,
    holds,
    shared_size,
    size,
    union,
)
from tests.hash_embedder import HashEmbedder
from tests.replies import citation, passage, reply

HUNDRED = "x" * 100
TOOLS = Tools(HashEmbedder(), limit=5)


def found(document: str, number: int) -> RankedPassageOut:
    """A passage of 100 characters from `number` times 100."""
    return passage(document, HUNDRED, number=number)


def case(label: Label, kept: Sequence[RankedPassageOut], *cited: dict[str, object]) -> Case:
    came = reply("ANSWER", "So it is.", passages=kept, citations=list(cited))
    return Case(label, came, TOOLS)


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
    assert holds(found("d", 0), GoldSpan("d", start, end)) is held
    assert not holds(found("e", 0), GoldSpan("d", start, end))


def test_the_ranking_of_passages_by_hand() -> None:
    label = of_spans(GoldSpan("d", 10, 20), GoldSpan("d", 230, 250), GoldSpan("e", 0, 50))
    kept = [found("x", 0), found("d", 0), found("d", 1), found("d", 2)]  # ranks 2 and 4
    figures = metrics_ranked.measure_passages(case(label, kept))
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
    figures = metrics_ranked.measure_passages(case(label, [found("d", 0), found("d", 1)]))
    assert (figures["passage_recall@3"], figures["passage_precision@3"]) == (1 / 2, 2 / 3)


def test_a_passage_may_hold_several_places() -> None:
    label = of_spans(GoldSpan("d", 0, 10), GoldSpan("d", 50, 60))
    figures = metrics_ranked.measure_passages(case(label, [found("d", 0)]))
    assert figures["passage_recall@1"] == 2 / 2
    assert figures["passage_ndcg@1"] == 1


def test_a_passage_is_gold_by_its_id() -> None:
    label = Label("q1", "", "", "?", gold_passage_ids=frozenset({"d.100-200", "e.0-100"}))
    figures = metrics_ranked.measure_passages(case(label, [found("d", 0), found("d", 1)]))
    assert (figures["passage_mrr@3"], figures["passage_recall@3"]) == (1 / 2, 1 / 2)
    assert metrics_ranked.measure_passages(case(Label("q1", "", "", "?"), [found("d", 0)])) == {}


def test_the_gain_of_a_passage_is_the_grade_of_the_best_place_in_it() -> None:
    # grades: d 0-100 named 2; e 3, with a span; f named without a grade, and not found
    label = Label(
        *("q1", "", "", "?"),
        gold_passage_ids=frozenset({"d.0-100", "f.0-100"}),
        gold_spans=(GoldSpan("e", 10, 20), GoldSpan("g", 0, 9)),
        grades={"d.0-100": 2, "d": 3, "e": 3},
    )
    kept = [found("x", 0), found("d", 0), found("e", 0)]
    figures = metrics_ranked.measure_passages(case(label, kept))
    gain = 2 / log2(3) + 3 / log2(4)
    assert figures["passage_ndcg@3"] == pytest.approx(gain / (3 + 2 / log2(3) + 1 / log2(4)))
    best = 3 + 2 / log2(3) + 1 / log2(4) + 1 / log2(5)
    assert figures["passage_ndcg@5"] == pytest.approx(gain / best)
    assert figures["passage_precision@3"] == pytest.approx(2 / 3)  # a grade is no second passage
    both = of_spans(GoldSpan("d", 0, 40), GoldSpan("d", 50, 90))
    graded = Label("q1", "", "", "?", gold_spans=both.gold_spans, grades={"d": 2})
    assert metrics_ranked.measure_passages(case(graded, [found("d", 0)]))["passage_ndcg@1"] == 1


def test_the_characters_of_spans_by_hand() -> None:
    # gold: d 50-150 and e 0-100; found: d 0-100 (twice) and d 100-200; both: d 50-150
    label = of_spans(GoldSpan("d", 50, 150), GoldSpan("e", 0, 100))
    kept = [found("d", 0), found("d", 0), found("d", 1)]
    assert metrics_ranked.measure_spans(case(label, kept)) == {
        "span_recall": 100 / 200,
        "span_precision": 100 / 200,
        "span_iou": 100 / 300,
        "cited_span_recall": 0.0,
        "cited_span_precision": 0.0,
        "cited_span_iou": 0.0,
    }


def test_quotes_are_measured_as_passages_are() -> None:
    label = of_spans(GoldSpan("d", 0, 40))
    figures = metrics_ranked.measure_spans(case(label, [found("d", 0)], citation("d", "y" * 20)))
    assert figures["cited_span_recall"] == 20 / 40
    assert figures["cited_span_precision"] == 20 / 20
    assert figures["cited_span_iou"] == 20 / 40


def test_without_an_answer_only_passages_are_measured() -> None:
    declined = reply("ABSTAIN", passages=[found("d", 0)])
    figures = metrics_ranked.measure_spans(Case(of_spans(GoldSpan("d", 0, 100)), declined, TOOLS))
    assert figures == {"span_recall": 1, "span_precision": 1, "span_iou": 1}


PLACES = st.lists(
    st.builds(
        lambda document, start, length: GoldSpan(document, start, start + length),
        st.sampled_from("de"),
        st.integers(0, 30),
        st.integers(0, 20),
    ),
    max_size=6,
)


def characters(places: Sequence[CharacterSpan]) -> set[tuple[str, int]]:
    return {(place.document_id, at) for place in places for at in range(place.start, place.end)}


@given(PLACES, PLACES)
def test_intervals_are_sets_of_characters(first: list[GoldSpan], second: list[GoldSpan]) -> None:
    one, other = characters(first), characters(second)
    assert size(union(first)) == len(one)
    assert shared_size(union(first), union(second)) == len(one & other)


@given(PLACES, PLACES)
def test_overlap_is_a_share_and_has_two_sides(
    first: list[GoldSpan], second: list[GoldSpan]
) -> None:
    there, back = metrics_ranked.overlap(first, second), metrics_ranked.overlap(second, first)
    assert all(0 <= value <= 1 for value in there.values())
    assert there["iou"] == back["iou"] <= min(there["recall"], there["precision"])
    assert (there["recall"], there["precision"]) == (back["precision"], back["recall"])
    if characters(first):
        assert set(metrics_ranked.overlap(first, first).values()) == {1.0}
