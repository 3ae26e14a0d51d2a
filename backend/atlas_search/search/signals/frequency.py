"""How often the passage uses the question's terms."""

from atlas_search.search.signals.occurrences import Occurrences
from atlas_search.stores.terms import FloatArray


def frequency(hits: Occurrences) -> FloatArray:
    """hits / (hits + number of terms): 1/2 when each term stands in the passage once on average.

    It grows with every hit and never reaches 1.
    """
    total = hits.counts.sum(axis=1)
    result: FloatArray = total / (total + max(hits.counts.shape[1], 1))
    return result
