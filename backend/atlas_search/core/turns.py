"""Taking turns at work that keeps a processor busy."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from atlas_search.core.stop import Stop

LOOK_SECONDS = 0.5  # between two looks whether the work is still wanted


class Turns:
    """At most `limit` at once; the others wait about in the order they came."""

    def __init__(self, limit: int = max(2, (os.cpu_count() or 2) // 2)):
        self._places = threading.Semaphore(limit)

    @contextmanager
    def take(self, stop: Stop) -> Iterator[None]:
        """Wait for a turn, and have it while the block runs. Raises Cancelled."""
        while not self._places.acquire(timeout=LOOK_SECONDS):
            stop.check()
        try:
            yield
        finally:
            self._places.release()
