"""Asking what a run has no reply to, and judging all replies."""

from dataclasses import dataclass

from atlas_search.core.errors import AtlasError
from atlas_search.evaluation.ask_all import Told, ask_all, no_one
from atlas_search.evaluation.folder import RunFolder
from atlas_search.evaluation.labels.label import Label
from atlas_search.evaluation.run import EvalRun, RunSpec, means, score_all
from atlas_search.evaluation.runs.begin import changes
from atlas_search.evaluation.runs.subject import Subject
from atlas_search.evaluation.trace import RunTrace, run_trace


@dataclass(frozen=True)
class Outcome:
    """A run as far as it came: `missing` counts questions that were not asked.

    An interrupt `stopped` it. `changed` says what was not as before when all were asked.
    """

    run: EvalRun
    missing: int
    stopped: bool
    changed: tuple[str, ...] = ()

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
        """Whether something came back for every question."""
        return not (self.stopped or self.missing or self.failed)


def carry_out(
    folder: RunFolder, subject: Subject, *, parallel: int | None = None, told: Told = no_one
) -> Outcome:
    """Ask what has no reply yet, or one that failed, `parallel` at once; write all figures.

    An interrupt ends the asking, and what came back is judged. Raises AtlasError if another process
    is at work on the folder.
    """
    spec = folder.spec()
    with folder.held(), run_trace(subject.tracer, spec.id) as trace:
        stopped = _ask(folder, subject, trace, parallel or spec.parallel, told)
        labels = folder.labels()
        scored = score_all(labels, folder.replies().values(), subject.tools(spec.k))
        folder.finish(scored)
        trace.describe(spec.composite_target, len(scored), means(scored))
    run, left = EvalRun(spec, tuple(scored)), len(labels) - len(scored)
    return Outcome(run, left, stopped, () if stopped else _changed(spec, subject))


def missing(folder: RunFolder) -> list[Label]:
    """The questions that have no reply, or one that failed."""
    came = {id_ for id_, reply in folder.replies().items() if not reply.error}
    return [label for label in folder.labels() if label.id not in came]


def _changed(spec: RunSpec, subject: Subject) -> tuple[str, ...]:
    try:
        return tuple(changes(spec, subject.now()))
    except AtlasError as error:
        return (f"it does not say ({error})",)


def _ask(folder: RunFolder, subject: Subject, trace: RunTrace, parallel: int, told: Told) -> bool:
    """Ask; whether an interrupt ended it."""
    try:
        asker = subject.asker(folder.spec())
        ask_all(asker, missing(folder), trace, folder.add, parallel=parallel, told=told)
    except KeyboardInterrupt:
        return True
    return False
