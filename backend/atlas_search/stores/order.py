"""Places of the passages and documents of a version that was not written whole.

A version that differs little from the one before shares the files of that one, the base, and has
what is new in the folder RECENT beside them. Passages and documents have keys that stay: those of
the base are its rows and indices, later ones count on. An order says which key each row has, so
that rows and indices are those of a version that was written whole.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.errors import DamagedStore
from atlas_search.stores.arrays import IntArray, Splice, map_array

_Value = TypeVar("_Value")
RECENT = "recent"
_ROWS, _DOCUMENTS, _COUNTS, _GONE = "rows.npy", "documents.npy", "counts.npy", "gone.json"


class KeyCounts(NamedTuple):
    """First row and document keys never given, and the numbers of both in the base."""

    next_row: int
    next_document: int
    base_rows: int
    base_documents: int


@dataclass(frozen=True)
class Order:
    """Key of every passage, by row, and of every document, by index.

    `gone` are the ids, by corpus, that the vector index still holds from the base, though the
    version has no such passage in it, or one with another text.
    """

    rows: IntArray
    documents: IntArray
    counts: KeyCounts
    gone: Mapping[str, Sequence[str]]

    @classmethod
    def whole(cls, rows: int, documents: int) -> "Order":
        """Return the order of a version that was written whole."""
        counts = KeyCounts(rows, documents, rows, documents)
        return cls(np.arange(rows), np.arange(documents), counts, {})

    @classmethod
    def read(cls, folder: Path) -> "Order | None":
        """Read the order in `folder`; None if the version was written whole.

        Raises DamagedStore.
        """
        if not folder.exists():
            return None
        try:
            rows, documents, counts = (map_array(folder / n) for n in (_ROWS, _DOCUMENTS, _COUNTS))
            gone = json.loads((folder / _GONE).read_text(encoding="utf-8"))
            return cls(rows, documents, KeyCounts(*counts.tolist()), gone)
        except (OSError, ValueError, EOFError, TypeError) as error:
            raise DamagedStore(
                f"The order of passages in {folder} cannot be read ({error}). Run `atlas store "
                "repair`."
            ) from error

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        arrays = {_ROWS: self.rows, _DOCUMENTS: self.documents, _COUNTS: np.array(self.counts)}
        for name, array in arrays.items():
            np.save(folder / name, array.astype(np.int64, copy=False))
        text = json.dumps(self.gone, ensure_ascii=False)
        (folder / _GONE).write_text(text, encoding="utf-8")

    @cached_property
    def splice(self) -> Splice:
        """Places of the passages: first those of the base, then the recent ones, in order."""
        return Splice.of(_standing(self.rows, self.counts.base_rows), self.counts.base_rows)

    @cached_property
    def document_splice(self) -> Splice:
        at = _standing(self.documents, self.counts.base_documents)
        return Splice.of(at, self.counts.base_documents)

    def after(
        self, rows: IntArray, documents: IntArray, gone: Mapping[str, Sequence[str]]
    ) -> "Order":
        """Return the order of a coming version, by where each passage and document stands now.

        That is -1 for a new one, which gets a key of its own. `gone` are the ids that leave the
        base with it.
        """
        keys, next_row = assign_keys(self.rows, rows, self.counts.next_row)
        of_documents, next_document = assign_keys(
            self.documents, documents, self.counts.next_document
        )
        counts = self.counts._replace(next_row=next_row, next_document=next_document)
        every = {c: [*self.gone.get(c, ()), *gone.get(c, ())] for c in {*self.gone, *gone}}
        return Order(keys, of_documents, counts, every)

    @property
    def is_recent(self) -> NDArray[np.bool_]:
        """Return whether each passage came after the base was written."""
        return self.rows >= self.counts.base_rows

    @property
    def recent(self) -> int:
        """Number of passages that are not in the base."""
        return int(np.count_nonzero(self.is_recent))

    @property
    def left_out(self) -> int:
        """Number of passages of the base that the version does not have."""
        return self.counts.base_rows - (len(self.rows) - self.recent)


def assign_keys(keys: IntArray, stood: IntArray, following: int) -> tuple[IntArray, int]:
    """Return the keys of a coming version's items, and the next free one.

    An item keeps the key of its old row; -1 gets a new one.
    """
    result = np.full(len(stood), -1)
    kept = stood >= 0
    result[kept] = keys[stood[kept]]
    new = np.flatnonzero(~kept)
    result[new] = following + np.arange(len(new))
    return result, following + len(new)


def _standing(keys: IntArray, base: int) -> IntArray:
    at = np.array(keys, dtype=np.int64)
    recent = np.flatnonzero(at >= base)
    at[recent] = base + np.arange(len(recent))
    return at


class Numbering:
    """Rows or indices and their keys; without an order they are the same."""

    def __init__(self, keys: IntArray | None = None, following: int = 0):
        self._keys = keys
        if keys is not None:
            self._numbers = np.full(following, -1)
            self._numbers[keys] = np.arange(len(keys))

    def keys(self, numbers: Sequence[int] | IntArray) -> list[int]:
        own = np.asarray(numbers, dtype=np.int64)
        keys: list[int] = (own if self._keys is None else self._keys[own]).tolist()
        return keys

    def number(self, key: int) -> int:
        return key if self._keys is None else int(self._numbers[key])

    def numbers(self, keys: Sequence[int]) -> IntArray:
        """Return the rows or indices of some keys, ascending."""
        own = np.asarray(keys, dtype=np.int64)
        return np.sort(own if self._keys is None else self._numbers[own])

    def in_order(self, by_key: Sequence[_Value]) -> list[_Value]:
        """Bring values of all items from the order of keys into that of rows or indices."""
        if self._keys is None:
            return list(by_key)
        if len(by_key) != len(self._keys):
            raise ValueError(f"{len(by_key)} values for {len(self._keys)} keys")
        places = np.empty(len(self._keys), dtype=np.int64)
        places[np.argsort(self._keys)] = np.arange(len(self._keys))
        return list(map(by_key.__getitem__, places.tolist()))
