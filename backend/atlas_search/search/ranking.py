"""From the signals of the candidates to one total order."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from atlas_search.core.domain import Leg
from atlas_search.core.targets import Target
from atlas_search.search.candidates import Candidates, min_max
from atlas_search.search.signals import SignalTable
from atlas_search.stores.arrays import IntArray
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


def lexical(table: SignalTable, target: Target) -> FloatArray:
    """0.5 exact + 0.3 frequency + 0.2 proximity + 0.5 per matching metadata field, by default.

    It ignores meaning, and ranks below the mere mix of both legs: on public test sets nDCG@10 is
    0.746 (chunkeval), 0.867 (SQuAD 2) and 0.395 (QMSum committees) where `fused` has 0.79, 0.93
    and 0.51. Above 1 when metadata matches.
    """
    scores = target.lexical_metadata * table.matches.astype(np.float64)
    for name in ("exact", "frequency", "proximity"):
        scores += getattr(target, f"lexical_{name}") * table.signals[name]
    return scores


def rrf(candidates: Candidates, target: Target) -> FloatArray:
    """Sum over the legs of weight / (k + rank), divided by its largest possible value.

    Cormack, Clarke and Büttcher 2009, with k = 60. Ranks begin at 1 and run over all corpora
    together, by the leg's own score; a passage that a leg did not find gets nothing from it.
    """
    own: Mapping[Leg, float] = {
        "dense": target.rrf_weight_dense,
        "lexical": target.rrf_weight_lexical,
        "sparse": 1.0,
    }
    weights = {leg: own[leg] for leg in next(iter(candidates.hits.values()))}
    scores = np.zeros(len(candidates.table.rows))
    for leg, weight in weights.items():
        ranked = rank_leg(candidates, leg)
        at = np.searchsorted(candidates.table.rows, ranked)
        scores[at] += weight / (target.rrf_k + np.arange(1, len(ranked) + 1))
    return scores * (target.rrf_k + 1) / (sum(weights.values()) or 1.0)


def rank_leg(candidates: Candidates, leg: Leg) -> IntArray:
    """Merge a leg's hits of all corpora, best first, ties by row."""
    hits = [legs[leg] for legs in candidates.hits.values()]
    rows = np.concatenate([of.rows for of in hits])
    scores = np.concatenate([of.scores for of in hits])
    ranked: IntArray = rows[np.lexsort((rows, -scores))]
    return ranked


def weigh(candidates: Candidates, target: Target) -> FloatArray:
    """MIX_DENSE * min-max(cosine) + MIX_LEXICAL * min-max(BM25), over the sum of both shares."""
    signals = candidates.table.signals
    dense, lexical = target.mix_dense, target.mix_lexical
    mixed = dense * min_max(signals["semantic"]) + lexical * min_max(signals["bm25"])
    return mixed / ((dense + lexical) or 1.0)


def semantic(candidates: Candidates, _: Target) -> FloatArray:
    """The cosine alone, whichever leg found the passage: no reranking."""
    return candidates.table.signals["semantic"]


Scorer = Callable[[Candidates, Target], FloatArray]
"""A score for each row of the candidates' table; more is better."""

SCORERS: Mapping[str, Scorer] = {
    "fused": absolute,
    "relative": relative,
    "lexical": lambda candidates, target: lexical(candidates.table, target),
    "rrf": rrf,
    "weighted": weigh,
    "none": semantic,
}
"""Rerankers of one stage. The candidates of all others, which have a second stage
(`atlas_search.search.rerankers`), are scored as by `fused` first."""


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
        """Return the candidates in another order; `places` are positions in the present one."""
        return replace(self, order=self.order[places], scores=self.scores[places])


def rerank(candidates: Candidates, target: Target) -> Ranking:
    """Score the candidates as `target` says and order them."""
    table = candidates.table
    scores = SCORERS.get(target.reranker, absolute)(candidates, target)
    # beyond 1e-9 a difference is rounding, and must not decide before the row does
    order = np.lexsort((table.rows, -np.round(scores, 9)))
    return Ranking(table, order, scores[order])
