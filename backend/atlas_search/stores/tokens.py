"""The words of every passage as integer arrays: what the ranking signals read."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.errors import DamagedStore
from atlas_search.stores.arrays import map_array

IntArray = NDArray[np.integer]
FloatArray = NDArray[np.float64]
VOCABULARY = "vocabulary.json"


def sorted_unique(values: IntArray) -> IntArray:
    """The distinct values, none negative, ascending.

    Sorting is some twenty times faster here than np.unique, which hashes since NumPy 2.3.
    """
    ordered = np.sort(values)
    distinct: IntArray = ordered[np.diff(ordered, prepend=-1) > 0]
    return distinct


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
    def of(cls, rows: Sequence["IntArray | Ragged"]) -> "Ragged":
        """Rows of int32 values, and those of others, one after the other."""
        lengths = [np.diff(row.offsets) if isinstance(row, Ragged) else [len(row)] for row in rows]
        flats = [row.flat if isinstance(row, Ragged) else row for row in rows]
        flat = np.concatenate(flats) if rows else np.empty(0, dtype=np.int32)
        ends = np.cumsum(np.concatenate([np.zeros(1, dtype=np.int64), *lengths]))
        return cls(flat.astype(np.int32, copy=False), ends)

    def part(self, first: int, end: int) -> "Ragged":
        """The rows from `first` to `end`, excluded."""
        offsets = self.offsets[first : end + 1]
        return Ragged(self.flat[offsets[0] : offsets[-1]], offsets - offsets[0])

    def row(self, index: int) -> IntArray:
        """One row."""
        return self.flat[self.offsets[index] : self.offsets[index + 1]]

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
    """Term ids of all passages of a collection, mapped from disk.

    `words[p]` are the stems of passage `p` in order; `parts[p]` the stems of the parts of its
    identifiers; `titles[d]` the stems of document `d`'s title; `contexts[c]` those of a section
    path and speaker, and `context_of[p]` says which is that of passage `p`; `values[v]` the stems
    of metadata value `v`, which belongs to a field of a document (`values_of[d]` lists a
    document's values).
    `terms_of[c]` are the ids of all terms of corpus `c`, ascending, and `counts_of[c]` in how many
    of its `passages_of[c]` passages each occurs, their titles and contexts included.
    """

    vocabulary: Mapping[str, int]
    words: Ragged
    parts: Ragged
    titles: Ragged
    contexts: Ragged
    context_of: IntArray
    values: Ragged
    values_of: Ragged
    value_field: IntArray
    document_of: IntArray
    passage_frequency: IntArray
    terms_of: Ragged
    counts_of: Ragged
    passages_of: IntArray

    def frequency(self, ids: IntArray, corpora: Sequence[int]) -> IntArray:
        """In how many passages of `corpora` each term occurs."""
        total = np.zeros(len(ids), dtype=np.int64)
        for corpus in corpora:
            known = self.terms_of.row(corpus)
            at = np.minimum(np.searchsorted(known, ids), len(known) - 1)
            if len(known):
                total += np.where(known[at] == ids, self.counts_of.row(corpus)[at], 0)
        return total

    @property
    def passages(self) -> int:
        """How many passages there are."""
        return len(self.document_of)

    def lengths(self, rows: IntArray) -> IntArray:
        """How many words and identifier parts passages have, with those of title and context."""
        found: IntArray = sum(
            (of.lengths(at) for of, at in self.indexed(rows)), np.zeros(len(rows), dtype=np.int64)
        )
        return found

    def indexed(self, rows: IntArray) -> tuple[tuple[Ragged, IntArray], ...]:
        """All that passages are found by: kinds of terms, and for each the rows that are theirs."""
        return (
            (self.titles, self.document_of[rows]),
            (self.words, rows),
            (self.parts, rows),
            (self.contexts, self.context_of[rows]),
        )

    def mean_length(self) -> float:
        """Mean of `lengths` over all passages; 1 for an empty table."""
        return max(float(self.lengths(np.arange(self.passages)).sum()) / max(self.passages, 1), 1.0)

    def holding(self, rows: IntArray, stems: Sequence[str]) -> IntArray:
        """Those of the passages `rows` in which `stems` stand one after the other."""
        sequence = [self.vocabulary.get(stem, -1) for stem in stems]
        if not sequence or min(sequence) < 0:
            return rows[:0]
        words = self.words.take(rows)
        # start from the rarest word: few places are left to compare
        anchor = int(np.argmin(self.passage_frequency[sequence]))
        starts = np.flatnonzero(words.value == sequence[anchor]) - anchor
        starts = starts[(starts >= 0) & (starts + len(sequence) <= len(words.value))]
        for offset, term in enumerate(sequence):
            starts = starts[words.value[starts + offset] == term]
        whole = words.row[starts] == words.row[starts + len(sequence) - 1]
        return rows[sorted_unique(words.row[starts[whole]])]

    def write(self, folder: Path) -> None:
        """Write every array into a new folder."""
        folder.mkdir(parents=True)
        (folder / VOCABULARY).write_text(
            json.dumps(list(self.vocabulary), ensure_ascii=False), encoding="utf-8"
        )
        for name, array in self._arrays().items():
            np.save(folder / f"{name}.npy", array)

    def _arrays(self) -> dict[str, IntArray]:
        arrays: dict[str, IntArray] = {}
        for field in fields(self)[1:]:
            value = getattr(self, field.name)
            if isinstance(value, Ragged):
                arrays[f"{field.name}.flat"] = value.flat
                arrays[f"{field.name}.offsets"] = value.offsets
            else:
                arrays[field.name] = value
        return arrays

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Map the arrays of `folder`. Raises DamagedStore if one is missing or unreadable."""

        def array(name: str) -> IntArray:
            return map_array(folder / f"{name}.npy")

        try:
            terms = json.loads((folder / VOCABULARY).read_text(encoding="utf-8"))
            arrays: dict[str, Any] = {
                field.name: Ragged(array(f"{field.name}.flat"), array(f"{field.name}.offsets"))
                if field.type is Ragged
                else array(field.name)
                for field in fields(cls)[1:]
            }
        except (OSError, ValueError, EOFError) as error:
            raise DamagedStore(
                f"The words in {folder} cannot be read ({error}). Run `atlas store repair`."
            ) from error
        return cls(vocabulary={term: id_ for id_, term in enumerate(terms)}, **arrays)
