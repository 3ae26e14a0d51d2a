"""BM25 on one scale for every question and corpus."""

from atlas_search.search.signals.occurrences import Occurrences, Terms
from atlas_search.stores.tokens import FloatArray

K1 = 0.9
B = 0.75


def bm25(hits: Occurrences, terms: Terms, mean_length: float) -> FloatArray:
    """Sum of idf(t) * tf / (tf + K1 * (1 - B + B * length / mean length)), over the sum of idf(t).

    Robertson and Zaragoza 2009 without the constant factor K1 + 1. Dividing by the weight of the
    whole question puts it in [0, 1) and makes it independent of the other candidates.
    """
    norm = K1 * (1 - B + B * hits.length / mean_length)
    saturated = hits.counts / (hits.counts + norm[:, None])
    result: FloatArray = saturated @ terms.idf / terms.total
    return result
