"""The words of every passage as integer arrays: what the ranking signals read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.integer]
FloatArray = NDArray[np.float64]


class Gathered(NamedTuple):
    """Values of several ragged rows, concatenated.

    `row[i]` says which of the asked rows value `i` belongs to (0 to m-1), `position[i]` where in
    that row it stands (from 0).
    """

    row: IntArray
    position: IntArray
    value: IntArray


@dataclass(frozen=True)
class Ragged:
    """Rows of different length in one flat array: row `i` is `flat[offsets[i]:offsets[i + 1]]`."""

    flat: IntArray
    offsets: IntArray

    @classmethod
    def of(cls, rows: list[IntArray]) -> "Ragged":
        """Rows of int32 values, concatenated."""
        lengths = np.fromiter((len(row) for row in rows), dtype=np.int64, count=len(rows))
        flat = np.concatenate(rows) if rows else np.empty(0, dtype=np.int32)
        return cls(flat.astype(np.int32, copy=False), np.concatenate(([0], np.cumsum(lengths))))

    def lengths(self, rows: IntArray) -> IntArray:
        """How many values each of `rows` holds."""
        return self.offsets[rows + 1] - self.offsets[rows]

    def take(self, rows: IntArray) -> Gathered:
        """The values of `rows`, in the order asked for."""
        lengths = self.lengths(rows)
        row = np.repeat(np.arange(len(rows)), lengths)
        ends = np.cumsum(lengths)
        position = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
        return Gathered(row, position, self.flat[np.repeat(self.offsets[rows], lengths) + position])


@dataclass(frozen=True)
class TokenTable:
    """Term ids of all passages of a collection, held in memory.

    `words[p]` are the stems of passage `p` in order; `parts[p]` the stems of the parts of its
    identifiers; `titles[d]` the stems of document `d`'s title; `values[v]` the stems of metadata
    value `v`, which belongs to a field of a document (`values_of[d]` lists a document's values).
    Frequencies are counted over all corpora together, so a score means the same in each of them.
    """

    vocabulary: Mapping[str, int]
    words: Ragged
    parts: Ragged
    titles: Ragged
    values: Ragged
    values_of: Ragged
    value_field: IntArray
    document_of: IntArray
    passage_frequency: IntArray

    @property
    def passages(self) -> int:
        """How many passages there are."""
        return len(self.document_of)

    def mean_length(self) -> float:
        """Mean number of words and identifier parts in a passage; 1 for an empty table."""
        total = len(self.words.flat) + len(self.parts.flat)
        return max(total / max(self.passages, 1), 1.0)
