"""How close together the question's terms stand."""

import numpy as np

from atlas_search.search.signals.occurrences import Occurrences, Terms
from atlas_search.stores.tokens import FloatArray

WINDOW = 32
"""Words; about two sentences."""


def proximity(hits: Occurrences, terms: Terms) -> FloatArray:
    """The largest idf-weighted share of the terms inside any WINDOW consecutive words.

    1 when all of them stand in one window, 0 without a hit. A best window can be taken to start
    at a hit, so each hit is tried as a start.
    """
    best = np.zeros(len(hits.counts))
    if not len(hits.row):
        return best
    # rows laid end to end with a gap no window can bridge, so one array holds all positions
    place = hits.row * (int(hits.position.max()) + WINDOW + 1) + hits.position
    never = place[-1] + WINDOW + 1
    share = np.zeros(len(place))
    for term, weight in enumerate(terms.idf):
        at = np.flatnonzero(hits.term == term)
        # for each hit the next place of the term, its own counted
        ends = np.concatenate(([-1], at, [len(place) - 1]))
        following = np.repeat(np.concatenate((place[at], [never])), ends[1:] - ends[:-1])
        share += weight * (following - place < WINDOW)
    np.maximum.at(best, hits.row, share)
    return best / terms.total
