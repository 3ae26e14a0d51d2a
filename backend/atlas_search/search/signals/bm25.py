"""BM25 on one scale for every question and corpus."""

from atlas_search.search.signals.occurrences import Terms
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.terms import FloatArray

K1 = 0.9
B = 0.75


def bm25(counts: IntArray, length: IntArray, terms: Terms, mean_length: float) -> FloatArray:
    """Sum of idf(t) * tf / (tf + K1 * (1 - B + B * length / mean length)), over the sum of idf(t).

    Robertson and Zaragoza 2009 without the constant factor K1 + 1. Dividing by the weight of the
    whole question puts it in [0, 1) and makes it independent of the other candidates. `counts`
    (m x terms) are the tf.
    """
    norm = K1 * (1 - B + B * length / mean_length)
    saturated = counts / (counts + norm[:, None])
    result: FloatArray = saturated @ terms.idf / terms.total
    return result
