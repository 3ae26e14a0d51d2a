"""Reciprocal rank fusion of the legs."""

import numpy as np

from atlas_search.core.domain import Leg
from atlas_search.core.targets import Target
from atlas_search.search.candidates import Candidates
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.terms import FloatArray


def rrf(candidates: Candidates, target: Target) -> FloatArray:
    """Sum over the legs of weight / (k + rank), divided by its largest possible value.

    Cormack, Clarke and Büttcher 2009, with k = 60. Ranks begin at 1 and run over all corpora
    together, by the leg's own score; a passage that a leg did not find gets nothing from it.
    """
    weights: dict[Leg, float] = {
        "dense": target.rrf_weight_dense,
        "lexical": target.rrf_weight_lexical,
    }
    if candidates.term_scores is not None:
        weights["sparse"] = 1.0
    scores = np.zeros(len(candidates.table.rows))
    for leg, weight in weights.items():
        found = _rank_leg(candidates, leg)
        at = np.searchsorted(candidates.table.rows, found)
        scores[at] += weight / (target.rrf_k + np.arange(1, len(found) + 1))
    return scores * (target.rrf_k + 1) / (sum(weights.values()) or 1.0)


def _rank_leg(candidates: Candidates, leg: Leg) -> IntArray:
    """What a leg found in all corpora, best first, ties by row."""
    rows = np.concatenate([hits.legs[leg].rows for hits in candidates.hits])
    scores = np.concatenate([hits.legs[leg].scores for hits in candidates.hits])
    ranked: IntArray = rows[np.lexsort((rows, -scores))]
    return ranked
