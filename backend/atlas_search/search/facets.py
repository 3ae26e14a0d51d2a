"""What the documents of a result have in common: counts of their metadata."""

from collections.abc import Sequence

import numpy as np

from atlas_search.search.rerank import Ranking
from atlas_search.stores.record_files import ValueCount
from atlas_search.stores.store import Store

Facets = dict[str, list[ValueCount]]
"""For each field the values of its documents, the most frequent first."""

MOST_VALUES = 50  # of one field; a list of all titles helps nobody


def facets(store: Store, ranking: Ranking, fields: Sequence[str]) -> Facets:
    """Counts over the documents of all candidates, so under the filter of the search.

    Both legs draw the same depth from every corpus, so these are the documents worth narrowing
    down, not all in which a word occurs.
    """
    documents = np.unique(store.tokens.document_of[ranking.rows])
    found: Facets = {field: [] for field in fields}
    for count in store.value_counts(documents, fields):
        if len(found[count.field]) < MOST_VALUES:
            found[count.field].append(count)
    return found
