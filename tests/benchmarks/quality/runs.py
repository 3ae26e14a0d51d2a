"""The ways to order candidates that are compared."""

from collections.abc import Callable, Mapping

import numpy as np

from backend.domain import Leg
from backend.search.candidates import Candidates
from backend.search.rerank import rerank
from backend.stores.tokens import IntArray
from backend.targets import Target

Run = Callable[[Candidates], IntArray]
"""Rows, best first."""

DEFAULT = "default"


def _leg(leg: Leg) -> Run:
    """What one leg found, by its own score, ties by row as everywhere."""

    def ranked(candidates: Candidates) -> IntArray:
        rows = np.concatenate([hits.leg(leg).rows for hits in candidates.hits])
        scores = np.concatenate([hits.leg(leg).scores for hits in candidates.hits])
        ordered: IntArray = rows[np.lexsort((rows, -scores))]
        return ordered

    return ranked


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
