"""Whether the question names the passage's date, author, court or tags."""

import numpy as np

from atlas_search.search.signals.occurrences import Terms
from atlas_search.stores.arrays import IntArray, sorted_unique
from atlas_search.stores.terms import TokenTable


def metadata_matches(terms: Terms, documents: IntArray, table: TokenTable) -> IntArray:
    """How many metadata fields of `documents` have a value whose every word the question has.

    A date matches by its year, a person by the last name; titles have a signal of their own.
    """
    owned = table.values_of.take(documents)
    words = table.values.take(owned.value)
    asked = terms.number[words.value] >= 0
    lengths = table.values.lengths(owned.value)
    found = np.bincount(words.row[asked], minlength=len(owned.value))
    matched = (lengths > 0) & (found == lengths)
    fields = int(table.value_field.max(initial=0)) + 1
    pairs = sorted_unique(owned.row[matched] * fields + table.value_field[owned.value[matched]])
    counts: IntArray = np.bincount(pairs // fields, minlength=len(documents))
    return counts
