"""Values of labels: as many as can be told apart, so that nobody makes series without end."""

from collections.abc import Mapping

MOST = 100  # values of one label; a server with more corpora than that needs no chart of each
OTHER = "other"

Value = str | int
Labels = Mapping[str, Value]


class KnownValues:
    """The first MOST values of each label; whatever comes later is `other`.

    One for all that adds up; for what is read anew each time, one for each reading.

    Safe to use from several threads: at worst some values more are let in than MOST.
    """

    def __init__(self) -> None:
        self._seen: dict[str, set[Value]] = {}

    def bound(self, labels: Labels) -> dict[str, Value]:
        """The labels with values that are known, or `other`."""
        return {name: self._known(name, value) for name, value in labels.items()}

    def _known(self, name: str, value: Value) -> Value:
        seen = self._seen.setdefault(name, set())
        if value in seen:
            return value
        if len(seen) >= MOST:
            return OTHER
        seen.add(value)
        return value
