"""The ways to order candidates that are compared."""

from collections.abc import Callable, Mapping

from atlas_search.core.domain import Leg
from atlas_search.core.targets import Target
from atlas_search.search.candidates import Candidates
from atlas_search.search.ranking import rank_leg, rerank
from atlas_search.stores.arrays import IntArray

Run = Callable[[Candidates], IntArray]
"""Rows, best first."""

DEFAULT = "default"


def _leg(leg: Leg) -> Run:
    """What one leg found, by its own score, ties by row as everywhere."""
    return lambda candidates: rank_leg(candidates, leg)


def _reranked(target: Target) -> Run:
    return lambda candidates: rerank(candidates, target).rows


RUNS: Mapping[str, Run] = {
    "BM25": _leg("lexical"),
    "dense": _leg("dense"),
    "RRF": _reranked(Target(reranker="rrf")),
    "0.5/0.5": _reranked(Target(reranker="weighted", mix_dense=0.5, mix_lexical=0.5)),
    "lexical": _reranked(Target(reranker="lexical")),
    "relative": _reranked(Target(reranker="relative")),
    DEFAULT: _reranked(Target()),
}
