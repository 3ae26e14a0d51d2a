"""Arrays of two files read as one: what stays of the first, and the second, in a common order."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atlas_search.stores.ragged import IntArray


@dataclass(frozen=True)
class Splice:
    """Where each of `count` items stands if the first file is followed by the second.

    Items that follow each other there are a run: run `r` begins with item `starts[r]`, which
    stands at `origins[r]`. Places from `first` on are in the second file.
    """

    starts: IntArray
    origins: IntArray
    count: int
    first: int

    @classmethod
    def of(cls, at: IntArray, first: int) -> "Splice":
        """The runs of items that stand `at` these places."""
        begins = np.ones(len(at), dtype=bool)
        # a run stays within a file
        begins[1:] = (np.diff(at) != 1) | (at[1:] == first)
        starts = np.flatnonzero(begins)
        return cls(starts, at[starts], len(at), first)

    def within(self, ends: IntArray, first_ends: IntArray, second_ends: IntArray) -> "Splice":
        """That of the parts of the items, such as the words of documents.

        Item `i` has the parts `ends[i]` to `ends[i + 1]`, in each file those that its own ends say.
        """
        late = self.origins >= self.first
        at = np.where(late, self.origins - self.first, self.origins)
        parts = int(first_ends[-1])
        origins = np.where(
            late,
            parts + second_ends[np.where(late, at, 0)],
            first_ends[np.where(late, 0, at)],
        )
        starts = ends[self.starts]
        kept = np.diff(starts, append=ends[-1]) > 0  # documents may have no words
        return Splice(starts[kept], origins[kept], int(ends[-1]), parts)

    def at(self, items: IntArray) -> IntArray:
        """Where items stand."""
        run = np.searchsorted(self.starts, items, side="right") - 1
        found: IntArray = items + (self.origins - self.starts)[run]
        return found

    def every(self) -> IntArray:
        """Where all items stand, in order."""
        return np.arange(self.count) + np.repeat(self.origins - self.starts, self._lengths)

    def items_at(self, places: IntArray) -> tuple[IntArray, NDArray[np.bool_]]:
        """The items that stand at `places`, and at which of them one stands: of those alone."""
        if not len(self.origins):
            return places[:0], np.zeros(len(places), dtype=bool)
        order = np.argsort(self.origins, kind="stable")
        origins, starts = self.origins[order], self.starts[order]
        run = np.searchsorted(origins, places, side="right") - 1
        beyond = places - origins[run]
        stands = (run >= 0) & (beyond < self._lengths[order][run])
        return (starts[run] + beyond)[stands], stands

    def pieces(self, start: int, stop: int) -> Iterator[slice]:
        """The places of the items from `start` to `stop`, excluded, run by run."""
        if start >= stop:
            return
        first, last = np.searchsorted(self.starts, [start, stop - 1], side="right") - 1
        for run in range(int(first), int(last) + 1):
            begins = max(int(self.starts[run]), start)
            ends = min(int(self.starts[run] + self._lengths[run]), stop)
            moved = int(self.origins[run] - self.starts[run])
            yield slice(begins + moved, ends + moved)

    @property
    def _lengths(self) -> IntArray:
        return np.diff(self.starts, append=self.count)


class Spliced:
    """The items of two arrays in the order of a splice.

    `numbers`, if given, are put in the place of the values of the first array.
    """

    def __init__(
        self,
        splice: Splice,
        first: NDArray[Any],
        second: NDArray[Any],
        numbers: IntArray | None = None,
    ):
        self._splice, self._first, self._second = splice, first, second
        self._numbers = numbers

    @property
    def shape(self) -> tuple[int, ...]:
        """As of an array."""
        return (self._splice.count, *self._first.shape[1:])

    def __len__(self) -> int:
        """How many items there are."""
        return self._splice.count

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """All of them: a copy."""
        every: NDArray[Any] = self[:]
        return every.astype(dtype or every.dtype, copy=False)

    def __getitem__(self, index: Any) -> Any:
        """One item, those of a slice, of a mask, or of an array of numbers."""
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            assert step == 1
            pieces = [self._piece(piece) for piece in self._splice.pieces(start, stop)]
            return pieces[0] if len(pieces) == 1 else np.concatenate([self._first[:0], *pieces])
        if isinstance(index, (int, np.integer)):
            return self.at(self._splice.at(np.array([index])))[0]
        given = np.asarray(index)
        if given.dtype == bool:
            return self._masked(given)
        return self.at(self._splice.at(given))

    def at(self, places: IntArray) -> NDArray[Any]:
        """The values at places of both files, one after the other."""
        first = len(self._first)
        if not first:
            return self._second[places]
        found = self._numbered(self._first.take(places, axis=0, mode="clip"))
        late = np.flatnonzero(places >= first)
        if len(late):
            found = found.astype(np.result_type(found, self._second), copy=False)
            found[late] = self._second[places[late] - first]
        return found

    def _masked(self, mask: NDArray[np.bool_]) -> NDArray[Any]:
        found, start = [self._first[:0]], 0
        for piece in self._splice.pieces(0, len(self)):
            length = piece.stop - piece.start
            found.append(self._piece(piece)[mask[start : start + length]])
            start += length
        return np.concatenate(found)

    def _piece(self, piece: slice) -> NDArray[Any]:
        first = self._splice.first
        if piece.start >= first:
            return self._second[piece.start - first : piece.stop - first]
        return self._numbered(self._first[piece])

    def _numbered(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self._numbers is None else self._numbers[values]
