"""Ids of passages by row, and rows by id, mapped from disk.

To read a million ids into a list and a dictionary takes most of the time in which a collection is
opened, and 200 bytes for each.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
import xxhash
from numpy.typing import NDArray

from atlas_search.core.errors import DamagedStore
from atlas_search.stores.arrays import IntArray, Splice, map_array, reading
from atlas_search.stores.order import RECENT, Order

_TEXTS, _ENDS, _HASHES, _ROWS = "texts.npy", "ends.npy", "hashes.npy", "rows.npy"


@dataclass(frozen=True)
class PassageIds:
    """Ids of n passages by row: id `i` is the UTF-8 of `texts[ends[i]:ends[i + 1]]`.

    `hashes` (n) are the XXH3 of 64 bits of all ids, ascending, `rows` (n) their rows.
    """

    texts: NDArray[np.uint8]
    ends: IntArray
    hashes: NDArray[np.uint64]
    rows: IntArray

    @classmethod
    def of(cls, ids: Iterable[str]) -> Self:
        """Make them of ids in order of rows."""
        encoded = list(map(_encoded, ids))
        hashes = np.array([_hash(id_) for id_ in encoded], dtype=np.uint64)
        rows = np.argsort(hashes, kind="stable").astype(np.int32)
        return cls(
            np.frombuffer(b"".join(encoded), dtype=np.uint8),
            np.cumsum([0, *map(len, encoded)]),
            hashes[rows],
            rows,
        )

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Map the files of `folder`. Raises DamagedStore."""
        with reading(f"The ids in {folder}"):
            result = cls(*(map_array(folder / n) for n in (_TEXTS, _ENDS, _HASHES, _ROWS)))
        if not len(result.ends) - 1 == len(result.hashes) == len(result.rows):
            raise DamagedStore(f"The files in {folder} disagree. Run `atlas store repair`.")
        return result

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        arrays = {_TEXTS: self.texts, _ENDS: self.ends, _HASHES: self.hashes, _ROWS: self.rows}
        for name, array in arrays.items():
            np.save(folder / name, array)

    def __len__(self) -> int:
        return len(self.rows)

    def of_rows(self, rows: Sequence[int] | IntArray) -> list[str]:
        """Return the ids of passages, in the order of `rows`."""
        at = np.asarray(rows, dtype=np.int64)
        text = self.texts.data
        pairs = zip(self.ends[at].tolist(), self.ends[at + 1].tolist(), strict=True)
        return [str(text[start:end], "utf-8") for start, end in pairs]

    def rows_of(self, ids: Sequence[str]) -> IntArray:
        """Return the rows of ids, -1 for one that no passage has."""
        if not len(self):
            return np.full(len(ids), -1)
        hashes = np.array([_hash(_encoded(id_)) for id_ in ids], dtype=np.uint64)
        firsts = np.minimum(np.searchsorted(self.hashes, hashes), len(self) - 1)
        rows = self.rows[firsts]
        result = zip(rows.tolist(), self.of_rows(rows), ids, strict=True)
        return np.array(
            [row if known == id_ else self._row_of(id_) for row, known, id_ in result],
            dtype=np.int64,
        )

    def _row_of(self, id_: str) -> int:
        """Return the row of an id that is unknown, or not the first of its hash."""
        hash_ = np.uint64(_hash(_encoded(id_)))
        first, end = (int(np.searchsorted(self.hashes, hash_, side)) for side in ("left", "right"))
        same = self.rows[first:end]
        ids = self.of_rows(same)
        return int(same[ids.index(id_)]) if id_ in ids else -1


class SplicedIds:
    """Ids of a version that was not written whole; otherwise as `PassageIds`."""

    def __init__(self, splice: Splice, base: PassageIds, recent: PassageIds):
        self._splice, self._base, self._recent = splice, base, recent

    def __len__(self) -> int:
        return self._splice.count

    def of_rows(self, rows: Sequence[int] | IntArray) -> list[str]:
        places = self._splice.at(np.asarray(rows, dtype=np.int64))
        late = places >= self._splice.first
        base = iter(self._base.of_rows(places[~late]))
        recent = iter(self._recent.of_rows(places[late] - self._splice.first))
        return [next(recent if is_late else base) for is_late in late.tolist()]

    def rows_of(self, ids: Sequence[str]) -> IntArray:
        base, recent = self._base.rows_of(ids), self._recent.rows_of(ids)
        # the last place is that of what stands nowhere
        rows: IntArray = np.maximum(
            self._row_at[base], self._row_at[np.where(recent < 0, -1, self._splice.first + recent)]
        )
        return rows

    @cached_property
    def _row_at(self) -> IntArray:
        """Row that stands at each place of both files; -1 where none does, as at the last."""
        result = np.full(self._splice.first + len(self._recent) + 1, -1, dtype=np.int32)
        result[self._splice.every()] = np.arange(self._splice.count)
        return result


AnyIds = PassageIds | SplicedIds


def read_ids(folder: Path, order: Order | None) -> AnyIds:
    """Map the ids in `folder`, with the `order` of a version that was not written whole.

    Raises DamagedStore.
    """
    base = PassageIds.read(folder)
    return SplicedIds(order.splice, base, PassageIds.read(folder / RECENT)) if order else base


def _encoded(id_: str) -> bytes:
    return id_.encode("utf-8", "surrogatepass")  # whoever asks may ask for anything


def _hash(id_: bytes) -> int:
    return xxhash.xxh3_64_intdigest(id_)
