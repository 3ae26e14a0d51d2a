"""What a judge's calls cost, and what becomes of those that fail; none is made twice."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from openinference.semconv.trace import SpanAttributes

from atlas_search.core.errors import ConfigurationError, RequestError
from atlas_search.core.targets import Target
from atlas_search.evaluation.judge.judge import JudgedQuestion, judge_questions
from atlas_search.evaluation.judge.kept import NAME, KeptReplies
from atlas_search.evaluation.judge.outage import FAILURES
from atlas_search.evaluation.judge.panel import Panel
from atlas_search.evaluation.judge.report import report_of
from atlas_search.evaluation.labels.label import Label
from atlas_search.evaluation.scored import Scored, score
from tests.chat_server import KEY, Cut, Reply, Says, Silence
from tests.evaluation.judging import (
    ANSWERED,
    GOOD,
    LABEL,
    PRICES,
    TOOLS,
    Script,
    judge_of,
    judge_one,
    mark,
    notes,
)
from tests.openai_server import OpenAIServer, openai_server, refusal
from tests.recorded_spans import recording, said

CALLS = 1 + 3 + 3 + 3 + 3 + 1 + 3
"""Of a question: statements, their verdicts, passages, sentences, guesses, steps and marks."""
COST_OF_CALL = (11 * 1 + 7 * 10) / 1e6
"""The server says that each call took 11 and 7 tokens."""

BUSY = Reply(429, {"error": {"message": "Slow down."}}, {"Retry-After": "0"})


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with openai_server() as running:
        yield running


@pytest.fixture
def script(server: OpenAIServer) -> Script:
    return Script(server, **GOOD)


def questions(count: int) -> list[Scored]:
    """So many different questions with the same answer."""
    labels = [replace(LABEL, id=f"q{n}", question=f"What do {n} cows give?") for n in range(count)]
    return [score(label, ANSWERED, TOOLS) for label in labels]


def judge_many(panel: Panel, count: int, parallel: int = 1) -> list[JudgedQuestion]:
    return judge_questions(panel, TOOLS, "r1", questions(count), parallel=parallel)


def test_a_second_judging_asks_nothing(
    server: OpenAIServer, script: Script, tmp_path: Path
) -> None:
    with judge_of(server, tmp_path) as panel:
        first = judge_one(panel)
        assert (panel.model.spending.calls, len(server.requests)) == (CALLS, CALLS)
    with judge_of(server, tmp_path, max_cost=0) as panel:
        assert judge_one(panel) == first
        assert panel.model.spending.calls == 0
    assert len(server.requests) == CALLS
    assert (tmp_path / NAME).stat().st_mode & 0o777 == 0o600


def test_another_question_and_another_model_are_asked_anew(
    server: OpenAIServer, script: Script, tmp_path: Path
) -> None:
    with judge_of(server, tmp_path) as panel:
        judge_one(panel)
        judge_one(panel, label=replace(LABEL, question="What do cows not give?"))
        # guesses and verdicts on statements are made without the question, steps without anything
        assert len(server.requests) == CALLS + CALLS - 3 - 3 - 1
        before = len(server.requests)
        judge_one(replace(panel, model=replace(panel.model, name="gpt-4o")))
    assert len(server.requests) == before + CALLS


def test_a_broken_reply_is_not_kept(server: OpenAIServer, script: Script, tmp_path: Path) -> None:
    script.say("mark", "None.")
    with judge_of(server, tmp_path) as panel:
        judge_one(panel)
    script.say("mark", mark(10))
    with judge_of(server, tmp_path) as panel:
        judged = judge_one(panel)
    assert judged.scored.sources["answer_correctness"] == "judge"
    assert len(script.asked("mark")) == 6


def test_of_two_replies_the_first_stays(tmp_path: Path) -> None:
    kept = KeptReplies(tmp_path / "deep" / NAME)
    assert kept.find("k") is None
    assert kept.keep("k", "one") == "one"
    assert KeptReplies(tmp_path / "deep" / NAME).keep("k", "other") == "one"


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("This is no database, but it is long enough for a header.")
    with pytest.raises(ConfigurationError, match=f"{NAME} cannot be used.*Delete it"):
        KeptReplies(tmp_path / NAME)
    with pytest.raises(sqlite3.DatabaseError):
        sqlite3.connect(tmp_path / NAME).execute("SELECT 1 FROM replies")


def test_what_it_takes_is_counted(server: OpenAIServer, script: Script, tmp_path: Path) -> None:
    with judge_of(server, tmp_path) as panel:
        report = report_of(panel, [judge_one(panel)])
    assert (report.calls, report.prompt_tokens, report.completion_tokens) == (
        CALLS,
        CALLS * 11,
        CALLS * 7,
    )
    assert report.cost == pytest.approx(CALLS * COST_OF_CALL)
    assert report.metrics_source == "judge"
    assert report.sources == {name: {"judge": 1} for name in report.sources}


def test_a_limit_needs_prices(server: OpenAIServer, tmp_path: Path) -> None:
    with (
        pytest.raises(RequestError, match="LLM_PRICE_INPUT and LLM_PRICE_OUTPUT"),
        judge_of(server, tmp_path, prices=Target(), max_cost=1),
    ):
        pass


@pytest.mark.parametrize("parallel", [1, 4])
def test_no_call_is_made_that_could_pass_the_limit(
    server: OpenAIServer, script: Script, tmp_path: Path, parallel: int
) -> None:
    limit = 0.06
    prices = Target(llm_price_input=100, llm_price_output=1)
    with judge_of(server, tmp_path, prices=prices, max_cost=limit) as panel:
        judged = judge_many(panel, 12, parallel)
        report = report_of(panel, judged)
    assert report.metrics_source == "mixed"
    assert report.cost is not None
    assert 0 < report.cost <= limit
    assert report.calls == len(server.requests) > CALLS  # it went on while there was room
    assert notes(judged) == {"The judge stopped at the limit of --max-cost."}
    assert all(len(one.judgements) == 5 for one in judged)


def test_tokens_that_a_server_does_not_count_are_counted_here(
    server: OpenAIServer, script: Script, tmp_path: Path
) -> None:
    script.say("mark", Says('{"score": 10, "reason": "It is right."}', usage=None))
    with judge_of(server, tmp_path) as panel:
        judge_one(panel)
        used = panel.model.spending.used
    assert used.prompt_tokens > (CALLS - 3) * 11 + 3 * 200
    assert used.completion_tokens > (CALLS - 3) * 7 + 3 * 8


def test_a_busy_provider_is_asked_again(
    server: OpenAIServer, script: Script, tmp_path: Path
) -> None:
    server.then(BUSY, BUSY, Reply(503, {"error": {"message": "Starting."}}))
    with judge_of(server, tmp_path) as panel:
        judged = judge_one(panel)
    assert set(judged.scored.sources.values()) == {"judge"}
    assert len(server.requests) == CALLS + 3


def test_one_question_that_the_provider_refuses_costs_no_other(
    server: OpenAIServer, script: Script, tmp_path: Path
) -> None:
    too_long = refusal(400, "This model's maximum context length is 8 tokens.", "context_length")
    script.say("useful", too_long)
    with judge_of(server, tmp_path) as panel:
        judged = judge_one(panel)
    assert judged.scored.sources["context_precision"] == "heuristic"
    assert sum(source == "heuristic" for source in judged.scored.sources.values()) == 1
    (note,) = notes([judged])
    assert "maximum context length is 8 tokens" in note


def test_a_call_that_takes_too_long_leaves_the_estimate(
    server: OpenAIServer, script: Script, tmp_path: Path
) -> None:
    script.say("mark", Silence())
    with judge_of(server, tmp_path, seconds=0.3) as panel:
        judged = judge_one(panel)
    assert judged.scored.sources["answer_correctness"] == "heuristic"
    assert "within 0.3 seconds" in " ".join(notes([judged]))


def test_a_text_that_breaks_off_is_paid_for_and_leaves_the_estimate(
    server: OpenAIServer, script: Script, tmp_path: Path
) -> None:
    script.say("mark", Says('{"score": 10, ', Cut()))
    with judge_of(server, tmp_path) as panel:
        judged = judge_one(panel)
        assert panel.model.spending.used.completion_tokens > (CALLS - 3) * 7
    assert judged.scored.sources["answer_correctness"] == "heuristic"


def test_a_provider_that_is_out_of_order_is_given_up(
    server: OpenAIServer, script: Script, tmp_path: Path
) -> None:
    server.says(lambda _: refusal(400, "Out of order."))
    with judge_of(server, tmp_path) as panel:
        judged = judge_many(panel, 20)
        report = report_of(panel, judged)
    assert report.calls == FAILURES
    assert report.metrics_source == "heuristic"
    assert report.judge_agreement is None
    assert any(note.startswith("The judge was given up after 5 failures") for note in report.notes)
    assert sum(report.notes.values()) == 20 * 5


def test_a_key_that_is_missing_leaves_all_estimates(server: OpenAIServer, tmp_path: Path) -> None:
    server.key = "another"
    with judge_of(server, tmp_path, key=KEY) as panel:
        report = report_of(panel, [judge_one(panel)])
    assert report.metrics_source == "heuristic"
    assert any("OPENAI_API_KEY" in note for note in report.notes)


def test_calls_are_spans_below_their_question(
    server: OpenAIServer, script: Script, tmp_path: Path
) -> None:
    with recording() as (tracer, recorded), judge_of(server, tmp_path, tracer=tracer) as panel:
        judge_many(panel, 2)
        roots, calls = recorded.named("judgement"), recorded.named("judge")
    assert [(said(root)["eval.run"], said(root)["eval.label"]) for root in roots] == [
        ("r1", "q0"),
        ("r1", "q1"),
    ]
    assert said(roots[0])["eval.faithfulness"] == 1
    own = roots[0].context.span_id
    first = [call for call in calls if call.parent and call.parent.span_id == own]
    assert len(first) == CALLS
    about = said(first[-1])
    assert about[SpanAttributes.OPENINFERENCE_SPAN_KIND] == "LLM"
    assert about[SpanAttributes.LLM_PROVIDER] == "openai"
    assert about[SpanAttributes.LLM_TOKEN_COUNT_PROMPT] == 11
    assert about[SpanAttributes.LLM_COST_TOTAL] == pytest.approx(COST_OF_CALL)
    assert about["vote"] == 3


def test_an_interrupt_stops_the_calls_that_run(
    server: OpenAIServer, script: Script, tmp_path: Path
) -> None:
    def interrupt(done: int, _: int) -> None:
        raise KeyboardInterrupt

    script.say("mark", mark(1), mark(1), mark(1), Silence())  # one question comes to its end
    with judge_of(server, tmp_path, seconds=60) as panel:
        with pytest.raises(KeyboardInterrupt):
            judge_questions(panel, TOOLS, "r1", questions(3), parallel=3, told=interrupt)
        assert panel.model.stop.is_set


def test_nothing_of_another_question_is_shown(
    server: OpenAIServer, script: Script, tmp_path: Path
) -> None:
    other = Label("q9", "test", "factual", "Who keeps bees?", ("The miller.",))
    with judge_of(server, tmp_path) as panel:
        judge_one(panel)
        before = len(server.requests)
        judge_one(panel, label=other)
    assert before
    assert not any("miller" in request.prompt for request in server.requests[:before])
    later = [request.prompt for request in server.requests[before:]]
    assert later
    assert not any("What do cows give?" in prompt or "Milk." in prompt for prompt in later)


def test_prices_are_those_of_a_million_tokens() -> None:
    assert PRICES.cost(11, 7) == pytest.approx(COST_OF_CALL)
