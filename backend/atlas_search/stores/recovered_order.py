"""The order of a version that was not written whole, from its documents."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np

from atlas_search.stores.order import Counts, Order
from atlas_search.stores.tokens import TokenTable
from atlas_search.stores.versions import RECORDS, TOKENS


def recovered_order(version: Path) -> Order:
    """What the order must be: documents are sorted by corpus and id.

    What is gone from the base is not known. Raises DamagedStore or an error of SQLite.
    """
    address = f"{(version / RECORDS).absolute().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        query = "SELECT document FROM documents ORDER BY corpus, id"
        documents = np.array([key for (key,) in connection.execute(query)], dtype=np.int64)
        query = "SELECT row, document FROM passages ORDER BY row"
        pairs = np.array(connection.execute(query).fetchall(), dtype=np.int64).reshape(-1, 2)
    place = np.full(int(documents.max(initial=-1)) + 1, -1)
    place[documents] = np.arange(len(documents))
    rows = pairs[np.argsort(place[pairs[:, 1]], kind="stable"), 0]
    base = TokenTable.read(version / TOKENS)
    counts = Counts(int(rows.max(initial=-1)) + 1, len(place), base.passages, base.documents)
    return Order(rows, documents, counts, {})
