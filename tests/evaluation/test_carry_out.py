"""Runs: written as they go, gone on with as they began, and whole whatever fails."""

import json
import os
import signal
import threading
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from atlas_search.cli.evaluate_options import remarks_on, status_of
from atlas_search.core.errors import AtlasError, Unavailable
from atlas_search.evaluation.asking import PATIENCE, Asker
from atlas_search.evaluation.calibrate import keep
from atlas_search.evaluation.carry_out import (
    Facts,
    ProcessSubject,
    RunOutcome,
    carry_out,
    check_same,
    missing,
    model_settings,
    operations,
)
from atlas_search.evaluation.folder import REPLIES, RUN, RunFolder
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.metrics import Reply, Tools
from atlas_search.evaluation.report_files import write_reports
from atlas_search.evaluation.run import EvalRun, RunSpec, labels_digest
from atlas_search.evaluation.scored import Scored
from atlas_search.stores.manifest import Calibration
from tests.conftest import TODAY
from tests.evaluation.farm import (
    AWAY,
    LABELS,
    Away,
    answer_all,
    build_farm,
    figures,
    new_run,
    opened_farm,
)
from tests.evaluation.made_runs import spec
from tests.recorded_spans import recording, said, traced_by
from tests.replies import reply

FATAL = 3
"""Questions after which a process is killed."""


@dataclass(frozen=True)
class Troubled:
    """A subject of which some questions fail, `failing` of them each time they are asked."""

    whole: ProcessSubject
    failing: set[str] = field(default_factory=set)
    error: BaseException = field(default_factory=lambda: ZeroDivisionError("by chance"))

    def __getattr__(self, name: str) -> object:
        return getattr(self.whole, name)

    def asker(self, spec: RunSpec) -> Asker:
        real = self.whole.asker(spec)

        class _Asker:
            def ask(_, label: Label) -> Reply:
                if label.id not in self.failing:
                    return real.ask(label)
                if isinstance(self.error, Exception):
                    broken = replace(real, atlas=None)  # type: ignore[type-var]
                    return broken.ask(label)
                raise self.error

        return _Asker()


def test_a_run_asks_all_and_writes_all_it_needs_to_be_read_again(
    subject: ProcessSubject, tmp_path: Path
) -> None:
    report: list[tuple[int, int]] = []
    folder = new_run(tmp_path / "run", subject)
    outcome = carry_out(folder, subject, told=lambda *done: report.append(done))
    assert outcome.complete
    assert report == [(number, 6) for number in range(1, 7)]
    loaded = folder.load()
    assert [one.label for one in loaded.scored] == list(LABELS)
    assert [one.figures for one in loaded.scored] == [one.figures for one in outcome.run.scored]
    assert loaded.scored[0].figures["recall"] == 1
    spec = loaded.spec
    assert (spec.target, spec.where, spec.collection) == ("k10_extractive", "process", "farm")
    assert spec.options["search_k"] == 10
    assert spec.today == TODAY
    assert spec.settings["embedding_model"] == "hash"
    assert spec.labels.sha256 == labels_digest(LABELS)
    answers = [one.reply.answer for one in loaded.scored]
    assert {answer.session_id for answer in answers if answer} == {spec.id}


@pytest.mark.parametrize("parallel", [1, 3])
def test_every_trace_names_the_run_and_its_question(
    subject: ProcessSubject, tmp_path: Path, parallel: int
) -> None:
    with recording(content=False) as (tracer, recorded):
        atlas = type(subject.atlas)(traced_by(subject.atlas.services, tracer))
        traced = replace(subject, atlas=atlas)
        folder = new_run(tmp_path / "run", traced)
        carry_out(folder, traced, parallel=parallel)
        arguments = [said(span) for span in recorded.named("ask")]
        (root,) = [said(span) for span in recorded.roots if span.name == "evaluation"]
    id_ = folder.spec().id
    assert {each["eval.run"] for each in arguments} == {root["eval.run"]} == {id_}
    assert sorted(each["eval.label"] for each in arguments) == sorted(label.id for label in LABELS)
    assert {each["session.id"] for each in arguments} == {id_}
    traces = {reply.answer.trace_id for reply in folder.replies().values() if reply.answer}
    assert len(traces) == len(LABELS)


def test_a_question_that_fails_costs_no_other_and_is_asked_again(
    subject: ProcessSubject, tmp_path: Path
) -> None:
    folder = new_run(tmp_path / "run", subject)
    outcome = carry_out(folder, Troubled(subject, {"q2"}))
    (error,) = outcome.run.failed
    assert error.startswith("AttributeError: ")
    assert (outcome.complete, outcome.missing) == (False, 0)
    assert [label.id for label in missing(folder)] == ["q2"]
    assert carry_out(folder, subject).complete
    assert len((folder.path / REPLIES).read_text().splitlines()) == 7
    whole = new_run(tmp_path / "whole", subject)
    carry_out(whole, subject)
    assert figures(folder) == figures(whole)


@pytest.mark.parametrize("parallel", [1, 2])
def test_an_interrupt_ends_with_figures_of_what_came_back(
    subject: ProcessSubject, tmp_path: Path, parallel: int
) -> None:
    folder = new_run(tmp_path / "run", subject)
    interrupted = Troubled(subject, {"q4"}, KeyboardInterrupt())
    outcome = carry_out(folder, interrupted, parallel=parallel)
    assert outcome.stopped
    assert 0 < len(outcome.run.scored) == 6 - outcome.missing < 6
    assert len(folder.load().scored) == len(outcome.run.scored)
    assert carry_out(folder, subject).complete


def _die_while_asking(store: Path, path: Path) -> None:
    """Killed after some replies, in the middle of writing the next."""
    folder = RunFolder(path)

    def killed(done: int, questions: int) -> None:
        if done == FATAL:
            with (path / REPLIES).open("a") as file:
                file.write('{"label_id": "q4", "answer": {"question": "Wh\u2019')
            os.kill(os.getpid(), signal.SIGKILL)

    with opened_farm(store) as subject:
        carry_out(folder, subject, told=killed)


@pytest.mark.thorough
def test_a_run_that_is_killed_goes_on_with_the_same_figures(farm: Path, tmp_path: Path) -> None:
    with opened_farm(farm) as subject:
        whole, folder = (new_run(tmp_path / name, subject) for name in ("whole", "killed"))
        carry_out(whole, subject)
    dying = get_context("spawn").Process(target=_die_while_asking, args=(farm, folder.path))
    dying.start()
    dying.join(120)
    assert dying.exitcode == -signal.SIGKILL
    assert len(folder.replies()) == FATAL
    arguments: list[tuple[int, int]] = []
    with opened_farm(farm) as subject:
        check_same(folder, subject)
        outcome = carry_out(folder, subject, told=lambda *done: arguments.append(done))
    assert outcome.complete
    assert arguments[-1] == (3, 3)  # the others were not asked again
    assert figures(folder) == figures(whole)
    lines = (folder.path / REPLIES).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["label_id"] for line in lines] == [label.id for label in LABELS]


def test_only_one_process_is_at_work_on_a_run(subject: ProcessSubject, tmp_path: Path) -> None:
    folder = new_run(tmp_path / "run", subject)
    with folder.held(), pytest.raises(AtlasError, match="Another process is at work"):
        carry_out(RunFolder(folder.path), subject)
    assert carry_out(folder, subject).complete


def test_a_run_goes_on_only_with_what_it_asked(farm: Path, tmp_path: Path) -> None:
    with opened_farm(farm) as subject:
        folder = new_run(tmp_path / "run", subject)
        check_same(folder, subject)
    targets = tmp_path / "targets"
    targets.mkdir()
    (targets / "k10_extractive.txt").write_text("SEARCH_K=4\n")
    with (
        opened_farm(farm, targets_directory=targets) as other,
        pytest.raises(AtlasError, match=r"options was .*search_k=10.* and is .*search_k=4"),
    ):
        check_same(folder, other)
    build_farm(tmp_path / "stores")
    with (
        opened_farm(tmp_path / "stores" / "farm") as rebuilt,
        pytest.raises(AtlasError, match="collection_version was"),
    ):
        check_same(folder, rebuilt)
    lines = (folder.path / "labels.jsonl").read_text()
    (folder.path / "labels.jsonl").write_text(lines.replace("sheep", "goats"))
    with opened_farm(farm) as subject, pytest.raises(AtlasError, match=r"questions of .* changed"):
        check_same(folder, subject)


@pytest.fixture
def run(subject: ProcessSubject, tmp_path: Path) -> RunFolder:
    return new_run(tmp_path / "run", subject)


def refused(because: str) -> AbstractContextManager[object]:
    return pytest.raises(AtlasError, match=f"cannot go on: {because}")


def test_a_calibration_in_between_is_told(tmp_path: Path) -> None:
    store = build_farm(tmp_path / "stores")
    with opened_farm(store) as before:
        run = new_run(tmp_path / "run", before)
        version = run.spec().collection_version
    choice = Calibration(
        threshold=0.9,
        basis="made",
        good=1,
        off_topic=1,
        lost=0,
        rejected=1,
        content_digest="",
        created="2026-01-01T00:00:00Z",
    )
    keep(store, version, choice)
    with (
        opened_farm(store) as after,
        refused("settings was answer_threshold=0.0 and is answer_threshold=0.9"),
    ):
        check_same(run, after)


def test_a_prompt_and_a_server_that_were_changed_are_told(farm: Path, tmp_path: Path) -> None:
    targets = tmp_path / "targets"
    targets.mkdir()
    (targets / "mine.txt").write_text("LLM_PROVIDER=openai\nSYSTEM_PROMPT=mine\n")
    (targets / "mine.prompt").write_text("Be brief.")
    at = {"targets_directory": targets, "test_target": "mine"}
    one = "http://me:secret@127.0.0.1:9/v1/?key=secret"
    with opened_farm(farm, "mine", **at, openai_base_url=one) as before:
        run = new_run(tmp_path / "run", before)
    assert run.spec().settings["model_server"] == "http://127.0.0.1:9/v1"
    assert "secret" not in (run.path / RUN).read_text()
    with (
        opened_farm(farm, "mine", **at, openai_base_url="http://127.0.0.1:8/v1") as other,
        refused("settings was model_server=http://127.0.0.1:9/v1 and"),
    ):
        check_same(run, other)
    (targets / "mine.prompt").write_text("Be long.")
    with (
        opened_farm(farm, "mine", **at, openai_base_url=one) as other,
        refused("settings was system_prompt_version="),
    ):
        check_same(run, other)


def test_what_computes_its_figures_is_recorded(subject: ProcessSubject, run: RunFolder) -> None:
    spec = run.spec()
    for package in ("onnxruntime", "ir-measures", "scipy", "numpy", "torch", "chromadb"):
        assert spec.versions[package] == version(package)
    info = subject.atlas.services.searcher.embedder.info
    assert "embedding_runtime" not in spec.settings  # hashes are computed by no library
    assert model_settings(replace(info, runtime="torch 2.1"))["embedding_runtime"] == "torch"


class Changing(Troubled):
    """A subject that is another at the end."""

    def now(self) -> Facts:
        return replace(self.whole.facts, collection_version="v2")


class Gone(Troubled):
    """A subject of which nothing is known at the end."""

    def now(self) -> Facts:
        raise Unavailable("Nobody answers.")


def test_what_changed_while_it_was_asked_is_told(subject: ProcessSubject, run: RunFolder) -> None:
    assert carry_out(run, subject).changed == ()
    (change,) = carry_out(run, Changing(subject)).changed
    assert change.startswith("collection_version was ")
    assert carry_out(run, Gone(subject)).changed == ("it does not say (Nobody answers.)",)


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
    result = operations(run)
    assert result.seconds
    assert (result.seconds.p50, result.seconds.p95) == (10, 19)
    assert list(result.stages_ms) == ["embed", "rank"]
    embed = result.stages_ms["embed"]
    assert (embed.p50, embed.p95, embed.count) == (100, 190, 21)


def test_intervals_are_by_the_bootstrap_over_questions() -> None:
    values = [float(n % 7) for n in range(40)]
    result = operations(run_of(*(took(each, usage=usage(9, 10, each)) for each in values)))
    random = np.random.default_rng(1)
    drawn = random.choice(values, (4000, len(values)))
    assert result.seconds
    for percent, ends in ((50, result.seconds.p50_interval), (95, result.seconds.p95_interval)):
        plain = np.quantile(np.percentile(drawn, percent, axis=1), [0.025, 0.975])
        assert ends == pytest.approx(plain, abs=0.35)
    # tokens a second are a ratio of sums, costs a mean
    rates = np.quantile(10 / drawn.mean(axis=1), [0.025, 0.975])
    assert result.tokens_per_second_interval == pytest.approx(rates, rel=0.05)
    costs = np.quantile(100 * drawn.mean(axis=1), [0.025, 0.975])
    assert result.cost_per_100_interval == pytest.approx(costs, rel=0.05)


def test_tokens_are_counted_and_costs_are_for_100_questions() -> None:
    run = run_of(
        took(2.0, usage=usage(100, 30, 0.002)),
        took(3.0, usage=usage(200, 20, 0.004)),
        took(9.0),  # declined without a model: it cost nothing
    )
    result = operations(run)
    assert (result.prompt_tokens, result.completion_tokens) == (300, 50)
    assert result.tokens_per_second == 50 / (2.0 + 3.0)
    assert result.cost_per_100 == pytest.approx(100 * (0.002 + 0.004 + 0) / 3)


def test_kept_answers_failures_retries_and_fallbacks_are_told() -> None:
    fallback = {"code": "model_unavailable", "message": "away"}
    run = run_of(
        took(1.0, timings_ms={"embed": 10.0}, fallback=fallback),
        took(0.1, timings_ms={"embed": 999.0}, usage=usage(9, 9, 1.0), cache_hit=True),
        Reply(label_id="q1", seconds=60, error="away", tries=6),
    )
    result = operations(run)
    assert (result.questions, result.failed, result.retried, result.fallbacks) == (3, 1, 1, 1)
    assert result.cache_hits == 1 / 2
    assert result.stages_ms["embed"].p95 == 10  # a kept answer took no stage now
    assert result.seconds
    assert result.seconds.count == 2
    assert (result.completion_tokens, result.cost_per_100) == (0, None)


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
    assert [status_of(stood_in, require_llm=request) for request in (False, True)] == [0, 1]
    failed = RunOutcome(run_of(Reply(label_id="q1", seconds=1, error="away")), 2, stopped=True)
    assert remarks_on(failed) == [
        "1 questions failed, the first: away",
        "2 questions were not asked.",
    ]
    assert status_of(failed, require_llm=False) == 130
    assert status_of(replace(failed, stopped=False), require_llm=False) == 1


def test_another_version_of_atlas_is_told(subject: ProcessSubject, run: RunFolder) -> None:
    report = json.loads((run.path / RUN).read_text())
    report["versions"] |= {"numpy": "0.0"}
    (run.path / RUN).write_text(json.dumps(report))
    check_same(run, subject)  # a library may be another
    report["versions"] |= {"atlas-research-search": "0.0.9"}
    (run.path / RUN).write_text(json.dumps(report))
    with refused("version of Atlas was atlas-research-search=0.0.9 and is"):
        check_same(run, subject)


def test_several_threads_ask_at_once(subject: ProcessSubject, run: RunFolder) -> None:
    barrier = threading.Barrier(3, timeout=60)  # breaks unless three questions meet

    class _Meeting:
        def ask(self, label: Label) -> Reply:
            barrier.wait()
            return Reply(label_id=label.id, seconds=0, error="met")

    class _Subject(Troubled):
        def asker(self, spec: RunSpec) -> Asker:
            return _Meeting()

    assert carry_out(run, _Subject(subject), parallel=3).run.failed == ["met"] * 6


@dataclass(frozen=True)
class WithoutEmbedder:
    """A subject whose answers are compared by an embedding model that is away."""

    whole: ProcessSubject
    away: Away

    def __getattr__(self, name: str) -> object:
        return getattr(self.whole, name)

    def tools(self, k: int | None) -> Tools:
        return Tools(self.away, limit=10)


def test_without_its_embedding_model_a_run_has_all_other_figures(
    subject: ProcessSubject, tmp_path: Path
) -> None:
    run, whole = new_run(tmp_path / "run", subject), new_run(tmp_path / "whole", subject)
    answer_all(run)
    answer_all(whole)
    carry_out(whole, subject)
    away = Away()
    outcome = carry_out(run, WithoutEmbedder(subject, away))
    assert outcome.run.lacking == [AWAY] * len(LABELS)
    assert not outcome.complete
    assert away.calls == PATIENCE  # further calls would each wait as long
    for label, whole_figures in figures(whole).items():
        assert "similarity" in whole_figures
        without = {name: value for name, value in whole_figures.items() if name != "similarity"}
        assert figures(run)[label] == without
    assert not write_reports(run.path).faults
    assert f"6 of 6 questions lack figures: {AWAY}" in (run.path / "report.html").read_text()
    assert carry_out(run, subject).complete  # nothing is asked again
    assert len((run.path / REPLIES).read_text().splitlines()) == len(LABELS)
    assert figures(run) == figures(whole)


# operations


def run_of(*replies: Reply) -> EvalRun:
    label = Label("q1", "test", "factual", "?")
    return EvalRun(spec(), tuple(Scored(label, one, {}) for one in replies))
