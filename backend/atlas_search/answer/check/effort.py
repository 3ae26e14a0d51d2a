"""How much a check may compare, and whether anybody waits for what comes of it."""

from math import inf

from atlas_search.core.errors import RequestError
from atlas_search.core.stop import Stop

MOST_COMPARED = 20_000_000
"""Characters: some two seconds of one core at worst. An answer of 200 sentences with three tokens
each, to pages of 5,000 characters, takes 3,000,000."""

_LEAST = 1000  # characters that a comparison counts as: it takes time, however short the passage


class Effort:
    """Counts the characters of passages that sentences and quotations are compared with.

    Without `most` there is no limit: a model's answer is short, and so are its passages.
    """

    def __init__(self, most: float = inf, stop: Stop | None = None):
        self._most = most
        self._left = most
        self._stop = stop or Stop()

    def compare(self, characters: int) -> None:
        """Count a comparison. Raises RequestError beyond the limit, Cancelled if nobody waits."""
        self._stop.check()
        self._left -= max(characters, _LEAST)
        if self._left < 0:
            raise RequestError(
                "The sentences and quotations of the answer would be compared with more than "
                f"{self._most:,} characters of the passages that they cite. Check the answer in "
                "parts, or send shorter passages."
            )
