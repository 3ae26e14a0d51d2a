"""The candidates of a search before they are ranked."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.domain import Leg
from atlas_search.search.query import Query
from atlas_search.search.signals import SignalTable
from atlas_search.stores.arrays import IntArray, sorted_unique
from atlas_search.stores.store import LegHits
from atlas_search.stores.terms import FloatArray
from atlas_search.stores.vectors import Cosines

Legs = Mapping[Leg, LegHits]
"""The hits of each leg that was searched, in one corpus; `sparse` takes a SPARSE_MODEL."""


def rows_of(legs: Legs) -> IntArray:
    """The passages that any leg found, ascending."""
    return sorted_unique(np.concatenate([hits.rows for hits in legs.values()]))


@dataclass(frozen=True)
class Part:
    """One of the things that a question asks for, and the passages that speak to it, best first.

    `vector` is the part's own, of unit length.
    """

    question: str
    vector: NDArray[np.float32]
    rows: IntArray


@dataclass(frozen=True)
class Candidates:
    """The candidates of all corpora: who found them, and every signal of each.

    `hits` are by corpus, `cosines` those of the question's vector, `term_scores` those of every
    passage by a SPARSE_MODEL, None without one. `parts` are empty for a question that asks for one
    thing; their passages are among the candidates.
    """

    query: Query
    cosines: Cosines
    hits: Mapping[str, Legs]
    table: SignalTable
    parts: tuple[Part, ...] = ()
    term_scores: FloatArray | None = None


def min_max(values: FloatArray) -> FloatArray:
    """(value - smallest) / (largest - smallest) over all candidates; 0 where all are equal."""
    if not len(values):
        return values
    smallest, largest = values.min(), values.max()
    scaled: FloatArray = (values - smallest) / ((largest - smallest) or 1.0)
    return scaled
