"""Pairing the answers of two targets, and summing them up, with figures worked out by hand."""

from typing import Any

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from atlas_search.core.errors import RequestError
from atlas_search.evaluation.traces import (
    CommonQuestions,
    Marks,
    Side,
    Spent,
    Told,
    Trace,
    compare_sides,
    mean_marks,
    pair_traces,
    read_trace,
)
from tests.answering import asked
from tests.spans.recorded import Both, named
from tests.test_generate import cited
from tests.traces.made import as_phoenix, trace_of

BOTH = ("quick", "slow")


def answer(number: int, question: str, target: str = "quick", **changes: Any) -> Trace:
    told = {"input__value": question, "target": target, "collection": "parish"}
    return trace_of(number, **(told | {"composite_target": f"{target}_parish"} | changes))


def cites(*ids: str) -> dict[str, Any]:
    """Attributes of a list of passages of which these are cited, after one that is not."""
    listed = [("other", False), *((id_, True) for id_ in ids)]
    return {
        f"retrieval__documents__{at}__document__{name}": value
        for at, (id_, is_cited) in enumerate(listed)
        for name, value in (("id", id_), ("metadata__cited", is_cited))
    }


def questions(pairs: CommonQuestions) -> list[str]:
    return [pair.asked.question for pair in pairs.pairs]


def test_common_questions_are_paired_by_the_last_answer_to_each() -> None:
    quick = [answer(1, "b"), answer(2, "a"), answer(3, "a"), answer(4, "only quick")]
    slow = [answer(5, "a", "slow"), answer(6, "b", "slow"), answer(7, "only slow", "slow")]
    pairs = pair_traces(BOTH, quick, slow)
    assert questions(pairs) == ["a", "b"]
    assert pairs.side(0) == [quick[1], quick[0]]
    assert pairs.side(1) == [slow[0], slow[1]]
    assert pairs.left_out == ({"earlier": 1, "not_common": 1}, {"not_common": 1})


@pytest.mark.parametrize(
    "changes", [{"corpus_filter": "uk"}, {"mode": "compare"}, {"collection": "county"}]
)
def test_a_question_of_something_else_is_another_question(changes: dict[str, Any]) -> None:
    with pytest.raises(RequestError, match="quick has 1 answer; slow has 1 answer"):
        pair_traces(BOTH, [answer(1, "a")], [answer(2, "a", "slow", **changes)])


def test_composite_targets_may_be_of_two_collections() -> None:
    first = answer(1, "a")
    second = answer(2, "a", collection="county", composite_target="quick_county")
    pairs = pair_traces(("quick_parish", "quick_county"), [first], [second])
    assert pairs.pairs[0].asked == ("a", "all", "answer", "")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"status": "ERROR"}, "1 failed"),
        ({"cancelled": True}, "1 cancelled"),
        ({"cache_hit": True}, "1 given from the cache"),
        ({"history_turns": 2}, "1 to follow-ups"),
        ({"input__value": ""}, "1 to questions that are not in the traces (TRACE_CONTENT=0)"),
    ],
)
def test_what_cannot_be_compared_is_left_out_and_says_why(
    changes: dict[str, Any], reason: str
) -> None:
    with pytest.raises(RequestError) as error:
        pair_traces(BOTH, [answer(1, "a", **changes)], [])
    assert f"quick has 1 answer ({reason}); slow has no answers" in str(error.value)


def test_sides_are_summed_up_over_the_pairs() -> None:
    quick = [
        answer(number, question, seconds=seconds, citations=citations, imbalance__kept=imbalance)
        for number, question, seconds, citations, imbalance in (
            (1, "a", 1.0, 2, 0.0),
            (2, "b", 2.0, 0, 0.5),
            (3, "c", 4.0, 1, 1.0),
        )
    ]
    slow = [
        answer(number + 4, question, "slow", seconds=9.0) for number, question in enumerate("abc")
    ]
    slow[2] = answer(9, "c", "slow", decision="ABSTAIN", seconds=9.0)
    pairs = pair_traces(BOTH, quick, slow)
    marked = mean_marks([("thumbs", 1.0), ("thumbs", 0.0), ("clarity", 4.0)])
    told = [
        Told(quick[0], Spent(100, 10, 0.5), marked),
        Told(quick[1], Spent(50, 5, None), {"thumbs": Marks(1, 1.0)}),
        *(Told(trace, Spent(), {}) for trace in (quick[2], *slow)),
    ]
    first, second = compare_sides(pairs, reversed(told))
    assert first == Side(
        name="quick",
        answers=3,
        seconds_p50=2.0,
        seconds_p95=pytest.approx(2.0 + 0.9 * (4.0 - 2.0)),
        decisions={"ANSWER": 3},
        spent=Spent(150, 15, 0.5),
        citations=1.0,
        imbalance={"kept": 0.5},
        marks={"clarity": Marks(1, 4.0), "thumbs": Marks(3, pytest.approx(2 / 3))},
    )
    assert second.decisions == {"ABSTAIN": 1, "ANSWER": 2}
    assert (second.spent.cost, second.citations, second.imbalance) == (None, 0.0, {})


def test_the_passages_that_both_cite_are_counted() -> None:
    first = answer(1, "a", **cites("p1", "p2"))
    second = answer(2, "a", "slow", **cites("p2", "p3", "p4"))
    (pair,) = pair_traces(BOTH, [first], [second]).pairs
    assert (pair.cited_by_both, pair.cited_by_either) == (1, 4)


def test_a_real_answer_is_read_as_it_was_given(both: Both, exported: InMemorySpanExporter) -> None:
    services, server = both
    server.says(cited)
    given, _ = asked(services, "Can a local authority sue a newspaper for libel?")
    (root,) = [span for span in exported.get_finished_spans() if span.parent is None]
    trace = read_trace(as_phoenix(root))
    assert trace.question == given.request.search.question
    assert (trace.target, trace.composite_target) == ("model", "model_atlas_demo")
    assert (trace.outcome, trace.mode, trace.corpus_filter) == ("ANSWER", "answer", "all")
    assert trace.citations == len(given.citations) > 0
    assert trace.cited == {citation.passage.id for citation in given.citations}
    counts = {corpus: of.candidates for corpus, of in given.result.per_corpus.items()}
    assert trace.counts.candidates == counts
    assert trace.counts.depth == given.result.depth
    assert trace.imbalance["kept"] == named(exported, "ask")["imbalance.kept"]
    assert (trace.follow_up, trace.kept_answer) == (False, False)
