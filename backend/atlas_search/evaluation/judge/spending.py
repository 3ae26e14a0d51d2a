"""What a judge's calls cost, and the limit they keep."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

from atlas_search.core.errors import RequestError
from atlas_search.core.targets import Target
from atlas_search.evaluation.judge.verdict import NotJudged
from atlas_search.providers.chat import Usage


class Spending:
    """Counts what calls took, at the prices of a target. Safe to use from several threads.

    A call that could pass the limit waits for those under way, for they may take less than they
    were allowed to; if it still could, neither it nor a later one is made. Raises RequestError for
    a limit without prices.
    """

    def __init__(self, prices: Target, limit: float | None = None):
        if limit is not None and prices.cost(1, 1) is None:
            raise RequestError(
                "--max-cost needs the prices of the judge's model. Set LLM_PRICE_INPUT and "
                "LLM_PRICE_OUTPUT, for a million tokens, in the judge's target or the environment."
            )
        self._prices = prices
        self._limit = limit
        self._changed = Condition()
        self._reserved: list[Usage] = []
        self.used = Usage()
        self.calls = 0
        self.exhausted = False

    @property
    def cost(self) -> float | None:
        """What was spent, in the currency of the prices; None where they are unknown."""
        return self._prices.cost(self.used.prompt_tokens, self.used.completion_tokens)

    @contextmanager
    def call(self, most: Usage) -> Iterator[list[Usage]]:
        """Make a call that takes `most` at most; the block adds what it took to the list.

        Raises NotJudged where the limit does not allow it.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._fits(most) or not self._reserved)
            self.exhausted = self.exhausted or not self._fits(most)
            if self.exhausted:
                raise NotJudged("The judge stopped at the limit of --max-cost.")
            self._reserved.append(most)
            self.calls += 1
        took: list[Usage] = []
        try:
            yield took
        finally:
            with self._changed:
                self._reserved.remove(most)
                self.used = sum(took, self.used)
                self._changed.notify_all()

    def cost_of(self, usage: Usage) -> float | None:
        """What one call cost."""
        return self._prices.cost(usage.prompt_tokens, usage.completion_tokens)

    def _fits(self, most: Usage) -> bool:
        if self._limit is None:
            return True
        whole = sum((*self._reserved, most), self.used)
        return (self.cost_of(whole) or 0.0) <= self._limit
