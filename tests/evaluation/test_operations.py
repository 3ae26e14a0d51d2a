"""What a run took, from replies made by hand."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from atlas_search.cli.evaluate_options import remarks_on, status_of
from atlas_search.evaluation.carry_out import RunOutcome, operations
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.metrics import Reply
from atlas_search.evaluation.run import EvalRun, LabelsUsed, RunSpec
from atlas_search.evaluation.scored import Scored
from tests.replies import reply

SPEC = RunSpec(
    id="r1",
    started=datetime(2026, 1, 1, tzinfo=UTC),
    labels=LabelsUsed(name="l.jsonl", sha256="", split="", questions=0),
    target="t",
    composite_target="t_m_c",
    options={},
    where="process",
    collection="c",
    collection_version="1",
    corpora=("a",),
)


def run_of(*replies: Reply) -> EvalRun:
    label = Label("q1", "test", "factual", "?")
    return EvalRun(SPEC, tuple(Scored(label, one, {}) for one in replies))


def took(seconds: float, **fields: object) -> Reply:
    return reply("ANSWER", "Yes.", **fields).model_copy(update={"seconds": seconds})


def usage(read: int, written: int, cost: float | None) -> dict[str, object]:
    return {
        "provider": "openai",
        "model": "m",
        "attempts": 1,
        "prompt_tokens": read,
        "completion_tokens": written,
        "cost": cost,
    }


def test_seconds_and_stages_are_medians_and_95th_percentiles() -> None:
    run = run_of(*(took(float(n), timings_ms={"embed": n * 10.0, "rank": 1.0}) for n in range(21)))
    found = operations(run)
    assert found.seconds
    assert (found.seconds.p50, found.seconds.p95, found.seconds.mean) == (10, 19, 10)
    assert list(found.stages_ms) == ["embed", "rank"]
    embed = found.stages_ms["embed"]
    assert (embed.p50, embed.p95, embed.count) == (100, 190, 21)


def test_intervals_are_by_the_bootstrap_over_questions() -> None:
    values = [float(n % 7) for n in range(40)]
    found = operations(run_of(*(took(each, usage=usage(9, 10, each)) for each in values)))
    random = np.random.default_rng(1)
    drawn = random.choice(values, (4000, len(values)))
    assert found.seconds
    for percent, ends in ((50, found.seconds.p50_interval), (95, found.seconds.p95_interval)):
        plain = np.quantile(np.percentile(drawn, percent, axis=1), [0.025, 0.975])
        assert ends == pytest.approx(plain, abs=0.35)
    # tokens a second are a ratio of sums, costs a mean
    rates = np.quantile(10 / drawn.mean(axis=1), [0.025, 0.975])
    assert found.tokens_per_second_interval == pytest.approx(rates, rel=0.05)
    costs = np.quantile(100 * drawn.mean(axis=1), [0.025, 0.975])
    assert found.cost_per_100_interval == pytest.approx(costs, rel=0.05)


def test_what_always_takes_as_long_has_an_interval_of_no_width() -> None:
    found = operations(run_of(*(took(2.0) for _ in range(5)))).seconds
    assert found
    assert (found.p50_interval, found.p95_interval) == ((2, 2), (2, 2))
    one = operations(run_of(took(3.0))).seconds
    assert one
    assert (one.p50, one.p50_interval) == (3, (3, 3))


def test_tokens_are_counted_and_costs_are_for_100_questions() -> None:
    run = run_of(
        took(2.0, usage=usage(100, 30, 0.002)),
        took(3.0, usage=usage(200, 20, 0.004)),
        took(9.0),  # declined without a model: it cost nothing
    )
    found = operations(run)
    assert (found.prompt_tokens, found.completion_tokens) == (300, 50)
    assert found.tokens_per_second == 50 / (2.0 + 3.0)
    assert found.cost_per_100 == pytest.approx(100 * (0.002 + 0.004 + 0) / 3)


def test_what_is_not_known_is_none() -> None:
    found = operations(run_of(took(1.0)))
    assert (found.tokens_per_second, found.cost_per_100) == (None, None)
    nothing = operations(run_of())
    assert (nothing.questions, nothing.seconds, nothing.stages_ms) == (0, None, {})


def test_kept_answers_failures_retries_and_fallbacks_are_told() -> None:
    fallback = {"code": "model_unavailable", "message": "away"}
    run = run_of(
        took(1.0, timings_ms={"embed": 10.0}, fallback=fallback),
        took(0.1, timings_ms={"embed": 999.0}, usage=usage(9, 9, 1.0), cache_hit=True),
        Reply(label_id="q1", seconds=60, error="away", tries=6),
    )
    found = operations(run)
    assert (found.questions, found.failed, found.retried, found.fallbacks) == (3, 1, 1, 1)
    assert found.cache_hits == 1 / 2
    assert found.stages_ms["embed"].p95 == 10  # a kept answer took no stage now
    assert found.seconds
    assert found.seconds.count == 2
    assert (found.completion_tokens, found.cost_per_100) == (0, None)


def test_what_a_run_lacks_is_told_and_decides_the_status() -> None:
    fallback = {"code": "model_unavailable", "message": "away"}
    kept = took(0.1, cache_hit=True)
    good = RunOutcome(run_of(took(1.0)), missing=0, stopped=False)
    assert (remarks_on(good), status_of(good, require_llm=True)) == ([], 0)
    stood_in = RunOutcome(run_of(took(1.0, fallback=fallback), kept), missing=0, stopped=False)
    assert remarks_on(stood_in) == [
        "1 answers are not the language model's (fallback).",
        "50% of the answers were kept ones: their seconds say little.",
    ]
    assert [status_of(stood_in, require_llm=wanted) for wanted in (False, True)] == [0, 1]
    failed = RunOutcome(run_of(Reply(label_id="q1", seconds=1, error="away")), 2, stopped=True)
    assert remarks_on(failed) == [
        "1 questions failed, the first: away",
        "2 questions were not asked.",
    ]
    assert status_of(failed, require_llm=False) == 130
    assert status_of(replace(failed, stopped=False), require_llm=False) == 1
