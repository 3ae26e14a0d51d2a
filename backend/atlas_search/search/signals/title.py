"""Whether the document's title names what is asked about."""

import numpy as np

from atlas_search.search.signals.occurrences import Terms
from atlas_search.stores.tokens import FloatArray, IntArray, Ragged


def title(terms: Terms, documents: IntArray, titles: Ragged) -> FloatArray:
    """Idf-weighted share of the question's terms that occur in the titles of `documents`."""
    words = titles.take(documents)
    number = terms.number[words.value]
    asked = np.flatnonzero(number >= 0)
    size, width = len(documents), len(terms.idf)
    cells = words.row[asked] * width + number[asked]
    present = np.bincount(cells, minlength=size * width).reshape(size, width) > 0
    share: FloatArray = present @ terms.idf / terms.total
    return share
