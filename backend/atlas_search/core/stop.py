"""Stopping work that nobody waits for any more."""

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
        """Whether the work should end."""
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
