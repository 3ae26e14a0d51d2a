"""All questions of a run, one after the other or several at once."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextvars import copy_context

from atlas_search.evaluation.asker import Asker
from atlas_search.evaluation.labels.label import Label
from atlas_search.evaluation.reply import Reply
from atlas_search.evaluation.trace import RunTrace

Told = Callable[[int, int], None]
"""Hears how many questions are done, of how many."""


def no_one(done: int, questions: int) -> None:
    """Where nobody wants to hear it."""


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

    each = _in_threads(ask, labels, parallel) if parallel > 1 else map(ask, labels)
    for done, _ in enumerate(each, start=1):
        told(done, len(labels))


def _in_threads(
    ask: Callable[[Label], None], labels: Sequence[Label], parallel: int
) -> Iterator[None]:
    pool = ThreadPoolExecutor(parallel, thread_name_prefix="eval")
    try:
        # in the context of the run: what is silent here is silent there
        asked = [pool.submit(copy_context().run, ask, label) for label in labels]
        for one in as_completed(asked):
            yield one.result()
    finally:
        pool.shutdown(cancel_futures=True)
