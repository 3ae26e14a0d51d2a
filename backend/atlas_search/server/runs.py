"""Answers in the making: each in a thread of its own, its events kept for whoever reads them."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from cachetools import TTLCache

from atlas_search.answer.answer import Answer
from atlas_search.core.errors import Conflict, NotFound, TooManyQuestions
from atlas_search.core.stop import Stop
from atlas_search.stores.manifest import Manifest

KEPT = 256  # ended answers, for late readers and for export: 0.1 MB each with ten passages
KEPT_SECONDS = 3600.0
RETRY_SECONDS = 5.0
CLOSING_SECONDS = 5.0


class Event(NamedTuple):
    """One server-sent event: its number from 1, its name, and its data as JSON."""

    number: int
    name: str
    data: str


Work = Callable[["Run"], None]
"""Writes the events of a run, the last of which is `complete` or `error`. Raises nothing."""


class Run:
    """One answer: its events so far, and the means to stop it.

    It is stopped if nobody has been reading it for `patience` seconds. Once it has ended, either
    `answer` is there, with `document` as it is sent and the `manifest` of the collection it was
    made from, or `error` says why not.
    """

    def __init__(self, qa_id: str, session_id: str, patience: float):
        self.qa_id = qa_id
        self.session_id = session_id
        self.stop = Stop()
        self.answer: Answer | None = None
        self.error: Exception | None = None
        self.document: dict[str, object] = {}
        self.manifest: Manifest | None = None
        self._patience = patience
        self._events: list[Event] = []
        self._changed = threading.Condition()
        self._readers = 0
        self._alone_since = time.monotonic()
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether the last event has been written, or the answer was stopped."""
        return self._ended

    def write(self, name: str, data: str) -> None:
        """Add an event."""
        with self._changed:
            self._events.append(Event(len(self._events) + 1, name, data))
            self._changed.notify_all()

    def end(self) -> None:
        """No event comes after those written."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def next(self, after: int, seconds: float) -> list[Event]:
        """The events after number `after`, waited for; none if the time or the answer is over.

        Of an answer that has ended the last one comes again to whoever asks for what comes after.
        """
        with self._changed:
            if self._ended:
                after = min(after, len(self._events) - 1)
            self._changed.wait_for(lambda: len(self._events) > after or self._ended, seconds)
            return self._events[after:]

    def wait(self, seconds: float) -> None:
        """Wait until the answer is over, but not longer than so many seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended, seconds)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Count as a reader while the block runs."""
        with self._changed:
            self._readers += 1
        try:
            yield
        finally:
            with self._changed:
                self._readers -= 1
                self._alone_since = time.monotonic()
                alone = not self._readers and not self._ended
            if alone:
                timer = threading.Timer(self._patience, self._stop_if_alone)
                timer.daemon = True
                timer.start()

    def _stop_if_alone(self) -> None:
        with self._changed:
            # one who came meanwhile and left again has time of his own
            long = time.monotonic() - self._alone_since >= 0.9 * self._patience
            alone = long and not self._readers and not self._ended
        if alone:
            self.stop.set()


class Runs:
    """The answers being written, at most `limit` at once, and the last ones that were."""

    def __init__(self, limit: int, patience: float):
        self._limit = limit
        self._patience = patience
        self._running: dict[str, Run] = {}
        self.started = 0
        self._kept: TTLCache[str, Run] = TTLCache(KEPT, KEPT_SECONDS)
        self._lock = threading.Lock()

    @property
    def running(self) -> int:
        """Answers that are being written."""
        return len(self._running)

    def start(self, qa_id: str, session_id: str, work: Work) -> Run:
        """Begin an answer.

        Raises Conflict if one with this id is being written, and TooManyQuestions.
        """
        run = Run(qa_id, session_id, self._patience)
        with self._lock:
            if qa_id in self._running:
                raise Conflict(f"The answer {qa_id} is being written. Choose another qa_id.")
            if len(self._running) >= self._limit:
                raise TooManyQuestions(
                    f"{self._limit} questions are being answered or wait their turn. Try again "
                    "in some seconds, or raise LLM_QUEUE.",
                    RETRY_SECONDS,
                )
            self._running[qa_id] = run
            self.started += 1
        threading.Thread(
            target=self._work, args=(run, work), name=f"ask-{qa_id}", daemon=True
        ).start()
        return run

    def get(self, qa_id: str) -> Run:
        """An answer being written, or one of the last. Raises NotFound."""
        with self._lock:
            run = self._running.get(qa_id) or self._kept.get(qa_id)
        if run is None:
            raise NotFound(f"There is no answer {qa_id}, or it is no longer kept.")
        return run

    def of_session(self, session_id: str) -> list[Run]:
        """The finished answers of a session that are still kept, in order of their end."""
        with self._lock:
            kept = list(self._kept.values())
        return [run for run in kept if run.answer and run.session_id == session_id]

    def close(self) -> None:
        """Stop every answer, and wait for their end, though not for long."""
        with self._lock:
            runs = list(self._running.values())
        for run in runs:
            run.stop.set("The server is stopping.")
        end = time.monotonic() + CLOSING_SECONDS
        for run in runs:
            run.wait(end - time.monotonic())

    def _work(self, run: Run, work: Work) -> None:
        try:
            work(run)
        finally:
            with self._lock:
                del self._running[run.qa_id]
                self._kept[run.qa_id] = run
            run.end()
