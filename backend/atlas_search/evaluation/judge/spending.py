"""What a judge's calls cost, and the limit they keep."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Condition

from atlas_search.core.errors import RequestError
from atlas_search.core.targets import Target
from atlas_search.evaluation.judge.verdict import NotJudged
from atlas_search.providers.chat import Usage


@dataclass
class Call:
    """What is known of a call: what it `took`, and what it may cost at most, which is `owed`."""

    owed: Usage
    took: Usage = field(default=Usage())

    def counted(self, usage: Usage) -> None:
        """The server says what it took."""
        self.took = self.owed = usage

    def estimated(self, usage: Usage) -> None:
        """It says nothing: it may have taken all that it was allowed to."""
        self.took = usage

    def not_made(self) -> None:
        """The provider did not begin with it."""
        self.owed = Usage()


class Spending:
    """Counts what calls took, at the prices of a target. Safe to use from several threads.

    A call that could pass the limit waits for those under way, for they may take less than they
    were allowed to; if it still could, neither it nor a later one is made. Raises RequestError for
    a limit without prices.
    """

    def __init__(self, prices: Target, limit: float | None = None):
        if limit is not None and not (prices.llm_price_input and prices.llm_price_output):
            raise RequestError(
                "--max-cost needs the prices of the judge's model. Set LLM_PRICE_INPUT and "
                "LLM_PRICE_OUTPUT, for a million tokens, in the judge's target or the environment."
            )
        self._prices = prices
        self._limit = limit
        self._changed = Condition()
        self._reserved: list[Usage] = []
        self._owed = Usage()
        self.used = Usage()
        self.calls = 0
        self.exhausted = False

    @property
    def cost(self) -> float | None:
        """What was spent, in the currency of the prices; None where they are unknown."""
        return self._prices.cost(self.used.prompt_tokens, self.used.completion_tokens)

    @contextmanager
    def call(self, most: Usage) -> Iterator[Call]:
        """Make a call that takes `most` at most; the block says what it took.

        If it does not, all of `most` counts as spent. Raises NotJudged where the limit does not
        allow it.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._fits(most) or not self._reserved)
            self.exhausted = self.exhausted or not self._fits(most)
            if self.exhausted:
                raise NotJudged("The judge stopped at the limit of --max-cost.")
            self._reserved.append(most)
            self.calls += 1
        call = Call(most)
        try:
            yield call
        finally:
            with self._changed:
                self._reserved.remove(most)
                self.used += call.took
                self._owed += call.owed
                self._changed.notify_all()

    def cost_of(self, usage: Usage) -> float | None:
        """What one call cost."""
        return self._prices.cost(usage.prompt_tokens, usage.completion_tokens)

    def _fits(self, most: Usage) -> bool:
        if self._limit is None:
            return True
        whole = sum((*self._reserved, most), self._owed)
        return (self.cost_of(whole) or 0.0) <= self._limit
