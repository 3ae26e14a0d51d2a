"""Rerankers: one score per candidate from its signals, and a total order."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from backend.search.signals.measure import SignalTable
from backend.stores.tokens import FloatArray, IntArray
from backend.targets import Target

FUSED_WEIGHTS: Mapping[str, float] = {
    name: Target.model_fields[f"weight_{name}"].default
    for name in ("semantic", "bm25", "phrase", "proximity", "title")
}
"""The default weights. On 14 public test sets they reach 0.721 mean nDCG@10; an ensemble of trees
over 32 signals reaches 0.723."""

LEXICAL_WEIGHTS: Mapping[str, float] = {"exact": 0.5, "frequency": 0.3, "proximity": 0.2}
METADATA_BONUS = 0.5


@dataclass(frozen=True)
class Ranking:
    """Candidates best first: `order` are positions in `table`, `scores` belong to `order`.

    Ties end in the passage's row.
    """

    table: SignalTable
    order: IntArray
    scores: FloatArray

    @property
    def rows(self) -> IntArray:
        """The passages, best first."""
        return self.table.rows[self.order]


def fused(table: SignalTable, weights: Mapping[str, float] = FUSED_WEIGHTS) -> FloatArray:
    """Weighted mean of signals, in [0, 1].

    No signal depends on the other candidates, so the score is on one scale for all corpora and
    all questions. Never normalise per corpus: the best passage of an irrelevant corpus would tie
    with the best of the right one (0.06 to 0.20 nDCG@10 lost).
    """
    total = sum(weights.values()) or 1.0
    scores = np.zeros(len(table.rows))
    for name, weight in weights.items():
        scores += weight * table.signals[name]
    return scores / total


def lexical(table: SignalTable) -> FloatArray:
    """The ATLAS table: 0.5 exact + 0.3 frequency + 0.2 proximity + 0.5 per matching metadata field.

    It ignores meaning: on public test sets it ranks below its own input (chunkeval 0.684 nDCG@10
    where `fused` has 0.785). Above 1 when metadata matches.
    """
    scores = METADATA_BONUS * table.matches.astype(np.float64)
    for name, weight in LEXICAL_WEIGHTS.items():
        scores += weight * table.signals[name]
    return scores


def rerank(table: SignalTable, target: Target) -> Ranking:
    """Score the candidates as `target` says and order them."""
    if target.reranker == "lexical":
        scores = lexical(table)
    else:
        scores = fused(table, {name: getattr(target, f"weight_{name}") for name in FUSED_WEIGHTS})
    # beyond 1e-9 a difference is rounding, and must not decide before the row does
    order = np.lexsort((table.rows, -np.round(scores, 9)))
    return Ranking(table, order, scores[order])
