"""The order of a version that was not written whole, from its documents."""

from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np

from atlas_search.core.errors import DamagedStore
from atlas_search.stores.order import Counts, Order
from atlas_search.stores.ragged import IntArray
from atlas_search.stores.record_files import BY_ROW, RecordFiles
from atlas_search.stores.tokens import TokenTable
from atlas_search.stores.versions import RECENT_RECORDS, RECORDS, TOKENS, WORDS
from atlas_search.stores.words import WordTable


class FoundKeys(NamedTuple):
    """The key of every passage and document, in order."""

    rows: IntArray
    documents: IntArray


def keys_of(version: Path) -> FoundKeys:
    """Those of the documents of a version, which are sorted by corpus and id."""
    recent = version / RECENT_RECORDS
    with closing(RecordFiles(version / RECORDS, recent if recent.exists() else None)) as files:
        keys = files.rows(
            "SELECT document, corpus, id FROM {documents} d",
            outer="SELECT document FROM {} ORDER BY corpus, id",
        )
        documents = np.array([key for (key,) in keys], dtype=np.int64)
        rows = files.rows("SELECT row, document FROM {passages} p", outer=BY_ROW)
        pairs = np.array(list(map(tuple, rows)), dtype=np.int64).reshape(-1, 2)
    place = np.full(int(documents.max(initial=-1)) + 1, -1)
    place[documents] = np.arange(len(documents))
    return FoundKeys(pairs[np.argsort(place[pairs[:, 1]], kind="stable"), 0], documents)


def recovered_order(version: Path) -> Order:
    """What the order of a version must be. What is gone from the base is not known.

    Raises DamagedStore if the words are damaged too, both those of passages and of documents.
    """
    rows, documents = keys_of(version)
    try:
        tokens = TokenTable.read(version / TOKENS)
        base = tokens.passages, tokens.documents
    except DamagedStore:
        words = WordTable.read(version / WORDS)
        base = len(words.firsts), words.documents
    following = int(rows.max(initial=-1)) + 1, int(documents.max(initial=-1)) + 1
    return Order(rows, documents, Counts(*following, *base), {})
