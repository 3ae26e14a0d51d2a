"""How far a number of units reaches in a text: characters, or tokens of the embedding model."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import Protocol

TokenSpans = Callable[[str], Sequence[tuple[int, int]]]
"""The character spans of the embedding model's tokens of a text, in ascending order."""

# blanks have no token, and a word unknown to the model has one, be it a page of base64
_CHARACTERS_PER_TOKEN = 20


class Measure(Protocol):
    """A length in units, without a walk through the text; what it gives may lie outside of it."""

    def reach(self, start: int, count: int) -> int:
        """The last end of a span from `start` of at most `count` units."""

    def back(self, end: int, count: int) -> int:
        """The first start of a span to `end` of at most `count` units."""


class Characters:
    """One unit a character."""

    def reach(self, start: int, count: int) -> int:
        """See Measure."""
        return start + count

    def back(self, end: int, count: int) -> int:
        """See Measure."""
        return end - count


class Tokens:
    """One unit a token that the span touches, and no more than 20 characters for each."""

    def __init__(self, spans: Sequence[tuple[int, int]]):
        self._starts = array("q", (start for start, _ in spans))
        self._ends = array("q", (end for _, end in spans))

    def reach(self, start: int, count: int) -> int:
        """See Measure."""
        beyond = bisect_right(self._ends, start) + count
        limit = start + count * _CHARACTERS_PER_TOKEN
        if beyond < len(self._starts):
            limit = min(self._starts[beyond], limit)
        return max(limit, start)  # where one character alone has more tokens

    def back(self, end: int, count: int) -> int:
        """See Measure."""
        before = bisect_left(self._starts, end) - count
        limit = end - count * _CHARACTERS_PER_TOKEN
        if before > 0:
            limit = max(self._ends[before - 1], limit)
        return min(limit, end)  # where a token goes on behind the end
