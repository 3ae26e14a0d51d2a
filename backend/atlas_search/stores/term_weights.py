"""The weights of terms that a sparse model gives passages, by the digest of their text.

They lie beside the versions of a collection, in one file for all: whatever it lacks is worked out
again, and a search that would miss some does not begin.
"""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.errors import OutdatedStore
from atlas_search.core.files import writing
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.vectors import FloatArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array


TERMS = "terms.sqlite"
COMMIT_EVERY = 256  # texts

_SCHEMA = """
CREATE TABLE IF NOT EXISTS weights (
    model TEXT NOT NULL, digest BLOB NOT NULL, terms BLOB NOT NULL, weights BLOB NOT NULL,
    PRIMARY KEY (model, digest)
) WITHOUT ROWID;
"""

Weigh = Callable[[Sequence[bytes]], Iterable[tuple[NDArray[np.int32], NDArray[np.float32]]]]
"""Gives the term ids and weights of the texts with some digests."""


def write_terms(
    folder: Path,
    model: str,
    digests: Sequence[bytes],
    kept: Iterable[bytes],
    weigh: Weigh,
    progress: Callable[[int, int], None],
) -> None:
    """Weigh the texts of the collection in `folder` that the `model` has not weighed yet.

    What is neither of these `digests` nor `kept` is removed, and what other models gave.
    """
    with writing(folder), closing(_open(folder / TERMS)) as file:
        known = {
            digest
            for (digest,) in file.execute("SELECT digest FROM weights WHERE model = ?", [model])
        }
        missing = [digest for digest in dict.fromkeys(digests) if digest not in known]
        progress(0, len(missing))
        for start in range(0, len(missing), COMMIT_EVERY):
            batch = missing[start : start + COMMIT_EVERY]
            with file:
                file.executemany(
                    "INSERT INTO weights VALUES (?, ?, ?, ?)",
                    (
                        (model, digest, terms.astype("<i4").tobytes(), by.astype("<f4").tobytes())
                        for digest, (terms, by) in zip(batch, weigh(batch), strict=True)
                    ),
                )
            progress(start + len(batch), len(missing))
        gone = known.difference(digests, kept)
        with file:
            file.execute("DELETE FROM weights WHERE model != ?", [model])
            file.executemany("DELETE FROM weights WHERE digest = ?", ([digest] for digest in gone))


def _open(path: Path) -> sqlite3.Connection:
    """Open the file, made anew if it is damaged: what it held can be worked out."""
    try:
        file = sqlite3.connect(path)
        file.executescript(_SCHEMA)
    except sqlite3.DatabaseError:
        file.close()
        path.unlink()
        file = sqlite3.connect(path)
        file.executescript(_SCHEMA)
    return file


class TermTable:
    """Weights of all passages of a version, by row; in memory, 8 bytes each."""

    def __init__(self, matrix: "csr_array"):
        self._matrix = matrix
        most = matrix.max(axis=0)
        self._most: NDArray[np.float32] = most.toarray().ravel()

    @classmethod
    def read(cls, folder: Path, model: str, name: str, digests: Sequence[bytes]) -> "TermTable":
        """Read the weights that the `model`, called `name`, gave the texts with these digests.

        Raises OutdatedStore if it has not weighed every one.
        """
        from scipy.sparse import csr_array

        result: dict[bytes, tuple[NDArray[np.int32], NDArray[np.float32]]] = {}
        path, query = folder / TERMS, "SELECT digest, terms, weights FROM weights WHERE model = ?"
        if path.exists():
            # of a damaged file nothing is found, and it is made anew
            with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(path)) as file:
                for digest, terms, weights in file.execute(query, [model]):
                    result[digest] = np.frombuffer(terms, "<i4"), np.frombuffer(weights, "<f4")
        if missing := sum(digest not in result for digest in digests):
            raise OutdatedStore(
                f"SPARSE_MODEL={name} has not weighed the terms of {missing} of {len(digests)} "
                f"passages in {folder}. Run `atlas create` again as it was built, which embeds "
                "nothing again, or leave SPARSE_MODEL unset."
            )
        ends = np.cumsum([0, *(len(result[digest][0]) for digest in digests)])
        terms = np.concatenate([result[digest][0] for digest in digests])
        weights = np.concatenate([result[digest][1] for digest in digests])
        return cls(
            csr_array((weights, terms, ends), shape=(len(digests), terms.max(initial=0) + 1))
        )

    def scores(self, terms: IntArray, weights: NDArray[np.float32]) -> FloatArray:
        """Return how well each passage goes with a question, in [0, 1].

        The dot product with the question's weights, divided by what a passage would have that has
        of each term as much as any: so it depends on no other candidate.
        """
        known = terms < len(self._most)
        question = np.zeros(len(self._most), dtype=np.float32)
        question[terms[known]] = weights[known]
        best = float(question @ self._most)
        scores: FloatArray = (self._matrix @ question).astype(np.float64) / (best or 1.0)
        return scores
