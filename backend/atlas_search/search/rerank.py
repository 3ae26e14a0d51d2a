"""From the signals of the candidates to one total order."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from atlas_search.core.targets import Target
from atlas_search.search.candidates import Candidates
from atlas_search.search.rerankers.fused import absolute, relative
from atlas_search.search.rerankers.lexical import atlas_table
from atlas_search.search.rerankers.rrf import rrf
from atlas_search.search.rerankers.weighted import semantic, weigh
from atlas_search.search.signals.measure import SignalTable
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.terms import FloatArray

Scorer = Callable[[Candidates, Target], FloatArray]
"""A score for each row of the candidates' table; more is better."""

SCORERS: Mapping[str, Scorer] = {
    "fused": absolute,
    "relative": relative,
    "lexical": atlas_table,
    "rrf": rrf,
    "weighted": weigh,
    "none": semantic,
}
"""Rerankers of one stage. The candidates of all others, which have a second stage
(`atlas_search.search.rerankers.second_stage`), are scored as by `fused` first."""


@dataclass(frozen=True)
class Ranking:
    """Candidates best first: `order` are positions in `table`, `scores` belong to `order`.

    Ties end in the passage's row. `relevance` is what a second stage gave, by position in
    `table`, in [0, 1]; the best of those that it read come first then, and scores do not descend.
    `note` says why it read no more.
    """

    table: SignalTable
    order: IntArray
    scores: FloatArray
    relevance: Mapping[int, float] = field(default_factory=dict)
    note: str = ""

    @property
    def rows(self) -> IntArray:
        """The passages, best first."""
        return self.table.rows[self.order]

    def signals(self, place: int) -> dict[str, float]:
        """The signals of the passage in that place, `relevance` among them if it was read."""
        position = int(self.order[place])
        signals = self.table.of(position)
        if position in self.relevance:
            signals["relevance"] = round(self.relevance[position], 6)
        return signals

    def in_order(self, places: IntArray) -> "Ranking":
        """The same candidates in another order, given by their present places."""
        return replace(self, order=self.order[places], scores=self.scores[places])


def rerank(candidates: Candidates, target: Target) -> Ranking:
    """Score the candidates as `target` says and order them."""
    table = candidates.table
    scores = SCORERS.get(target.reranker, absolute)(candidates, target)
    # beyond 1e-9 a difference is rounding, and must not decide before the row does
    order = np.lexsort((table.rows, -np.round(scores, 9)))
    return Ranking(table, order, scores[order])
