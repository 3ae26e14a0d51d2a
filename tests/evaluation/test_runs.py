"""Runs in folders: written as they go, gone on with, and never mixed with another."""

import json
import os
import signal
import threading
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path

import pytest

from atlas_search.core.errors import AtlasError, RequestError, SourceError
from atlas_search.evaluation.asking import Asker
from atlas_search.evaluation.carry_out import (
    ProcessSubject,
    RunRequest,
    carry_out,
    check_same,
    choose_questions,
    missing,
)
from atlas_search.evaluation.folder import REPLIES, RunFolder
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.metrics import Reply
from atlas_search.evaluation.run import RunSpec, labels_digest
from tests.conftest import TODAY
from tests.evaluation.farm import LABELS, begun, build_farm, figures, opened_farm, same_but_for_time
from tests.recorded_spans import recording, said, traced_by

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
    told: list[tuple[int, int]] = []
    folder = begun(tmp_path / "run", subject)
    outcome = carry_out(folder, subject, told=lambda *done: told.append(done))
    assert outcome.complete
    assert told == [(number, 6) for number in range(1, 7)]
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


def test_questions_asked_at_once_have_the_same_figures(
    subject: ProcessSubject, tmp_path: Path
) -> None:
    alone, together = (begun(tmp_path / name, subject) for name in ("alone", "together"))
    carry_out(alone, subject)
    assert carry_out(together, subject, parallel=4).complete
    assert figures(together) == figures(alone)
    assert same_but_for_time(together.spec()) == same_but_for_time(alone.spec())


def test_several_threads_ask_at_once(subject: ProcessSubject, tmp_path: Path) -> None:
    barrier = threading.Barrier(3, timeout=60)  # breaks unless three questions meet

    class _Meeting:
        def ask(self, label: Label) -> Reply:
            barrier.wait()
            return Reply(label_id=label.id, seconds=0, error="met")

    class _Subject(Troubled):
        def asker(self, spec: RunSpec) -> Asker:
            return _Meeting()

    outcome = carry_out(begun(tmp_path / "run", subject), _Subject(subject), parallel=3)
    assert outcome.failed == ["met"] * 6


@pytest.mark.parametrize("parallel", [1, 3])
def test_every_trace_names_the_run_and_its_question(
    subject: ProcessSubject, tmp_path: Path, parallel: int
) -> None:
    with recording(content=False) as (tracer, recorded):
        atlas = type(subject.atlas)(traced_by(subject.atlas.services, tracer))
        traced = replace(subject, atlas=atlas)
        folder = begun(tmp_path / "run", traced)
        carry_out(folder, traced, parallel=parallel)
        asked = [said(span) for span in recorded.roots if span.name == "ask"]
        (root,) = [said(span) for span in recorded.roots if span.name == "evaluation"]
    id_ = folder.spec().id
    assert {each["eval.run"] for each in asked} == {root["eval.run"]} == {id_}
    assert sorted(each["eval.label"] for each in asked) == sorted(label.id for label in LABELS)
    assert {each["session.id"] for each in asked} == {id_}
    traces = {reply.answer.trace_id for reply in folder.replies().values() if reply.answer}
    assert len(traces) == len(LABELS)


def test_a_question_that_fails_costs_no_other_and_is_asked_again(
    subject: ProcessSubject, tmp_path: Path
) -> None:
    folder = begun(tmp_path / "run", subject)
    outcome = carry_out(folder, Troubled(subject, {"q2"}))
    (error,) = outcome.failed
    assert error.startswith("AttributeError: ")
    assert (outcome.complete, outcome.missing) == (False, 0)
    assert [label.id for label in missing(folder)] == ["q2"]
    assert carry_out(folder, subject).complete
    assert len((folder.path / REPLIES).read_text().splitlines()) == 7
    whole = begun(tmp_path / "whole", subject)
    carry_out(whole, subject)
    assert figures(folder) == figures(whole)


@pytest.mark.parametrize("parallel", [1, 2])
def test_an_interrupt_ends_with_figures_of_what_came_back(
    subject: ProcessSubject, tmp_path: Path, parallel: int
) -> None:
    folder = begun(tmp_path / "run", subject)
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


def test_a_run_that_is_killed_goes_on_with_the_same_figures(farm: Path, tmp_path: Path) -> None:
    with opened_farm(farm) as subject:
        whole, folder = (begun(tmp_path / name, subject) for name in ("whole", "killed"))
        carry_out(whole, subject)
    dying = get_context("spawn").Process(target=_die_while_asking, args=(farm, folder.path))
    dying.start()
    dying.join(120)
    assert dying.exitcode == -signal.SIGKILL
    assert len(folder.replies()) == FATAL
    asked: list[tuple[int, int]] = []
    with opened_farm(farm) as subject:
        check_same(folder, subject)
        outcome = carry_out(folder, subject, told=lambda *done: asked.append(done))
    assert outcome.complete
    assert asked[-1] == (3, 3)  # the others were not asked again
    assert figures(folder) == figures(whole)
    lines = (folder.path / REPLIES).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["label_id"] for line in lines] == [label.id for label in LABELS]


def test_only_one_process_is_at_work_on_a_run(subject: ProcessSubject, tmp_path: Path) -> None:
    folder = begun(tmp_path / "run", subject)
    with folder.held(), pytest.raises(AtlasError, match="Another process is at work"):
        carry_out(RunFolder(folder.path), subject)
    assert carry_out(folder, subject).complete


def test_a_folder_with_a_run_is_not_begun_again(subject: ProcessSubject, tmp_path: Path) -> None:
    folder = begun(tmp_path / "run", subject)
    with pytest.raises(AtlasError, match=f"atlas eval --resume {folder.path}"):
        begun(tmp_path / "run", subject)


def test_a_run_goes_on_only_with_what_it_asked(farm: Path, tmp_path: Path) -> None:
    with opened_farm(farm) as subject:
        folder = begun(tmp_path / "run", subject)
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


def test_a_sample_is_drawn_by_its_seed_and_keeps_the_order() -> None:
    def drawn(seed: int) -> list[str]:
        chosen = choose_questions(Path("l.jsonl"), "", LABELS, 3, seed).labels
        return [label.id for label in chosen]

    assert drawn(1) == drawn(1) == sorted(drawn(1))
    assert len({tuple(drawn(seed)) for seed in range(5)}) > 1
    assert len(choose_questions(Path("l.jsonl"), "", LABELS, 100, 0).labels) == 6


def test_labels_without_a_question_or_with_an_id_twice_are_refused() -> None:
    with pytest.raises(RequestError, match=r"no question in the split dev of l\.jsonl"):
        choose_questions(Path("l.jsonl"), "dev", [], None, 0)
    with pytest.raises(SourceError, match="two questions have the id q1"):
        choose_questions(Path("l.jsonl"), "", [*LABELS, LABELS[0]], None, 0)


def test_labels_that_say_the_same_have_the_same_digest() -> None:
    gold = [frozenset({"farm.sheep", "farm.cows"}), frozenset({"farm.cows", "farm.sheep"})]
    one, other = (replace(LABELS[0], gold_document_ids=ids) for ids in gold)
    assert labels_digest([one, LABELS[1]]) == labels_digest([LABELS[1], other])
    assert labels_digest([one]) != labels_digest([replace(one, question="What do sheep eat?")])


def test_passages_wanted_are_asked_for_and_judged_at_that_depth(
    subject: ProcessSubject, tmp_path: Path
) -> None:
    folder = begun(tmp_path / "run", subject, wanted=RunRequest(TODAY, search_only=True, k=2))
    carry_out(folder, subject)
    assert {len(reply.passages) for reply in folder.replies().values()} == {2}
    assert all(reply.answer is None for reply in folder.replies().values())
    assert 2 in subject.tools(2).depths
