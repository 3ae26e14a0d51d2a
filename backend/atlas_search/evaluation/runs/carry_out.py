"""Asking what a run has no reply to, and judging all replies."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from atlas_search.core.errors import AtlasError
from atlas_search.evaluation.ask_all import Told, ask_all, no_one
from atlas_search.evaluation.folder import RunFolder
from atlas_search.evaluation.labels.label import Label
from atlas_search.evaluation.run import EvalRun, RunSpec, means, score_all
from atlas_search.evaluation.runs.begin import changes
from atlas_search.evaluation.runs.subject import Subject
from atlas_search.evaluation.scored import Scored
from atlas_search.evaluation.trace import RunTrace, run_trace


@dataclass(frozen=True)
class Outcome:
    """A run as far as it came: `missing` counts questions that were not asked.

    An interrupt `stopped` it. `changed` says what was not as before when all were asked,
    `troubles` what else failed, or could not be read and was asked again.
    """

    run: EvalRun
    missing: int
    stopped: bool
    changed: tuple[str, ...] = ()
    troubles: tuple[str, ...] = ()

    @property
    def lacking(self) -> list[str]:
        """Why a question lacks figures that it should have, for each."""
        return [one.lacking for one in self.run.scored if one.lacking]

    @property
    def failed(self) -> list[str]:
        """Why nothing came back for a question, for each."""
        return [one.reply.error for one in self.run.scored if one.reply.error]

    @property
    def fallbacks(self) -> int:
        """Answers that the sources' own sentences gave in place of a language model."""
        answers = (one.reply.answer for one in self.run.scored)
        return sum(answer is not None and answer.fallback is not None for answer in answers)

    @property
    def complete(self) -> bool:
        """Whether something came back for every question, with all figures it can have."""
        return not (self.stopped or self.missing or self.failed or self.lacking)


def carry_out(
    folder: RunFolder, subject: Subject, *, parallel: int | None = None, told: Told = no_one
) -> Outcome:
    """Ask what has no reply yet, or one that failed, `parallel` at once; write all figures.

    Where all figures are there, they stay as they are, a judge's too; else all are computed anew.
    An interrupt ends the asking, and what came back has figures. Raises AtWork if another
    process is at work on the folder.
    """
    spec = folder.spec()
    with (
        folder.held(),
        folder.naming("run"),
        run_trace(subject.tracer, spec.id) as trace,
    ):
        damaged = folder.set_aside_damage()
        due = missing(folder)
        stopped = _ask(folder, subject, due, trace, parallel or spec.parallel, told)
        _write_figures(folder, subject, spec, asked={label.id for label in due})
        run = folder.load()
        trace.describe(spec.composite_target, len(run.scored), means(run.scored))
    return Outcome(
        run,
        spec.labels.questions - len(run.scored),
        stopped,
        () if stopped else _changed(spec, subject),
        tuple(f"Asked again, for it could not be read: {each}" for each in damaged),
    )


def so_far(folder: RunFolder) -> Outcome:
    """What can be read of a run, without asking anything."""
    damaged: list[str] = []
    run = folder.load(lambda error: damaged.append(str(error)))
    return Outcome(
        run,
        run.spec.labels.questions - len(run.scored),
        stopped=False,
        troubles=tuple(dict.fromkeys(damaged)),
    )


def _write_figures(
    folder: RunFolder, subject: Subject, spec: RunSpec, asked: Collection[str]
) -> None:
    """Those of all questions, if one lacks some or has another reply since."""
    labels, replies = folder.labels(), folder.replies()
    known = {one.label.id for one in _known(folder) if not one.lacking} - set(asked)
    if any(id_ in replies and id_ not in known for id_ in (label.id for label in labels)):
        folder.finish(score_all(labels, replies.values(), subject.tools(spec.k)))


def _known(folder: RunFolder) -> tuple[Scored, ...]:
    """What has figures that can be read."""
    return folder.load(lambda _: None).scored


def missing(folder: RunFolder) -> list[Label]:
    """The questions that have no reply, or one that failed."""
    came = {id_ for id_, reply in folder.replies().items() if not reply.error}
    return [label for label in folder.labels() if label.id not in came]


def _changed(spec: RunSpec, subject: Subject) -> tuple[str, ...]:
    try:
        return tuple(changes(spec, subject.now()))
    except AtlasError as error:
        return (f"it does not say ({error})",)


def _ask(
    folder: RunFolder,
    subject: Subject,
    due: Sequence[Label],
    trace: RunTrace,
    parallel: int,
    told: Told,
) -> bool:
    """Ask; whether an interrupt ended it."""
    try:
        asker = subject.asker(folder.spec())
        ask_all(asker, due, trace, folder.add, parallel=parallel, told=told)
    except KeyboardInterrupt:
        return True
    return False
