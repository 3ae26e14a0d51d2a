"""Whether the document's title names what is asked about."""

import numpy as np

from backend.search.signals.occurrences import Terms
from backend.stores.tokens import FloatArray, IntArray, Ragged


def title(terms: Terms, documents: IntArray, titles: Ragged) -> FloatArray:
    """Idf-weighted share of the question's terms that occur in the title.

    `documents` are the candidates' document indices.
    """
    unique, back = np.unique(documents, return_inverse=True)
    words = titles.take(unique)
    result = np.zeros(len(unique))
    for term, idf in zip(terms.ids, terms.idf, strict=True):
        if term >= 0:
            present = np.zeros(len(unique), dtype=bool)
            present[words.row[words.value == term]] = True
            result += present * idf
    return (result / terms.total)[back]
