"""Giving up on a provider that does not answer."""

from threading import Lock

from atlas_search.core.errors import AtlasError
from atlas_search.evaluation.judge.verdict import NotJudged

FAILURES = 5
"""So many calls in a row that fail, their retries included, end the asking."""


class Outage:
    """Says when no further call makes sense: a thousand that run out of time take hours.

    Safe to use from several threads.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._in_a_row = 0
        self._last = ""

    def check(self) -> None:
        """Raise NotJudged if the provider is given up."""
        if self._in_a_row >= FAILURES:
            raise NotJudged(f"The judge was given up after {FAILURES} failures: {self._last}")

    def worked(self) -> None:
        """A call came back."""
        with self._lock:
            if self._in_a_row < FAILURES:  # what was under way when it was given up changes nothing
                self._in_a_row = 0

    def failed(self, error: AtlasError) -> None:
        """A call did not."""
        with self._lock:
            self._in_a_row += 1
            self._last = str(error)
