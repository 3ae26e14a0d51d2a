"""What a search has found before anything is ranked."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.domain import Leg
from atlas_search.search.query import Query
from atlas_search.search.signals.measure import SignalTable
from atlas_search.stores.cosines import Cosines
from atlas_search.stores.store import Hits
from atlas_search.stores.tokens import FloatArray, IntArray, sorted_unique


@dataclass(frozen=True)
class CorpusHits:
    """What both legs found in one corpus."""

    corpus: str
    dense: Hits
    lexical: Hits

    @cached_property
    def rows(self) -> IntArray:
        """The passages either leg found, ascending."""
        return sorted_unique(np.concatenate([self.dense.rows, self.lexical.rows]))

    def leg(self, leg: Leg) -> Hits:
        """The hits of one leg."""
        return self.dense if leg == "dense" else self.lexical


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

    `cosines` are those of the question's vector. `parts` are empty for a question that asks for one
    thing; their passages are among the candidates.
    """

    query: Query
    cosines: Cosines
    hits: Sequence[CorpusHits]
    table: SignalTable
    parts: tuple[Part, ...] = ()


def min_max(values: FloatArray) -> FloatArray:
    """(value - smallest) / (largest - smallest) over all candidates; 0 where all are equal."""
    if not len(values):
        return values
    smallest, largest = values.min(), values.max()
    scaled: FloatArray = (values - smallest) / ((largest - smallest) or 1.0)
    return scaled
