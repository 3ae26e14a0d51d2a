"""Arrays mapped from the files of a store."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.errors import DamagedStore

# NumPy parses a file's header with `ast`, which on Python 3.11 and 3.12 counts its depth for all
# threads together: two files opened at once may end in a SystemError (python/cpython#106905).
_ONE_HEADER_AT_A_TIME = threading.Lock()


def map_array(path: Path) -> NDArray[Any]:
    """Map the array of a `.npy` file, read only.

    It is a plain view of the mapping: every slice of an `np.memmap` is several times slower.
    Raises OSError, ValueError or EOFError if the file is missing or no array.
    """
    with _ONE_HEADER_AT_A_TIME:
        return np.asarray(np.load(path, mmap_mode="r"))


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Turn the errors of files that are missing or unreadable into DamagedStore."""
    try:
        yield
    except (OSError, ValueError, EOFError) as error:
        raise DamagedStore(f"{what} cannot be read ({error}). Run `atlas store repair`.") from error


IntArray = NDArray[np.integer]
FloatArray = NDArray[np.float64]


def sorted_unique(values: IntArray) -> IntArray:
    """Return the distinct values, ascending.

    Sorting is some twenty times faster here than np.unique, which hashes since NumPy 2.3.
    """
    ordered = np.sort(values)
    distinct: IntArray = ordered[_begins(ordered)]
    return distinct


def runs(values: IntArray) -> tuple[IntArray, IntArray]:
    """Return the value of each run of equal ones, and the run of each value."""
    begins = _begins(values)
    return values[begins], np.cumsum(begins) - 1


def _begins(values: IntArray) -> NDArray[np.bool_]:
    """Return whether each value differs from the one before."""
    begins = np.ones(len(values), dtype=bool)
    begins[1:] = values[1:] != values[:-1]
    return begins


class Gathered(NamedTuple):
    """Values of several ragged rows, concatenated.

    `row[i]` says which of the asked rows value `i` belongs to (0 to m-1).
    """

    row: IntArray
    value: IntArray


AT_ONCE = 65_536  # values: what is looked up of them stays in the cache of the processor
LONG_RUN = 32  # values: a run of more is copied faster by itself than value by value
_NOTHING = np.empty(0, dtype=np.int32)


@dataclass(frozen=True)
class Ragged:
    """Rows of different length: row `i` are the values from `starts[i]` to `ends[i]`, excluded.

    The values are those of `flat`, followed by those of `recent`; no row has some of both.
    """

    flat: IntArray
    starts: IntArray
    ends: IntArray
    recent: IntArray = field(default_factory=lambda: _NOTHING)

    @classmethod
    def between(cls, flat: IntArray, offsets: IntArray) -> "Ragged":
        """Return rows that follow each other: row `i` is `flat[offsets[i]:offsets[i + 1]]`."""
        return cls(flat, offsets[:-1], offsets[1:])

    @classmethod
    def of(cls, rows: Sequence["IntArray | Ragged"]) -> "Ragged":
        """Return rows of int32 values, also those of other `Ragged` ones, one after the other."""
        lengths = [
            row.ends - row.starts if isinstance(row, Ragged) else np.array([len(row)])
            for row in rows
        ]
        flats = [row.flat if isinstance(row, Ragged) else row for row in rows]
        flat = np.concatenate(flats) if rows else np.empty(0, dtype=np.int32)
        ends = np.cumsum(np.concatenate([np.zeros(1, dtype=np.int64), *lengths]))
        return cls.between(flat.astype(np.int32, copy=False), ends)

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def offsets(self) -> IntArray:
        """Starts of rows that follow each other, and the end of the last one."""
        return np.concatenate([np.zeros(1, dtype=np.int64), self.ends])

    @property
    def sizes(self) -> IntArray:
        return self.ends - self.starts

    def part(self, first: int, end: int) -> "Ragged":
        """Return the rows from `first` to `end`, excluded, as rows that follow each other."""
        rows = np.arange(first, min(end, len(self)))
        return Ragged.between(
            self.joined(rows), np.concatenate([[0], np.cumsum(self.lengths(rows))])
        )

    def joined(self, rows: IntArray) -> IntArray:
        """Return the values of `rows`, one after the other in their order."""
        return _concatenate(self._pieces(rows))

    def blocks(self, rows: IntArray) -> Iterator[IntArray]:
        """Return what `joined` gives in pieces of AT_ONCE values; the last has fewer.

        Whoever reads them once takes a quarter less time than with all of them in a new array.
        """
        pieces: list[IntArray] = []
        room = AT_ONCE
        for piece in self._pieces(rows):
            while len(piece) >= room:
                yield _concatenate([*pieces, piece[:room]])
                piece, pieces, room = piece[room:], [], AT_ONCE
            pieces.append(piece)
            room -= len(piece)
        if room < AT_ONCE:
            yield _concatenate(pieces)

    def _pieces(self, rows: IntArray) -> list[IntArray]:
        starts, ends = self.starts[rows], self.ends[rows]
        lengths = ends - starts
        total = int(lengths.sum())
        late = starts >= len(self.flat)
        # rows that follow each other are one run
        breaks = np.flatnonzero((starts[1:] != ends[:-1]) | (late[1:] != late[:-1]))
        if total < LONG_RUN * (len(breaks) + 1):
            before = np.cumsum(lengths) - lengths
            return [self.values(np.repeat(starts - before, lengths) + np.arange(total))]
        begin = starts[np.concatenate(([0], breaks + 1))].tolist()
        stop = ends[np.concatenate((breaks, [len(rows) - 1]))].tolist()
        if len(self.recent):
            return [self._slice(a, b) for a, b in zip(begin, stop, strict=True)]
        flat = self.flat
        return [flat[a:b] for a, b in zip(begin, stop, strict=True)]

    def row(self, index: int) -> IntArray:
        return self._slice(int(self.starts[index]), int(self.ends[index]))

    def _slice(self, start: int, end: int) -> IntArray:
        before = len(self.flat)
        if start >= before and len(self.recent):
            return self.recent[start - before : end - before]
        return self.flat[start:end]

    def lengths(self, rows: IntArray) -> IntArray:
        return self.ends[rows] - self.starts[rows]

    def values(self, at: IntArray) -> IntArray:
        """Return the values `at` some places."""
        before = len(self.flat)
        if not len(self.recent):
            return self.flat[at]
        if not before:
            return self.recent[at]
        result: IntArray = self.flat.take(at, mode="clip")
        late = np.flatnonzero(at >= before)
        result[late] = self.recent[at[late] - before]
        return result

    def take(self, rows: IntArray) -> Gathered:
        """Return the values of `rows` with the row of each."""
        return Gathered(np.repeat(np.arange(len(rows)), self.lengths(rows)), self.joined(rows))

    def followed_by(self, recent: "Ragged", values: IntArray) -> "Ragged":
        """Join these rows and those of another, with `values` in the place of its own."""
        moved = len(self.flat)
        return Ragged(
            self.flat,
            np.concatenate([self.starts, recent.starts + moved]),
            np.concatenate([self.ends, recent.ends + moved]),
            values.astype(self.flat.dtype, copy=False),
        )

    def at(self, rows: IntArray) -> "Ragged":
        return Ragged(self.flat, self.starts[rows], self.ends[rows], self.recent)


def _concatenate(pieces: Sequence[IntArray]) -> IntArray:
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


@dataclass(frozen=True)
class Splice:
    """Places of `count` items if the first file is followed by the second.

    Items that follow each other there are a run: run `r` begins with item `starts[r]`, which
    stands at `origins[r]`. Places from `first` on are in the second file.
    """

    starts: IntArray
    origins: IntArray
    count: int
    first: int

    @classmethod
    def of(cls, at: IntArray, first: int) -> "Splice":
        """Return the runs of items that stand `at` these places."""
        begins = np.ones(len(at), dtype=bool)
        # a run stays within a file
        begins[1:] = (np.diff(at) != 1) | (at[1:] == first)
        starts = np.flatnonzero(begins)
        return cls(starts, at[starts], len(at), first)

    def within(self, ends: IntArray, first_ends: IntArray, second_ends: IntArray) -> "Splice":
        """Return the splice of the parts of the items, such as the words of documents.

        Item `i` has the parts `ends[i]` to `ends[i + 1]`, in each file those that its own ends say.
        """
        late = self.origins >= self.first
        at = np.where(late, self.origins - self.first, self.origins)
        parts = int(first_ends[-1])
        origins = np.where(
            late, parts + second_ends[np.where(late, at, 0)], first_ends[np.where(late, 0, at)]
        )
        starts = ends[self.starts]
        is_kept = np.diff(starts, append=ends[-1]) > 0  # documents may have no words
        return Splice(starts[is_kept], origins[is_kept], int(ends[-1]), parts)

    def at(self, items: IntArray) -> IntArray:
        run = np.searchsorted(self.starts, items, side="right") - 1
        result: IntArray = items + (self.origins - self.starts)[run]
        return result

    def every(self) -> IntArray:
        """Return the places of all items, in order."""
        return np.arange(self.count) + np.repeat(self.origins - self.starts, self._lengths)

    def items_at(self, places: IntArray) -> tuple[IntArray, NDArray[np.bool_]]:
        """Return the items at `places`, and which places have one."""
        if not len(self.origins):
            return places[:0], np.zeros(len(places), dtype=bool)
        order = np.argsort(self.origins, kind="stable")
        origins, starts = self.origins[order], self.starts[order]
        run = np.searchsorted(origins, places, side="right") - 1
        beyond = places - origins[run]
        stands = (run >= 0) & (beyond < self._lengths[order][run])
        return (starts[run] + beyond)[stands], stands

    def pieces(self, start: int, stop: int) -> Iterator[slice]:
        """Return the places of the items from `start` to `stop`, excluded, run by run."""
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
        return (self._splice.count, *self._first.shape[1:])

    def __len__(self) -> int:
        return self._splice.count

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Copy all of them."""
        every: NDArray[Any] = self[:]
        return every.astype(dtype or every.dtype, copy=False)

    def __getitem__(self, index: Any) -> Any:
        """Return one item, or the items of a slice, of a mask or of an array of numbers."""
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            assert step == 1
            pieces = [self._piece(piece) for piece in self._splice.pieces(start, stop)]
            return pieces[0] if len(pieces) == 1 else np.concatenate([self._first[:0], *pieces])
        if isinstance(index, (int, np.integer)):
            return self.at(self._splice.at(np.array([index])))[0]
        places = np.asarray(index)
        if places.dtype == bool:
            return self._masked(places)
        return self.at(self._splice.at(places))

    def at(self, places: IntArray) -> NDArray[Any]:
        """Return the values at places of both files, one after the other."""
        first = len(self._first)
        if not first:
            return self._second[places]
        result = self._numbered(self._first.take(places, axis=0, mode="clip"))
        late = np.flatnonzero(places >= first)
        if len(late):
            result = result.astype(np.result_type(result, self._second), copy=False)
            result[late] = self._second[places[late] - first]
        return result

    def _masked(self, mask: NDArray[np.bool_]) -> NDArray[Any]:
        result, start = [self._first[:0]], 0
        for piece in self._splice.pieces(0, len(self)):
            length = piece.stop - piece.start
            result.append(self._piece(piece)[mask[start : start + length]])
            start += length
        return np.concatenate(result)

    def _piece(self, piece: slice) -> NDArray[Any]:
        first = self._splice.first
        if piece.start >= first:
            return self._second[piece.start - first : piece.stop - first]
        return self._numbered(self._first[piece])

    def _numbered(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self._numbers is None else self._numbers[values]
