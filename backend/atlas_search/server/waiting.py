"""The client of a request: whether it still waits for what a thread computes for it."""

import time
from collections.abc import Callable

from flask import request

from atlas_search.core.stop import Stop

LOOK_SECONDS = 0.05  # between two looks whether the client is still there

Gone = Callable[[], bool]
"""Whether the client of the present request has gone away."""


def gone() -> Gone:
    """What asks the server, from whatever thread, whether the present request's client has gone."""
    found: Gone = request.environ.get("waitress.client_disconnected", lambda: False)
    return found


class ClientStop(Stop):
    """Stops the work for a request once its client has gone; that is asked as the work checks."""

    def __init__(self, gone: Gone, clock: Callable[[], float] = time.monotonic):
        super().__init__()
        self._gone = gone
        self._clock = clock
        self._look_at = clock()

    def check(self) -> None:
        """See Stop."""
        now = self._clock()
        if now >= self._look_at:
            self._look_at = now + LOOK_SECONDS
            if self._gone():
                self.set()
        super().check()


def waiting() -> ClientStop:
    """The Stop of the present request, for work that its own thread does."""
    return ClientStop(gone())
