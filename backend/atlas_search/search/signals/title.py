"""Which terms of the question the document's title names."""

import numpy as np
from numpy.typing import NDArray

from atlas_search.search.signals.occurrences import Terms
from atlas_search.stores.arrays import IntArray, Ragged


def titled(terms: Terms, documents: IntArray, titles: Ragged) -> NDArray[np.bool_]:
    """Whether each term occurs in the title of each of the `documents` (documents x terms)."""
    words = titles.take(documents)
    number = terms.number[words.value]
    asked = np.flatnonzero(number >= 0)
    size, width = len(documents), len(terms.idf)
    cells = words.row[asked] * width + number[asked]
    return np.bincount(cells, minlength=size * width).reshape(size, width) > 0
