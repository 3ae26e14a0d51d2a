"""The collections that are open beside the configured one, and no more of them than may be."""

import threading
from collections import OrderedDict
from collections.abc import Callable

from atlas_search.server.serving import Serving


class OpenCollections:
    """At most `limit` collections, each opened by `opening` when it is first asked for.

    The one that was idle longest makes room once another is open. Safe to use from several threads:
    none is opened twice, and while one is being opened only those who want it wait.
    """

    def __init__(self, opening: Callable[[str], Serving], limit: int):
        self._opening = opening
        self._limit = limit
        self._open: OrderedDict[str, Serving] = OrderedDict()
        self._doors: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()
        self._closed = False

    def serve(self, name: str) -> Serving:
        """A collection, open. Raises what opening it raises."""
        with self._lock:
            door = self._doors.setdefault(name, threading.Lock())
        with door:
            return self._used(name) or self._take_in(name, self._opening(name))

    def get(self, name: str) -> Serving | None:
        """A collection if it is open; it does not count as used."""
        return self._open.get(name)

    def all(self) -> list[Serving]:
        """What is open; none counts as used."""
        with self._lock:
            return list(self._open.values())

    def close(self) -> None:
        """Forget all of them, and each that is still being opened."""
        with self._lock:
            self._closed = True
            self._shrink(0)

    def _used(self, name: str) -> Serving | None:
        with self._lock:
            if name in self._open:
                self._open.move_to_end(name)
            return self._open.get(name)

    def _take_in(self, name: str, serving: Serving) -> Serving:
        with self._lock:
            self._open[name] = serving
            self._shrink(0 if self._closed else self._limit)
        return serving

    def _shrink(self, limit: int) -> None:
        while len(self._open) > limit:
            self._open.popitem(last=False)[1].forget()
