"""All questions of a run, one after the other or several at once."""

from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from contextvars import copy_context
from typing import TypeVar

from atlas_search.evaluation.asker import Asker
from atlas_search.evaluation.labels.label import Label
from atlas_search.evaluation.reply import Reply
from atlas_search.evaluation.trace import RunTrace

Item = TypeVar("Item")

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

    with closing(in_threads(ask, labels, parallel)) as each:
        for done, _ in enumerate(each, start=1):
            told(done, len(labels))


def in_threads(
    work: Callable[[Item], None],
    items: Iterable[Item],
    parallel: int,
    hurry: Callable[[], object] = lambda: None,
) -> Generator[None, None, None]:
    """Do the work for all items, `parallel` at once; gives None as each is done.

    What is under way at an interrupt or an error, or when it is closed, is told to `hurry` and
    waited for; no other is begun.
    """
    if parallel == 1:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(parallel, thread_name_prefix="eval")
    try:
        # in the context of the run: what is silent here is silent there
        begun = [pool.submit(copy_context().run, work, item) for item in items]
        for one in as_completed(begun):
            yield one.result()
    except BaseException:
        hurry()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
