"""Giving up on a judge that does not answer, or says nothing of use."""

from threading import Lock

from atlas_search.evaluation.judge.verdict import NotJudged

FAILURES = 5
"""So many calls in a row that fail, their retries included, end the asking; of a question that the
provider refuses, all calls count as one."""

UNUSABLE = 20
"""So many replies in a row, of those that are paid for, end it if none can be read."""


class Outage:
    """Says when no further call makes sense: a thousand that run out of time take hours, and as
    many replies that are cut off cost what good ones do.

    Safe to use from several threads.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._failures = 0
        self._unusable = 0
        self._given_up = ""

    def check(self) -> None:
        """Raise NotJudged if the judge is given up."""
        if self._given_up:
            raise NotJudged(self._given_up)

    def worked(self) -> None:
        """A call came back."""
        with self._lock:
            self._failures = 0

    def failed(self, error: Exception) -> None:
        """A call did not, or the provider refused what was asked about a question."""
        with self._lock:
            self._failures += 1
            if self._failures >= FAILURES:
                self._give_up(f"{FAILURES} failures: {error}")

    def useful(self) -> None:
        """A reply could be read, one that was kept among them."""
        with self._lock:
            self._unusable = 0

    def unusable(self, why: NotJudged) -> None:
        """A reply could not be read."""
        with self._lock:
            self._unusable += 1
            if self._unusable >= UNUSABLE:
                self._give_up(f"{UNUSABLE} replies in a row that are of no use. {why}")

    def _give_up(self, why: str) -> None:
        # what was under way by then changes nothing
        self._given_up = self._given_up or f"The judge was given up after {why}"
