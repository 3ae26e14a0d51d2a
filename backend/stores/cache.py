"""Vectors by (model digest, text digest): what makes a repeated or interrupted build cheap.

The cache belongs to the collection and outlives its versions; passages point into it, so it also
serves the exact vector of any candidate.
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FILE_NAME = "embeddings.sqlite"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS embeddings (
    id INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    digest BLOB NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (model, digest)
)
"""


def text_digest(text: str) -> bytes:
    """SHA-256 of the text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class EmbeddingCache:
    """The cache of one collection; each `add` is committed, so a killed build keeps its work."""

    def __init__(self, folder: Path, model: str):
        try:
            self._connection = _opened(folder / FILE_NAME)
        except sqlite3.DatabaseError:
            # it only saves work: set aside what cannot be read, and embed again
            (folder / FILE_NAME).replace(folder / f"{FILE_NAME}.damaged")
            self._connection = _opened(folder / FILE_NAME)
        self._model = model

    def ids(self, digests: Iterable[bytes]) -> dict[bytes, int]:
        """The cache id of each known digest."""
        query = "SELECT id FROM embeddings WHERE model = ? AND digest = ?"
        found = {}
        for digest in digests:
            row = self._connection.execute(query, (self._model, digest)).fetchone()
            if row:
                found[digest] = int(row[0])
        return found

    def add(self, digests: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
        """Store one vector per digest."""
        with self._connection:
            self._connection.executemany(
                "INSERT OR IGNORE INTO embeddings (model, digest, vector) VALUES (?, ?, ?)",
                (
                    (self._model, digest, vector.astype("<f4").tobytes())
                    for digest, vector in zip(digests, vectors, strict=True)
                ),
            )

    def vectors(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """The vectors of `ids`, shape (n, d), in that order."""
        query = "SELECT vector FROM embeddings WHERE id = ?"
        blobs = [self._connection.execute(query, (id_,)).fetchone()[0] for id_ in ids]
        return np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(ids), -1)

    def close(self) -> None:
        """Fold the write-ahead log into the file and close it."""
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.close()


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(_SCHEMA)
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection
