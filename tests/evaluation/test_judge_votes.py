"""The judge is asked three times where it decides; a reply of another form is none."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from atlas_search.core.errors import RequestError
from atlas_search.evaluation import estimates
from atlas_search.evaluation.judge import Panel, judge_question
from atlas_search.evaluation.judge_model import CUT_OFF, MALFORMED
from atlas_search.evaluation.metrics import Case
from tests.chat_server import Says
from tests.evaluation.judging import (
    ANSWERED,
    GOOD,
    LABEL,
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
from tests.openai_server import OpenAIServer, openai_server

ESTIMATES = estimates.measure_overlap(Case(LABEL, ANSWERED, TOOLS))
BROKEN = "I think that it is right."


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


def test_most_of_three_votes_decide_and_their_disagreement_is_kept(
    panel: Panel, script: Script
) -> None:
    script.say("useful", verdicts("yes", "yes"), verdicts("no", "yes"), verdicts("no", "yes"))
    judged = judge_one(panel)
    assert len(script.asked("useful")) == 3
    assert len(set(script.asked("useful"))) == 1
    assert value_of(judged, "context_precision") == (1 / 2, "judge")  # the second alone is useful
    first, second = judged.judgements[0].decisions
    assert (first.verdict, first.agreement, first.reason) == (0, 2 / 3, "no on 1")
    assert (second.verdict, second.agreement) == (1, 1)
    # of 6 decisions one is of two votes: passages 2/3 and 1, recall, statement, guess and mark 1
    assert judged.scored.figures["judge_agreement"] == pytest.approx((2 / 3 + 5) / 6)


def test_the_model_is_asked_at_temperature_0(panel: Panel, script: Script) -> None:
    judge_one(panel)
    assert {request.body["temperature"] for request in script.server.requests} == {0.0}


def test_one_broken_vote_of_three_changes_nothing_where_the_others_agree(
    panel: Panel, script: Script
) -> None:
    script.say("useful", BROKEN, verdicts("yes", "no"), verdicts("yes", "no"))
    assert value_of(judge_one(panel), "context_precision") == (1.0, "judge")


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


@pytest.mark.parametrize("score", [11, -1, "10", True, None])
def test_a_mark_beyond_the_scale_is_none(panel: Panel, script: Script, score: object) -> None:
    script.say("mark", {"score": score, "reason": "So it is."})
    judged = judge_one(panel)
    assert value_of(judged, "answer_correctness") == (ESTIMATES["answer_correctness"], "heuristic")
    assert notes([judged]) == {MALFORMED}


def test_json_in_a_fence_is_read(panel: Panel, script: Script) -> None:
    script.say("mark", f"```json\n{json.dumps(mark(7))}\n```")
    assert value_of(judge_one(panel), "answer_correctness") == (0.7, "judge")


@pytest.mark.parametrize(
    ("finish", "note"),
    [
        ("length", CUT_OFF),
        ("content_filter", "The judge's provider withheld its reply."),
    ],
)
def test_what_is_cut_off_or_withheld_leaves_the_estimate(
    panel: Panel, script: Script, finish: str, note: str
) -> None:
    script.say("mark", Says(json.dumps(mark(10)), finish=finish))
    judged = judge_one(panel)
    assert value_of(judged, "answer_correctness") == (ESTIMATES["answer_correctness"], "heuristic")
    assert notes([judged]) == {note}


def test_an_answer_that_states_nothing_leaves_the_estimate(panel: Panel, script: Script) -> None:
    script.say("statements", {"statements": []})
    judged = judge_one(panel)
    assert value_of(judged, "faithfulness") == (ESTIMATES["faithfulness"], "heuristic")


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


@pytest.mark.parametrize("votes", [0, 2, 4])
def test_votes_are_of_an_odd_number(server: OpenAIServer, tmp_path: Path, votes: int) -> None:
    with (
        pytest.raises(RequestError, match="odd number"),
        judge_of(server, tmp_path, votes=votes),
    ):
        pass


def test_one_vote_is_one_call(server: OpenAIServer, script: Script, tmp_path: Path) -> None:
    with judge_of(server, tmp_path, votes=1) as panel:
        judge_one(panel)
    assert len(script.asked("useful")) == 1
