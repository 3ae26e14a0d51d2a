"""Rows of different length in flat arrays."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.integer]


def sorted_unique(values: IntArray) -> IntArray:
    """The distinct values, ascending.

    Sorting is some twenty times faster here than np.unique, which hashes since NumPy 2.3.
    """
    ordered = np.sort(values)
    distinct: IntArray = ordered[_begins(ordered)]
    return distinct


def runs(values: IntArray) -> tuple[IntArray, IntArray]:
    """The value of each run of equal ones, and of which run each value is."""
    begins = _begins(values)
    return values[begins], np.cumsum(begins) - 1


def _begins(values: IntArray) -> NDArray[np.bool_]:
    """Whether each value is another than the one before."""
    begins = np.ones(len(values), dtype=bool)
    begins[1:] = values[1:] != values[:-1]
    return begins


class Gathered(NamedTuple):
    """Values of several ragged rows, concatenated.

    `row[i]` says which of the asked rows value `i` belongs to (0 to m-1), `position[i]` where in
    that row it stands (from 0).
    """

    row: IntArray
    position: IntArray
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
        """Rows that follow each other: row `i` is `flat[offsets[i]:offsets[i + 1]]`."""
        return cls(flat, offsets[:-1], offsets[1:])

    @classmethod
    def of(cls, rows: Sequence["IntArray | Ragged"]) -> "Ragged":
        """Rows of int32 values, and those of others that follow each other, one after the other."""
        lengths = [
            row.ends - row.starts if isinstance(row, Ragged) else np.array([len(row)])
            for row in rows
        ]
        flats = [row.flat if isinstance(row, Ragged) else row for row in rows]
        flat = np.concatenate(flats) if rows else np.empty(0, dtype=np.int32)
        ends = np.cumsum(np.concatenate([np.zeros(1, dtype=np.int64), *lengths]))
        return cls.between(flat.astype(np.int32, copy=False), ends)

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.starts)

    @property
    def offsets(self) -> IntArray:
        """Where rows begin that follow each other, and where the last one ends."""
        return np.concatenate([np.zeros(1, dtype=np.int64), self.ends])

    @property
    def sizes(self) -> IntArray:
        """How many values every row holds."""
        return self.ends - self.starts

    def part(self, first: int, end: int) -> "Ragged":
        """The rows from `first` to `end`, excluded, as rows that follow each other."""
        rows = np.arange(first, min(end, len(self)))
        return Ragged.between(
            self.joined(rows), np.concatenate([[0], np.cumsum(self.lengths(rows))])
        )

    def joined(self, rows: IntArray) -> IntArray:
        """The values of `rows`, one after the other in the order asked for."""
        return _concatenate(self._pieces(rows))

    def blocks(self, rows: IntArray) -> Iterator[IntArray]:
        """What `joined` gives, AT_ONCE values at a time, in the last fewer.

        Whoever reads them once takes a quarter less time than with all of them in a new array.
        """
        held: list[IntArray] = []
        room = AT_ONCE
        for piece in self._pieces(rows):
            while len(piece) >= room:
                yield _concatenate([*held, piece[:room]])
                piece, held, room = piece[room:], [], AT_ONCE
            held.append(piece)
            room -= len(piece)
        if room < AT_ONCE:
            yield _concatenate(held)

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
        """One row."""
        return self._slice(int(self.starts[index]), int(self.ends[index]))

    def _slice(self, start: int, end: int) -> IntArray:
        before = len(self.flat)
        if start >= before and len(self.recent):
            return self.recent[start - before : end - before]
        return self.flat[start:end]

    def lengths(self, rows: IntArray) -> IntArray:
        """How many values each of `rows` holds."""
        return self.ends[rows] - self.starts[rows]

    def values(self, at: IntArray) -> IntArray:
        """The values `at` these places."""
        before = len(self.flat)
        if not len(self.recent):
            return self.flat[at]
        if not before:
            return self.recent[at]
        found: IntArray = self.flat.take(at, mode="clip")
        late = np.flatnonzero(at >= before)
        found[late] = self.recent[at[late] - before]
        return found

    def take(self, rows: IntArray) -> Gathered:
        """The values of `rows`, in the order asked for."""
        lengths = self.lengths(rows)
        row = np.repeat(np.arange(len(rows)), lengths)
        ends = np.cumsum(lengths)
        position = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
        return Gathered(row, position, self.joined(rows))

    def followed_by(self, recent: "Ragged", values: IntArray) -> "Ragged":
        """These rows and then those of another, with these `values` in the place of its own."""
        moved = len(self.flat)
        return Ragged(
            self.flat,
            np.concatenate([self.starts, recent.starts + moved]),
            np.concatenate([self.ends, recent.ends + moved]),
            values.astype(self.flat.dtype, copy=False),
        )

    def at(self, rows: IntArray) -> "Ragged":
        """Some of the rows, in this order."""
        return Ragged(self.flat, self.starts[rows], self.ends[rows], self.recent)


def _concatenate(pieces: Sequence[IntArray]) -> IntArray:
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
