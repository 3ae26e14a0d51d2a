"""How long the stages of a search take."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Clock:
    """Milliseconds by stage, from one `lap` to the next."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """End a stage; one that comes again, for another part of a question, adds to its time."""
        now = time.perf_counter()
        self.laps[stage] = round(self.laps.get(stage, 0.0) + (now - self._last) * 1000, 3)
        self._last = now

    @contextmanager
    def measure(self, step: str) -> Iterator[None]:
        """Add the time of a block to that of a step within a stage; the stage goes on."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            took = (time.perf_counter() - begun) * 1000
            self.laps[step] = round(self.laps.get(step, 0.0) + took, 3)
