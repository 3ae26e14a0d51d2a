"""Each measure of the judge adds up the verdicts as its published definition does."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from atlas_search.evaluation.judge import Panel, average_precision
from tests.evaluation.judging import (
    ANSWERED,
    GOOD,
    LABEL,
    QUESTION,
    TOOLS,
    Script,
    guess,
    judge_of,
    judge_one,
    mark,
    value_of,
    verdicts,
)
from tests.openai_server import OpenAIServer, openai_server
from tests.replies import passage, reply


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with openai_server() as running:
        yield running


@pytest.fixture
def script(server: OpenAIServer) -> Script:
    return Script(server, **GOOD)


@pytest.fixture
def panel(server: OpenAIServer, tmp_path: Path) -> Iterator[Panel]:
    with judge_of(server, tmp_path) as opened:
        yield opened


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
    (material, *_) = script.asked("supported")
    assert '<statement number="2">\nMilk is blue.\n</statement>' in material
    assert '<passage number="1" title="farm.cows">\nCows give milk.\n</passage>' in material
    assert "Hens give eggs." in material
    (decisions,) = [one.decisions for one in judged.judgements if one.metric == "faithfulness"]
    assert [one.about for one in decisions] == stated
    assert decisions[1].reason == "no on 2"


def test_context_precision_is_the_mean_precision_at_useful_passages(
    panel: Panel, script: Script
) -> None:
    found = [passage("farm.cows", f"Passage {number}.", number=number) for number in range(4)]
    script.say("useful", verdicts("no", "yes", "no", "yes"))
    judged = judge_one(panel, reply("ABSTAIN", passages=found, question=QUESTION))
    assert value_of(judged, "context_precision") == ((1 / 2 + 2 / 4) / 2, "judge")
    assert "<reference" in script.asked("useful")[0]


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


def test_a_passage_is_judged_by_the_question_where_there_is_no_reference(
    panel: Panel, script: Script
) -> None:
    judged = judge_one(panel, label=replace(LABEL, answers=()))
    assert value_of(judged, "context_precision") == (1.0, "judge")
    assert "<reference" not in script.asked("useful")[0]
    assert "context_recall" not in judged.scored.figures
    assert not script.asked("attributed")


def test_context_recall_is_the_share_of_the_best_reference(panel: Panel, script: Script) -> None:
    label = replace(LABEL, answers=("Milk. It is white. It is sold.", "Cows give milk. Twice."))
    script.say("attributed", verdicts("yes", "no", "no", "yes", "no"))
    judged = judge_one(panel, label=label)
    assert value_of(judged, "context_recall") == (1 / 2, "judge")
    assert '<sentence number="3">\nIt is sold.\n</sentence>' in script.asked("attributed")[0]


def test_answer_relevancy_is_the_mean_cosine_of_questions(panel: Panel, script: Script) -> None:
    script.say("guess", guess(QUESTION), guess("What do hens give?"), guess(QUESTION))
    asked, other = TOOLS.embedder.embed([QUESTION, "What do hens give?"])
    cosine = float(asked @ other)
    judged = judge_one(panel)
    assert value_of(judged, "answer_relevancy") == (
        pytest.approx((1 + cosine + 1) / 3, abs=1e-6),
        "judge",
    )
    assert "<question>" not in script.asked("guess")[0]  # it is to be guessed


def test_an_answer_that_most_find_noncommittal_is_not_relevant(
    panel: Panel, script: Script
) -> None:
    evading = guess(QUESTION, noncommittal=True)
    script.say("guess", evading, guess(QUESTION), evading)
    assert value_of(judge_one(panel), "answer_relevancy") == (0.0, "judge")


def test_answer_correctness_is_the_median_of_marks_by_the_same_steps(
    panel: Panel, script: Script
) -> None:
    script.say("mark", mark(9), mark(4), mark(8))
    judged = judge_one(panel)
    assert value_of(judged, "answer_correctness") == (0.8, "judge")
    (decision,) = judged.judgements[-1].decisions
    assert decision.reason == "It deserves 8."
    assert '<step number="1">\nCompare.\n</step>' in script.asked("mark")[0]
    judge_one(panel, label=replace(LABEL, question="And what do they eat?"))
    assert len(script.asked("steps")) == 1


def test_what_needs_no_verdict_is_not_asked(panel: Panel, script: Script) -> None:
    judged = judge_one(panel, reply("ABSTAIN", question=QUESTION))
    assert {one.metric: (one.value, one.source) for one in judged.judgements} == {
        "context_precision": (0.0, "fixed"),
        "context_recall": (0.0, "fixed"),
        "answer_correctness": (0.0, "fixed"),
    }
    assert not script.server.requests


def test_a_question_that_failed_has_nothing_to_judge(panel: Panel, script: Script) -> None:
    judged = judge_one(panel, ANSWERED.model_copy(update={"error": "It was busy."}))
    assert not judged.judgements
    assert dict(judged.scored.figures) == {"failed": 1.0}
    assert not script.server.requests


def test_passages_that_do_not_fit_are_shown_whole_in_several_calls(
    server: OpenAIServer, script: Script, tmp_path: Path
) -> None:
    long = "Cows give milk. " * 60
    found = [passage(f"farm.{name}", f"{name}. {long}") for name in ("cows", "hens", "bees")]
    script.say("useful", verdicts("yes"))
    script.say("supported", verdicts("no"), verdicts("no"), verdicts("no"), verdicts("yes"))
    came = reply("ANSWER", "Milk.", passages=found, question=QUESTION)
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
    assert len(script.asked("supported")) == 3 * 3
    assert all(material.count("<passage") == 1 for material in script.asked("supported"))
    assert sum(found[2].text in material for material in script.asked("supported")) == 3
