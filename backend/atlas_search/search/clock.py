"""How long the stages of a search take."""

import time


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
