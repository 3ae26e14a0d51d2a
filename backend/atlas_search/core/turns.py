"""Taking turns at work that keeps a processor busy."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from atlas_search.core.stop import Stop

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
