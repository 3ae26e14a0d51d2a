"""How close together the question's terms stand."""

import numpy as np
from numpy.typing import NDArray

from atlas_search.search.signals.occurrences import Occurrences, Terms
from atlas_search.stores.terms import FloatArray

WINDOW = 32
"""Words; about two sentences."""


def proximity(hits: Occurrences, terms: Terms, titled: NDArray[np.bool_]) -> FloatArray:
    """The idf-weighted share of the terms that the title names (`titled`, candidates x terms), and
    of all others the largest share inside any WINDOW consecutive words.

    What a title names is the same for all passages of a document; which of them is asked about is
    told by the rest. 1 when all of them stand in one window, 0 without a hit. A best window can be
    taken to start at a hit, so each hit is tried as a start.
    """
    best = np.zeros(len(hits.counts))
    of_title: FloatArray = titled @ terms.idf
    rest = np.flatnonzero(~titled[hits.row, hits.term])
    if not len(rest):
        return of_title / terms.total
    row, position, number = hits.row[rest], hits.position[rest], hits.term[rest]
    # rows laid end to end with a gap no window can bridge, so one array holds all positions
    place = row * (int(position.max()) + WINDOW + 1) + position
    never = place[-1] + WINDOW + 1
    share = np.zeros(len(place))
    for term, weight in enumerate(terms.idf):
        at = np.flatnonzero(number == term)
        # for each hit the next place of the term, its own counted
        ends = np.concatenate(([-1], at, [len(place) - 1]))
        following = np.repeat(np.concatenate((place[at], [never])), ends[1:] - ends[:-1])
        share += weight * (following - place < WINDOW)
    np.maximum.at(best, row, share)
    return (of_title + best) / terms.total
