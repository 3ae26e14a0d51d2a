"""Asking all questions of a label set: who answers, in threads, with traces."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from atlas_search.answer.cache import AnswerCache
from atlas_search.answer.wire import AnswerDocument
from atlas_search.atlas import Atlas
from atlas_search.core.errors import AtlasError, EmbeddingUnavailable
from atlas_search.core.telemetry.names import label_traces
from atlas_search.core.telemetry.span import Span
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.metrics import Reply, TextEmbedder
from atlas_search.search.result import SearchOut

_log = logging.getLogger(__name__)


class Asker(Protocol):
    """Asks a target, or only searches with it. Safe to use from several threads."""

    def ask(self, label: Label) -> Reply:
        """Return what came back for the question of a label; its `error` says why nothing did.

        Raises nothing: one question that fails costs a run no other.
        """


@dataclass(frozen=True)
class ProcessAsker:
    """Asks a collection that is open in this process, as on the day `today`.

    `k` are the passages wanted, None: as many as the target says. The answers are those of the
    `session`, if it has a name.
    """

    atlas: Atlas
    target: str
    today: date
    search_only: bool = False
    k: int | None = None
    session: str | None = None

    def ask(self, label: Label) -> Reply:  # noqa: D102
        started = time.perf_counter()
        error, answer, found = "", None, None
        try:
            if self.search_only:
                found = self._search(label)
            else:
                answer = self._answer(label)
        except Exception as raised:
            error = failure(raised, label)
        seconds = time.perf_counter() - started
        return Reply(label_id=label.id, seconds=seconds, error=error, answer=answer, found=found)

    def _answer(self, label: Label) -> AnswerDocument:
        answer = self.atlas.ask(
            label.question,
            qa_id=f"eval-{label.id}",
            session_id=self.session,
            **self._where(label),
        )
        return answer.form()

    def _search(self, label: Label) -> SearchOut:
        found = self.atlas.search(label.question, **self._where(label))
        return found.form()

    def _where(self, label: Label) -> dict[str, Any]:
        return {
            "target": self.target,
            "as_of": self.today,
            "corpora": label.corpus_filter or "all",
            "filters": label.filters,
            "k": self.k,
        }


def failure(raised: Exception, label: Label) -> str:
    """Return what a reply says of an error; one that nobody raises on purpose is logged whole."""
    if isinstance(raised, AtlasError):
        return str(raised)
    _log.error("The question %s cannot be asked.", label.id, exc_info=raised)
    return f"{type(raised).__name__}: {raised}"


def without_kept_answers(atlas: Atlas) -> Atlas:
    """Return the same collection, where every question is answered anew; it needs no closing."""
    cache = AnswerCache(1, 1, enabled=False)
    answerer = replace(atlas.services.answerer, cache=cache)
    return Atlas(replace(atlas.services, answerer=answerer))


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


Item = TypeVar("Item")

Told = Callable[[int, int], None]
"""Hears how many questions are done, of how many."""

Progress = Callable[[str], AbstractContextManager[Told]]
"""Opens what hears how far a step of that name is: a run of a grid, or an upload."""


def no_one(done: int, questions: int) -> None:
    """Hear nothing."""


def ask_all(
    asker: Asker,
    labels: Sequence[Label],
    trace: RunTrace,
    keep: Callable[[Reply], None],
    *,
    parallel: int = 1,
    told: Told = no_one,
) -> None:
    """Ask every question, `parallel` at once; each reply is kept as soon as it is there.

    Each trace names the run and its question. An interrupt ends it: those that are being asked in
    threads are waited for and kept, no other is begun.
    """

    def ask(label: Label) -> None:
        with trace.question(label):
            keep(asker.ask(label))

    in_threads(ask, labels, parallel, told)


def in_threads(
    work: Callable[[Item], None],
    items: Sequence[Item],
    parallel: int,
    told: Told = no_one,
    hurry: Callable[[], object] = lambda: None,
) -> None:
    """Do the work for all items, `parallel` at once.

    What is under way at an interrupt or an error is told to `hurry` and waited for; no other is
    begun.
    """
    if parallel == 1:
        for done, item in enumerate(items, start=1):
            work(item)
            told(done, len(items))
        return
    pool = ThreadPoolExecutor(parallel, thread_name_prefix="eval")
    try:
        # in the context of the run: what is silent here is silent there
        begun = [pool.submit(copy_context().run, work, item) for item in items]
        for done, one in enumerate(as_completed(begun), start=1):
            one.result()
            told(done, len(items))
    except BaseException:
        hurry()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


PATIENCE = 3
"""Failures in a row after which nothing more is asked of it."""


@dataclass
class PatientEmbedder:
    """An embedding model that is given up after PATIENCE failures: it raises at once what it
    raised last."""

    whole: TextEmbedder
    _failures: list[EmbeddingUnavailable] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts, each as a row. Raises EmbeddingUnavailable."""
        if len(self._failures) >= PATIENCE:
            raise EmbeddingUnavailable(str(self._failures[-1])) from self._failures[-1]
        try:
            vectors = self.whole.embed(texts)
        except EmbeddingUnavailable as error:
            self._failures.append(error)
            raise
        self._failures.clear()
        return vectors
