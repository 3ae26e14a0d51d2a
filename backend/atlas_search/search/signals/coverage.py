"""How much of the question the passage mentions at all."""

from atlas_search.search.signals.occurrences import Occurrences, Terms
from atlas_search.stores.tokens import FloatArray


def coverage(hits: Occurrences, terms: Terms) -> FloatArray:
    """Idf-weighted share of the question's terms that occur in the passage."""
    result: FloatArray = (hits.counts > 0) @ terms.idf / terms.total
    return result
