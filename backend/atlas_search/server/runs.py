"""Answers in the making: each in a thread of its own, its events kept for every reader.

Servers that share their state find each other's finished answers, but not those in the making.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from cachetools import TTLCache

from atlas_search.answer.answer import Answer
from atlas_search.core.errors import (
    Cancelled,
    ConfigurationError,
    Conflict,
    NotFound,
    ServerBusy,
    TooManyQuestions,
)
from atlas_search.core.logs import log_context
from atlas_search.core.stop import Stop
from atlas_search.core.telemetry.names import keep_silence, silent
from atlas_search.documents.bundle import bundle_of
from atlas_search.server.problems import problem_of
from atlas_search.server.state import State
from atlas_search.stores.manifest import Manifest

log = logging.getLogger(__name__)

KEPT = 256  # ended answers, for late readers and for export: 0.1 MB each with ten passages
KEPT_SECONDS = 3600.0
RETRY_SECONDS = 5.0
CLOSING_SECONDS = 1.5
STOPPING = "The server is stopping."


class Event(NamedTuple):
    """One server-sent event: its number from 1, its name, and its data as JSON."""

    number: int
    name: str
    data: str


_Id = tuple[str, str]
"""An owner, and what they call an answer."""

Work = Callable[["Run"], None]
"""Writes the events of a run, the last of which is `complete` or `error`. Raises nothing."""


class Run:
    """One answer: its events so far, and the means to stop it.

    It is stopped if nobody has been reading it for `patience` seconds. Once it has ended, either
    `document` is there as it is sent, with `answer` and the `manifest` of the collection it was
    made from, or `error` says why not. Of an answer of another server `bundled` is there in place
    of these two. `owner` is who began it: nobody else may see it. `cost` is what its language model
    took, None where prices are unknown.
    """

    def __init__(self, qa_id: str, session_id: str, patience: float, owner: str = ""):
        self.owner = owner
        self.qa_id = qa_id
        self.session_id = session_id
        self.stop = Stop()
        self.answer: Answer | None = None
        self.error: Exception | None = None
        self.document: dict[str, object] = {}
        self.manifest: Manifest | None = None
        self.bundled = ""
        self.cost: float | None = None
        self._patience = patience
        self._events: list[Event] = []
        self._changed = threading.Condition()
        self._readers = 0
        self._alone_since = time.monotonic()
        self._ended = False

    @property
    def bundle(self) -> str:
        """The run of a finished answer as JSON, which can be replayed."""
        if self.answer and self.manifest:
            return bundle_of(self.answer, self.manifest).to_json()
        return self.bundled

    @property
    def ended(self) -> bool:
        """Return True once the last event has been written, or the answer was stopped."""
        return self._ended

    def write(self, name: str, data: str) -> None:
        """Add an event, unless it was the last that was written."""
        with self._changed:
            if self._ended:
                return
            self._events.append(Event(len(self._events) + 1, name, data))
            self._changed.notify_all()

    def give_up(self, error: Exception) -> None:
        """End with an error although the answer is still being written."""
        self.error = self.error or error
        problem = problem_of(error, f"/api/ask/{self.qa_id}")
        self.write("error", problem.model_dump_json(exclude_none=True))
        self.end()

    def end(self) -> None:
        """Close the list of events: none comes after the last one written."""
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


ANSWERS_TABLE = """
CREATE TABLE IF NOT EXISTS finished (
    owner TEXT NOT NULL, qa_id TEXT NOT NULL, session_id TEXT NOT NULL, ended REAL NOT NULL,
    document TEXT NOT NULL, bundle TEXT NOT NULL, PRIMARY KEY (owner, qa_id)
);
CREATE INDEX IF NOT EXISTS by_end ON finished (ended);
"""
SHARED = 4 * KEPT  # of all servers together


class KeptAnswers:
    """The last finished answers of all servers, for as long as one keeps its own.

    Raises ConfigurationError while they cannot be read. Safe to use from several threads.
    """

    def __init__(self, state: State, clock: Callable[[], float] = time.time):
        self._state = state
        self._clock = clock

    def add(self, run: Run) -> None:
        """Keep a finished answer, and forget old ones."""
        now = self._clock()
        row = (run.owner, run.qa_id, run.session_id, now, json.dumps(run.document), run.bundle)
        with self._state.open() as connection:
            connection.execute("DELETE FROM finished WHERE ended <= ?", (now - KEPT_SECONDS,))
            connection.execute(
                "DELETE FROM finished WHERE ended <= "
                "(SELECT ended FROM finished ORDER BY ended DESC, owner, qa_id LIMIT 1 OFFSET ?)",
                (SHARED - 1,),
            )
            connection.execute(
                "INSERT INTO finished VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (owner, qa_id) "
                "DO UPDATE SET session_id = excluded.session_id, ended = excluded.ended, "
                "document = excluded.document, bundle = excluded.bundle",
                row,
            )

    def get(self, owner: str, qa_id: str) -> Run | None:
        """An answer of an owner's; None if none of this name is kept."""
        return next(iter(self._find("qa_id = ?", owner, qa_id)), None)

    def of_session(self, owner: str, session_id: str) -> list[Run]:
        """The answers of an owner's session, in order of their end."""
        return self._find("session_id = ?", owner, session_id)

    def _find(self, condition: str, owner: str, name: str) -> list[Run]:
        query = (
            "SELECT qa_id, session_id, document, bundle FROM finished "
            f"WHERE ended > ? AND owner = ? AND {condition} ORDER BY ended, qa_id"
        )
        with self._state.open() as connection:
            values = (self._clock() - KEPT_SECONDS, owner, name)
            rows = connection.execute(query, values).fetchall()
            return [_restored(owner, *row) for row in rows]


def _restored(owner: str, qa_id: str, session_id: str, document: str, bundle: str) -> Run:
    """An answer of another server, whose only event is the last one."""
    run = Run(qa_id, session_id, 0.0, owner)
    run.document, run.bundled = json.loads(document), bundle
    run.write("complete", document)
    run.end()
    return run


class Runs:
    """The answers being written, at most `limit` at once, and the last ones that were.

    Each belongs to its owner: what one calls `q1` is not what another calls so. `shared` has those
    of other servers.
    """

    def __init__(self, limit: int, patience: float, shared: KeptAnswers | None = None):
        self._limit = limit
        self._patience = patience
        self._shared = shared
        self._running: dict[_Id, Run] = {}
        self.started = 0
        self._kept: TTLCache[_Id, Run] = TTLCache(KEPT, KEPT_SECONDS)
        self._closed = False
        self._lock = threading.Lock()

    @property
    def running(self) -> int:
        """The number of answers that are being written."""
        return len(self._running)

    def start(self, qa_id: str, session_id: str, work: Work, owner: str = "") -> Run:
        """Begin an answer.

        Raises Conflict if there is one of the owner's with this id, being written or kept;
        TooManyQuestions; and
        ServerBusy once they are closed.
        """
        run = Run(qa_id, session_id, self._patience, owner)
        elsewhere = None
        with suppress(ConfigurationError):
            elsewhere = self._shared and self._shared.get(owner, qa_id)
        with self._lock:
            if self._closed:
                raise ServerBusy(STOPPING, RETRY_SECONDS)
            if elsewhere or (owner, qa_id) in self._running or (owner, qa_id) in self._kept:
                raise Conflict(f"There is an answer {qa_id} already. Choose another qa_id.")
            if len(self._running) >= self._limit:
                raise TooManyQuestions(
                    f"{self._limit} questions are being answered or wait their turn; "
                    "LLM_QUEUE lets more wait.",
                    RETRY_SECONDS,
                )
            self._running[owner, qa_id] = run
            self.started += 1
        threading.Thread(
            target=keep_silence(self._work), args=(run, work), name=f"ask-{qa_id}", daemon=True
        ).start()
        return run

    def get(self, qa_id: str, owner: str = "") -> Run:
        """An answer of the owner's, being written or one of the last. Raises NotFound."""
        id_ = (owner, qa_id)
        with self._lock:
            run = self._running.get(id_) or self._kept.get(id_)
        if run is None and self._shared:
            run = self._shared.get(owner, qa_id)
        if run is None:
            raise NotFound(f"There is no answer {qa_id}, or it is no longer kept.")
        return run

    def of_session(self, session_id: str, owner: str = "") -> list[Run]:
        """The finished answers of an owner's session that are still kept, in order of their end."""
        with self._lock:
            kept_runs = list(self._kept.values())
        own = [run for run in kept_runs if run.owner == owner and run.session_id == session_id]
        own = [run for run in own if run.answer]
        if not self._shared:
            return own
        runs = {run.qa_id: run for run in self._shared.of_session(owner, session_id)}
        return list((runs | {run.qa_id: run for run in own}).values())

    def share(self, run: Run) -> None:
        """Let other servers find a finished answer, unless it must leave no trace. Never fails."""
        if self._shared is None or silent():
            return
        try:
            self._shared.add(run)
        except ConfigurationError as error:
            log.warning("Other servers do not find the answer %s: %s", run.qa_id, error)

    def close(self) -> None:
        """Stop every answer, and wait for their end, though not for long. No other begins.

        All readers get an error as the last event, also of an answer that cannot be stopped.
        """
        with self._lock:
            self._closed = True
            runs = list(self._running.values())
        for run in runs:
            run.stop.set(STOPPING)
        end = time.monotonic() + CLOSING_SECONDS
        for run in runs:
            run.wait(end - time.monotonic())
            if not run.ended:  # in a call that cannot be stopped
                run.give_up(Cancelled(STOPPING))

    def _work(self, run: Run, work: Work) -> None:
        try:
            with log_context(qa_id=run.qa_id, session_id=run.session_id):
                work(run)
        finally:
            with self._lock:
                del self._running[run.owner, run.qa_id]
                self._kept[run.owner, run.qa_id] = run
            run.end()
