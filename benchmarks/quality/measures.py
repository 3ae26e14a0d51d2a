"""Metrics of rankings, by `ir-measures`."""

from collections.abc import Mapping, Sequence

import numpy as np
from ir_measures import RR, R, evaluator, nDCG

from atlas_search.stores.terms import FloatArray
from benchmarks.quality.asking import Rankings

MEASURES = (nDCG @ 10, R @ 10, R @ 100, RR @ 10)
"""As trec_eval has them; RR@10, whose mean is MRR@10, as MS MARCO has it."""

MAIN = str(MEASURES[0])

Values = Mapping[str, FloatArray]
"""By metric, one number for each question in the order of their ids."""


def measured(rankings: Rankings) -> dict[str, Values]:
    """The values of every run. A question for which nothing was found counts 0."""
    judge = evaluator(MEASURES, rankings.relevant)
    ids = sorted(rankings.relevant)
    found: dict[str, Values] = {}
    for name, ranked in rankings.runs.items():
        scored = {query: _scored(records) for query, records in ranked.items()}
        values = {(str(m.measure), m.query_id): m.value for m in judge.iter_calc(scored)}
        found[name] = {
            str(measure): np.array([values[str(measure), id_] for id_ in ids])
            for measure in MEASURES
        }
    return found


def _scored(records: Sequence[str]) -> dict[str, float]:
    """Scores that fall by 1 from rank to rank.

    trec_eval orders by score, then by id from z to a, and ignores the ranks it is given. Given
    the product's own scores it would order ties its own way, and so would each tool another;
    the product's order is total (ties end in the row), and that order is what users see.
    """
    return {record: float(len(records) - rank) for rank, record in enumerate(records)}
