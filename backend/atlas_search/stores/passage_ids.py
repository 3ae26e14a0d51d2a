"""The ids of all passages: those of rows, and the rows of ids, mapped from disk.

Chroma gives ids, and everything else is asked by row. To read a million ids into a list and a
dictionary takes most of the time in which a collection is opened, and 200 bytes for each.
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
from atlas_search.stores.arrays import map_array
from atlas_search.stores.order import RECENT, Order
from atlas_search.stores.ragged import IntArray
from atlas_search.stores.spliced import Splice

_TEXTS, _ENDS, _HASHES, _ROWS = "texts.npy", "ends.npy", "hashes.npy", "rows.npy"


@dataclass(frozen=True)
class PassageIds:
    """The ids of n passages by row: id `i` is the UTF-8 of `texts[ends[i]:ends[i + 1]]`.

    `hashes` (n) are the XXH3 of 64 bits of all ids, ascending, `rows` (n) their rows.
    """

    texts: NDArray[np.uint8]
    ends: IntArray
    hashes: NDArray[np.uint64]
    rows: IntArray

    @classmethod
    def of(cls, ids: Iterable[str]) -> Self:
        """Those of some ids, in order of rows."""
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
        try:
            found = cls(*(map_array(folder / n) for n in (_TEXTS, _ENDS, _HASHES, _ROWS)))
        except (OSError, ValueError, EOFError) as error:
            raise DamagedStore(
                f"The ids in {folder} cannot be read ({error}). Run `atlas store repair`."
            ) from error
        if not len(found.ends) - 1 == len(found.hashes) == len(found.rows):
            raise DamagedStore(f"The files in {folder} disagree. Run `atlas store repair`.")
        return found

    def write(self, folder: Path) -> None:
        """Write them into a new folder."""
        folder.mkdir(parents=True)
        arrays = {_TEXTS: self.texts, _ENDS: self.ends, _HASHES: self.hashes, _ROWS: self.rows}
        for name, array in arrays.items():
            np.save(folder / name, array)

    def __len__(self) -> int:
        """How many passages there are."""
        return len(self.rows)

    def of_rows(self, rows: Sequence[int] | IntArray) -> list[str]:
        """The ids of some passages, in the order asked for."""
        at = np.asarray(rows, dtype=np.int64)
        text = self.texts.data
        pairs = zip(self.ends[at].tolist(), self.ends[at + 1].tolist(), strict=True)
        return [str(text[start:end], "utf-8") for start, end in pairs]

    def rows_of(self, ids: Sequence[str]) -> IntArray:
        """The rows of some ids, -1 for one that no passage has."""
        if not len(self):
            return np.full(len(ids), -1)
        hashes = np.array([_hash(_encoded(id_)) for id_ in ids], dtype=np.uint64)
        firsts = np.minimum(np.searchsorted(self.hashes, hashes), len(self) - 1)
        rows = self.rows[firsts]
        found = zip(rows.tolist(), self.of_rows(rows), ids, strict=True)
        return np.array(
            [row if known == id_ else self._row_of(id_) for row, known, id_ in found],
            dtype=np.int64,
        )

    def _row_of(self, id_: str) -> int:
        """The same of one id, which is unknown, or not the first of its hash."""
        hash_ = np.uint64(_hash(_encoded(id_)))
        first, end = (int(np.searchsorted(self.hashes, hash_, side)) for side in ("left", "right"))
        same = self.rows[first:end]
        known = self.of_rows(same)
        return int(same[known.index(id_)]) if id_ in known else -1


class SplicedIds:
    """Those of a version that was not written whole, as `PassageIds`."""

    def __init__(self, splice: Splice, base: PassageIds, recent: PassageIds):
        self._splice, self._base, self._recent = splice, base, recent

    def __len__(self) -> int:
        """See PassageIds."""
        return self._splice.count

    def of_rows(self, rows: Sequence[int] | IntArray) -> list[str]:
        """See PassageIds."""
        places = self._splice.at(np.asarray(rows, dtype=np.int64))
        late = places >= self._splice.first
        base = iter(self._base.of_rows(places[~late]))
        recent = iter(self._recent.of_rows(places[late] - self._splice.first))
        return [next(recent if is_late else base) for is_late in late.tolist()]

    def rows_of(self, ids: Sequence[str]) -> IntArray:
        """See PassageIds."""
        base, recent = self._base.rows_of(ids), self._recent.rows_of(ids)
        # the last place is that of what stands nowhere
        rows: IntArray = np.maximum(
            self._row_at[base],
            self._row_at[np.where(recent < 0, -1, self._splice.first + recent)],
        )
        return rows

    @cached_property
    def _row_at(self) -> IntArray:
        """The row that stands at each place of both files; -1 where none does, as at the last."""
        found = np.full(self._splice.first + len(self._recent) + 1, -1, dtype=np.int32)
        found[self._splice.every()] = np.arange(self._splice.count)
        return found


AnyIds = PassageIds | SplicedIds


def read_ids(folder: Path, order: Order | None) -> AnyIds:
    """Those in `folder`, of a version with an `order` if it was not written whole.

    Raises DamagedStore.
    """
    base = PassageIds.read(folder)
    if order is None:
        return base
    return SplicedIds(order.splice, base, PassageIds.read(folder / RECENT))


def _encoded(id_: str) -> bytes:
    return id_.encode("utf-8", "surrogatepass")  # whoever asks may ask for anything


def _hash(id_: bytes) -> int:
    return xxhash.xxh3_64_intdigest(id_)
