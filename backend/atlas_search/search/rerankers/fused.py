"""The weighted sum of signals, absolute or relative to the other candidates."""

from collections.abc import Mapping

import numpy as np

from atlas_search.core.targets import Target
from atlas_search.search.candidates import Candidates, min_max
from atlas_search.search.signals.measure import SignalTable
from atlas_search.stores.terms import FloatArray

SIGNALS = ("semantic", "bm25", "phrase", "proximity", "neighbours")
FUSED_WEIGHTS: Mapping[str, float] = {
    name: Target.model_fields[f"weight_{name}"].default for name in SIGNALS
}
"""The default weights: of 432 combinations the best mean nDCG@10 over development halves of twelve
public test sets that nowhere there loses more than 0.005 against half cosine, half BM25. Chosen
without any one of the sets they are the same nine times of twelve."""

EVIDENCE_WEIGHTS: Mapping[str, float] = {
    "semantic": 0.6,
    "bm25": 0.6,
    "phrase": 0.3,
    "proximity": 0.35,
    "title": 0.3,
}
"""How much a passage itself speaks to the question: what stands beside it is no evidence. Words
count for more than in the order: what is about something else may mean much the same. Thresholds
and the likelihood of an answer were chosen with these."""


def fuse(table: SignalTable, weights: Mapping[str, float] = FUSED_WEIGHTS) -> FloatArray:
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


def absolute(candidates: Candidates, target: Target) -> FloatArray:
    """`fused` with the weights of the target."""
    weights = {name: getattr(target, f"weight_{name}") for name in SIGNALS}
    if "sparse" in candidates.table.signals:
        weights["sparse"] = target.weight_sparse
    return fuse(candidates.table, weights)


def relative(candidates: Candidates, _: Target) -> FloatArray:
    """`fused` over signals of which `semantic` and `bm25` are min-max scaled first.

    In [0, 1]. The best of bad candidates scores as high as the best of good ones: it orders the
    candidates of one question, and says nothing about whether one of them is any good.
    """
    signals = dict(candidates.table.signals)
    for name in ("semantic", "bm25"):
        signals[name] = min_max(signals[name])
    table = SignalTable(candidates.table.rows, signals, candidates.table.matches)
    return fuse(table)
