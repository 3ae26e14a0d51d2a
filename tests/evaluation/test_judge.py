"""Each measure of the judge adds up its votes as its published definition does."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from atlas_search.core.errors import RequestError
from atlas_search.evaluation import estimates
from atlas_search.evaluation.judge import (
    Panel,
    PeopleAgreement,
    agreement_with_people,
    average_precision,
    judge_question,
)
from atlas_search.evaluation.judge_model import CUT_OFF, MALFORMED, Rules
from atlas_search.evaluation.metrics import Case
from atlas_search.evaluation.people import Rating, Scale
from atlas_search.evaluation.scored import Scored, Source
from tests.chat_server import Says
from tests.evaluation.judging import (
    ANSWERED,
    LABEL,
    QUESTION,
    TOOLS,
    Script,
    guess,
    judge_of,
    judge_one,
    mark,
    notes,
    value_of,
    verdicts,
)
from tests.openai_server import OpenAIServer
from tests.replies import passage, reply

EVADING = guess(QUESTION, noncommittal=True)


def test_all_is_judged_by_the_judge(panel: Panel, script: Script) -> None:
    judged = judge_one(panel)
    assert set(judged.scored.sources.values()) == {"judge"}
    figures = {one.metric: one.value for one in judged.judgements}
    assert figures == {
        "context_precision": 1.0,
        "context_recall": 1.0,
        "faithfulness": 1.0,
        "answer_relevancy": pytest.approx(1.0),
        "answer_correctness": 1.0,
    }
    assert judged.scored.figures["judge_agreement"] == 1
    assert judged.scored.figures["recall"] == 1  # what is no estimate stays


def test_faithfulness_is_the_share_of_statements_that_follow(panel: Panel, script: Script) -> None:
    stated = ["Cows give milk.", "Milk is blue.", "Cows eat hay.", "Cows are many."]
    script.say("statements", {"statements": stated})
    script.say("supported", verdicts("yes", "no", "yes", "no"))
    judged = judge_one(panel)
    assert value_of(judged, "faithfulness") == (2 / 4, "judge")
    (material, *_) = script.requests("supported")
    assert '<statement number="2">\nMilk is blue.\n</statement>' in material
    assert '<passage number="1" title="farm.cows">\nCows give milk.\n</passage>' in material
    assert "Hens give eggs." in material
    (decisions,) = [one.decisions for one in judged.judgements if one.metric == "faithfulness"]
    assert [one.about for one in decisions] == stated
    assert decisions[1].reason == "no on 2"


def test_context_precision_is_the_mean_precision_at_useful_passages(
    panel: Panel, script: Script
) -> None:
    result = [passage("farm.cows", f"Passage {number}.", number=number) for number in range(4)]
    script.say("useful", verdicts("no", "yes", "no", "yes"))
    judged = judge_one(panel, reply("ABSTAIN", passages=result, question=QUESTION))
    assert value_of(judged, "context_precision") == ((1 / 2 + 2 / 4) / 2, "judge")
    assert "<reference" in script.requests("useful")[0]


@pytest.mark.parametrize(
    ("useful", "precision"),
    [
        ([], 0.0),
        ([False, False], 0.0),
        ([True, True], 1.0),
        ([False, True], 1 / 2),
        ([True, False, True], (1 + 2 / 3) / 2),
    ],
)
def test_average_precision(useful: list[bool], precision: float) -> None:
    assert average_precision(useful) == pytest.approx(precision)


def test_context_recall_is_the_share_of_the_best_reference(panel: Panel, script: Script) -> None:
    label = replace(LABEL, answers=("Milk. It is white. It is sold.", "Cows give milk. Twice."))
    script.say("attributed", verdicts("yes", "no", "no", "yes", "no"))
    judged = judge_one(panel, label=label)
    assert value_of(judged, "context_recall") == (1 / 2, "judge")
    assert '<sentence number="3">\nIt is sold.\n</sentence>' in script.requests("attributed")[0]


def test_answer_relevancy_is_the_mean_cosine_of_questions(panel: Panel, script: Script) -> None:
    script.say("guess", guess(QUESTION), guess("What do hens give?"), guess(QUESTION))
    arguments, other = TOOLS.embedder.embed([QUESTION, "What do hens give?"])
    cosine = float(arguments @ other)
    judged = judge_one(panel)
    assert value_of(judged, "answer_relevancy") == (
        pytest.approx((1 + cosine + 1) / 3, abs=1e-6),
        "judge",
    )
    assert "<question>" not in script.requests("guess")[0]  # it is to be guessed


def test_answer_correctness_is_the_median_of_marks_by_the_same_steps(
    panel: Panel, script: Script
) -> None:
    script.say("mark", mark(9), mark(4), mark(8))
    judged = judge_one(panel)
    assert value_of(judged, "answer_correctness") == (0.8, "judge")
    (decision,) = judged.judgements[-1].decisions
    assert decision.reason == "It deserves 8."
    assert '<step number="1">\nCompare.\n</step>' in script.requests("mark")[0]
    judge_one(panel, label=replace(LABEL, question="And what do they eat?"))
    assert len(script.requests("steps")) == 1


def test_passages_that_do_not_fit_are_shown_whole_in_several_calls(
    server: OpenAIServer, script: Script, tmp_path: Path
) -> None:
    long = "Cows give milk. " * 60
    result = [passage(f"farm.{name}", f"{name}. {long}") for name in ("cows", "hens", "bees")]
    script.say("useful", verdicts("yes"))
    script.say("supported", verdicts("no"), verdicts("no"), verdicts("no"), verdicts("yes"))
    came = reply("ANSWER", "Milk.", passages=result, question=QUESTION)
    with judge_of(server, tmp_path, passage_tokens=300) as panel:
        judged = judge_one(panel, came)
    assert {one.metric: one.parts for one in judged.judgements} == {
        "context_precision": 3,
        "context_recall": 3,
        "faithfulness": 3,
        "answer_relevancy": 1,
        "answer_correctness": 1,
    }
    # one part supports the statement
    assert value_of(judged, "faithfulness") == (1.0, "judge")
    assert len(script.requests("supported")) == 3 * 3
    assert all(material.count("<passage") == 1 for material in script.requests("supported"))
    assert sum(result[2].text in material for material in script.requests("supported")) == 3


ESTIMATES = estimates.measure_overlap(Case(LABEL, ANSWERED, TOOLS))
BROKEN = "I think that it is right."


def test_most_of_three_votes_decide_and_their_disagreement_is_kept(
    panel: Panel, script: Script
) -> None:
    script.say("useful", verdicts("yes", "yes"), verdicts("no", "yes"), verdicts("no", "yes"))
    judged = judge_one(panel)
    assert len(script.requests("useful")) == 3
    assert len(set(script.requests("useful"))) == 1
    assert value_of(judged, "context_precision") == (1 / 2, "judge")  # the second alone is useful
    first, second = judged.judgements[0].decisions
    assert (first.verdict, first.agreement, first.reason) == (0, 2 / 3, "no on 1")
    assert (second.verdict, second.agreement) == (1, 1)
    # of 6 decisions one is of two votes: passages 2/3 and 1, recall, statement, guess and mark 1
    assert judged.scored.figures["judge_agreement"] == pytest.approx((2 / 3 + 5) / 6)


def test_the_model_is_asked_at_temperature_0(panel: Panel, script: Script) -> None:
    judge_one(panel)
    assert {request.body["temperature"] for request in script.server.requests} == {0.0}


def test_votes_that_draw_leave_the_estimate(panel: Panel, script: Script) -> None:
    script.say("useful", BROKEN, verdicts("yes", "no"), verdicts("no", "no"))
    script.say("guess", BROKEN, guess("?"), guess("?", noncommittal=True))
    judged = judge_one(panel)
    for name in ("context_precision", "answer_relevancy"):
        assert value_of(judged, name) == (ESTIMATES[name], "heuristic")
    assert value_of(judged, "faithfulness") == (1.0, "judge")
    assert notes([judged]) == {
        "The judge's votes were a draw, for one of them was no usable reply."
    }


@pytest.mark.parametrize(
    "reply",
    [
        BROKEN,
        "",
        json.dumps(verdicts("yes", "no"))[:-2],
        f"Here you are: {json.dumps(verdicts('yes', 'no'))}",
        verdicts("yes"),
        verdicts("yes", "no", "no"),
        verdicts("yes", "perhaps"),
        {"verdicts": [*verdicts("yes")["verdicts"], *verdicts("yes")["verdicts"]]},  # type: ignore[misc]
        {**verdicts("yes", "no"), "note": "also"},
    ],
)
def test_a_reply_of_another_form_leaves_the_estimate(
    panel: Panel, script: Script, reply: object
) -> None:
    script.say("useful", reply)
    judged = judge_one(panel)
    assert value_of(judged, "context_precision") == (ESTIMATES["context_precision"], "heuristic")
    assert value_of(judged, "context_recall") == (1.0, "judge")


def test_a_question_judged_before_gets_its_estimate_back(
    server: OpenAIServer, script: Script, tmp_path: Path
) -> None:
    script.say("mark", mark(3))
    with judge_of(server, tmp_path / "one") as panel:
        once = judge_one(panel)
    assert value_of(once, "answer_correctness") == (0.3, "judge")
    script.say("mark", BROKEN)
    with judge_of(server, tmp_path / "other") as panel:
        again = judge_question(panel, TOOLS, once.scored)
    assert value_of(again, "answer_correctness") == (ESTIMATES["answer_correctness"], "heuristic")


METRICS = ("answer_correctness", "answer_relevancy")
SCALES = (Scale(name="accuracy"), Scale(name="relevance"), Scale(name="wit"))


def judged(number: int, value: float, source: Source = "judge") -> Scored:
    """A question of which the judge's figures all have this value."""
    label = replace(LABEL, id=f"q{number}")
    came = reply("ANSWER", f"Answer {number}.", label_id=label.id)
    return Scored(label, came, dict.fromkeys(METRICS, value), dict.fromkeys(METRICS, source))


def rating(number: int, **scores: int) -> Rating:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return Rating(rater="ann", label_id=f"q{number}", scores=scores, at=at)


def agreed(figures: Sequence[float], marks: Sequence[int]) -> list[PeopleAgreement]:
    scored = [judged(number, value) for number, value in enumerate(figures)]
    ratings = [rating(number, accuracy=mark) for number, mark in enumerate(marks)]
    return agreement_with_people(scored, ratings, SCALES)


def test_kappa_is_that_of_the_judge_from_one_half_on() -> None:
    # 3 of 4 agree; by chance 1/2 * 3/4 + 1/2 * 1/4 = 1/2 do: (3/4 - 1/2) / (1 - 1/2)
    (result,) = agreed([0.9, 0.5, 0.4, 0.0], [5, 4, 4, 1])
    assert (result.scale, result.metric, result.count) == ("accuracy", "answer_correctness", 4)
    assert result.agreeing == 3 / 4
    assert result.kappa == pytest.approx(1 / 2)


def test_each_scale_is_held_against_the_figure_that_means_it() -> None:
    marks = rating(1, relevance=1, accuracy=5, wit=5)
    result = agreement_with_people([judged(1, 1.0)], [marks, rating(2, accuracy=1)], SCALES)
    assert [(one.scale, one.metric, one.agreeing) for one in result] == [
        ("accuracy", "answer_correctness", 1),
        ("relevance", "answer_relevancy", 0),
    ]


def test_the_middle_mark_says_neither() -> None:
    (result,) = agreed([1.0, 1.0, 0.0], [4, 3, 2])
    assert (result.count, result.agreeing) == (2, 1)


def test_a_passage_is_judged_by_the_question_where_there_is_no_reference(
    panel: Panel, script: Script
) -> None:
    judged = judge_one(panel, label=replace(LABEL, answers=()))
    assert value_of(judged, "context_precision") == (1.0, "judge")
    assert "<reference" not in script.requests("useful")[0]
    assert "context_recall" not in judged.scored.figures
    assert not script.requests("attributed")


@pytest.mark.parametrize(
    ("replies", "metric", "value"),
    [
        (("useful", BROKEN, verdicts("yes", "no"), verdicts("yes", "no")), "context_precision", 1),
        (("guess", EVADING, guess(QUESTION), EVADING), "answer_relevancy", 0),
        (("mark", f"```json\n{json.dumps(mark(7))}\n```"), "answer_correctness", 0.7),
    ],
    ids=["one of three is broken", "most are noncommittal", "json in a fence"],
)
def test_what_most_votes_say_counts(
    panel: Panel, script: Script, replies: tuple[Rules, object], metric: str, value: float
) -> None:
    script.say(*replies)
    assert value_of(judge_one(panel), metric) == (value, "judge")


@pytest.mark.parametrize(
    ("reply", "note"),
    [
        *(({"score": score, "reason": "So."}, MALFORMED) for score in (11, -1, "10", True, None)),
        (Says(json.dumps(mark(10)), finish="length"), CUT_OFF),
        (
            Says(json.dumps(mark(10)), finish="content_filter"),
            "The judge's provider withheld its reply.",
        ),
    ],
)
def test_a_mark_that_is_none_leaves_the_estimate_and_says_why(
    panel: Panel, script: Script, reply: object, note: str
) -> None:
    script.say("mark", reply)
    script.say("statements", {"statements": []})  # an answer that states nothing
    judged = judge_one(panel)
    for name in ("answer_correctness", "faithfulness"):
        assert value_of(judged, name) == (ESTIMATES[name], "heuristic")
    assert note in notes([judged])


def test_what_needs_no_verdict_is_not_asked(panel: Panel, script: Script) -> None:
    judged = judge_one(panel, reply("ABSTAIN", question=QUESTION))
    assert {one.metric: (one.value, one.source) for one in judged.judgements} == {
        "context_precision": (0.0, "fixed"),
        "context_recall": (0.0, "fixed"),
        "answer_correctness": (0.0, "fixed"),
    }
    failed = judge_one(panel, ANSWERED.model_copy(update={"error": "It was busy."}))
    assert (failed.judgements, dict(failed.scored.figures)) == ((), {"failed": 1.0})
    assert not script.server.requests


def test_votes_are_of_an_odd_number(server: OpenAIServer, script: Script, tmp_path: Path) -> None:
    for votes in (0, 2, 4):
        with (
            pytest.raises(RequestError, match="odd number"),
            judge_of(server, tmp_path, votes=votes),
        ):
            pass
    with judge_of(server, tmp_path, votes=1) as panel:
        judge_one(panel)
    assert len(script.requests("useful")) == 1


def test_people_are_not_compared_with_an_estimate_and_have_no_kappa_where_all_agree() -> None:
    scored = [judged(1, 1.0, "heuristic")]
    assert agreement_with_people(scored, [rating(1, accuracy=5)], SCALES) == []
    (result,) = agreed([1.0, 1.0], [5, 5])
    assert (result.kappa, result.agreeing, result.count) == (None, 1, 2)
