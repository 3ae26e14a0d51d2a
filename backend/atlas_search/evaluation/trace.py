"""A run of an evaluation in traces: its figures as a root of their own, its name on every answer's.

Each question is a whole trace, so the run is found by `eval.run`, and not as their parent.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from atlas_search.core.telemetry.names import label_traces
from atlas_search.core.telemetry.span import Span
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.evaluation.labels.label import Label

RUN, LABEL, CATEGORY = "eval.run", "eval.label", "eval.category"


@dataclass(frozen=True)
class RunTrace:
    """The trace of a run with this `id`."""

    id: str
    root: Span

    def question(self, label: Label) -> AbstractContextManager[None]:
        """While a question is asked, its trace says whose it is."""
        return label_traces(**_names(self.id, label))

    def describe(self, composite_target: str, questions: int, figures: Mapping[str, float]) -> None:
        """Say who was asked, and how it went.

        Figures of single corpora are left out: they are many, and a page of a trace shows all.
        """
        self.root.set(composite_target=composite_target, **{"eval.questions": questions})
        told = {name: value for name, value in figures.items() if "." not in name}
        self.root.set(**{f"eval.{name}": value for name, value in told.items()})


@contextmanager
def run_trace(tracer: Tracer, run: str) -> Iterator[RunTrace]:
    """The trace of a run with this id, which begins now or goes on."""
    with tracer.root("evaluation", "CHAIN") as root:
        root.set(**{RUN: run})
        yield RunTrace(run, root)


@contextmanager
def judged_question(tracer: Tracer, run: str, label: Label) -> Iterator[Span]:
    """The trace of a judge's work on one question of the run with this id."""
    with label_traces(**_names(run, label)), tracer.root("judgement", "CHAIN") as root:
        yield root


def _names(run: str, label: Label) -> dict[str, str]:
    return {RUN: run, LABEL: label.id, CATEGORY: label.category}
