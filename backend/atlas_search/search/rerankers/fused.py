"""The weighted sum of signals, absolute or relative to the other candidates."""

from collections.abc import Mapping

import numpy as np

from atlas_search.core.targets import Target
from atlas_search.search.candidates import Candidates, min_max
from atlas_search.search.signals.measure import SignalTable
from atlas_search.stores.tokens import FloatArray

SIGNALS = ("semantic", "bm25", "phrase", "proximity", "title", "neighbours")
FUSED_WEIGHTS: Mapping[str, float] = {
    name: Target.model_fields[f"weight_{name}"].default for name in SIGNALS
}
"""The default weights. Round ones (0.6, 0.6, 0.3, 0.3, 0.3) without neighbours reach 0.721 mean
nDCG@10 on 14 public test sets, an ensemble of trees over 32 signals 0.723. Those of proximity and
neighbours were chosen on the development questions of five sets (`tests.benchmarks.quality.tune`):
with 0.35 and 0.3 instead of 0.3 and 0.2, contracts, meetings and regulations gain 0.004 to 0.005,
mixed texts and encyclopaedia articles lose 0.001."""

OWN_WEIGHTS = {name: weight for name, weight in FUSED_WEIGHTS.items() if name != "neighbours"}
"""Those of signals of the passage itself: what stands beside it is no evidence."""

RELATIVE_WEIGHTS: Mapping[str, float] = {
    "semantic": 0.5,
    "bm25": 0.3,
    "phrase": 0.3,
    "proximity": 0.4,
    "title": 0.4,
    "neighbours": 0.1,
}
"""0.722 mean nDCG@10 on the same sets, with one corpus each."""


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
    return fuse(candidates.table, weights)


def relative(candidates: Candidates, _: Target) -> FloatArray:
    """RELATIVE_WEIGHTS over signals, of which `semantic` and `bm25` are min-max scaled first.

    In [0, 1]. The best of bad candidates scores as high as the best of good ones: it orders the
    candidates of one question, and says nothing about whether one of them is any good.
    """
    signals = dict(candidates.table.signals)
    for name in ("semantic", "bm25"):
        signals[name] = min_max(signals[name])
    table = SignalTable(candidates.table.rows, signals, candidates.table.matches)
    return fuse(table, RELATIVE_WEIGHTS)
