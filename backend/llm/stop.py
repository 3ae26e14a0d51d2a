"""Stopping work that nobody waits for any more."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from backend.errors import Cancelled


class Stop:
    """Says to everyone working on an answer that it is not wanted any more."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._set = False
        self._callbacks: list[Callable[[], None]] = []

    @property
    def is_set(self) -> bool:
        """Whether the work should end."""
        return self._set

    def set(self) -> None:
        """Ask everyone to end, now."""
        with self._lock:
            self._set = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def check(self) -> None:
        """Raise Cancelled if the work should end."""
        if self._set:
            raise Cancelled("The client went away.")

    @contextmanager
    def calling(self, callback: Callable[[], None]) -> Iterator[None]:
        """Call `callback`, from the thread that stops, if that happens while the block runs.

        At once if it has happened already.
        """
        with self._lock:
            already = self._set
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
