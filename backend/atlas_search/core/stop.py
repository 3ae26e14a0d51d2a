"""Stopping work that nobody waits for any more."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from atlas_search.core.errors import Cancelled


class Stop:
    """Says to everyone working on an answer that it is not wanted any more."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reason = ""
        self._callbacks: list[Callable[[], object]] = []

    @property
    def is_set(self) -> bool:
        """True once the work should end."""
        return bool(self._reason)

    def set(self, reason: str = "The client went away.") -> None:
        """Ask everyone to end, now; the first `reason` counts."""
        with self._lock:
            self._reason = self._reason or reason
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def check(self) -> None:
        """Raise Cancelled if the work should end."""
        if self._reason:
            raise Cancelled(self._reason)

    @contextmanager
    def calling(self, callback: Callable[[], object]) -> Iterator[None]:
        """Call `callback`, from the thread that stops, if that happens while the block runs.

        At once if it has happened already.
        """
        with self._lock:
            already = self.is_set
            if not already:
                self._callbacks.append(callback)
        if already:
            callback()
        try:
            yield
        finally:
            with self._lock:
                if callback in self._callbacks:
                    self._callbacks.remove(callback)


LOOK_SECONDS = 0.5  # between two looks whether the work is still wanted


class Turns:
    """At most `limit` at once; the others wait about in the order they came.

    `running` and `waiting` say how many do.
    """

    def __init__(self, limit: int = max(2, (os.cpu_count() or 2) // 2)):
        self._places = threading.Semaphore(limit)
        self._lock = threading.Lock()
        self.running = 0
        self.waiting = 0

    @contextmanager
    def take(self, stop: Stop) -> Iterator[None]:
        """Wait for a turn, and have it while the block runs. Raises Cancelled."""
        self._change(waiting=1)
        try:
            while not self._places.acquire(timeout=LOOK_SECONDS):
                stop.check()
        finally:
            self._change(waiting=-1)
        self._change(running=1)
        try:
            yield
        finally:
            self._change(running=-1)
            self._places.release()

    def _change(self, *, running: int = 0, waiting: int = 0) -> None:
        with self._lock:
            self.running += running
            self.waiting += waiting
