"""The words of every passage as integer arrays: what the ranking signals read."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
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
BLOCK = 20_000  # passages whose words are counted at once


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
    def of(cls, rows: list[IntArray]) -> "Ragged":
        """Rows of int32 values, concatenated."""
        lengths = np.fromiter((len(row) for row in rows), dtype=np.int64, count=len(rows))
        flat = np.concatenate(rows) if rows else np.empty(0, dtype=np.int32)
        return cls(flat.astype(np.int32, copy=False), np.concatenate(([0], np.cumsum(lengths))))

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


class TokenWriter:
    """Collects the words of passages and documents in order and makes a table of them.

    Terms are numbered by first occurrence, whatever was read before: the same passages give the
    same table.
    """

    def __init__(self) -> None:
        self._vocabulary: dict[str, int] = {}
        self._rows: dict[str, list[IntArray]] = {
            n: [] for n in ("words", "parts", "titles", "contexts", "values")
        }
        self._contexts: dict[bytes, int] = {}
        self._context_of: list[int] = []
        self._value_counts: list[int] = []
        self._value_field: list[str] = []
        self._document_of: list[int] = []
        self._corpora: dict[str, int] = {}
        self._passages_of: list[int] = []

    def ids(self, terms: Iterable[str]) -> IntArray:
        """The ids of `terms`, new ones for terms not seen before."""
        known = self._vocabulary
        return np.array([known.setdefault(term, len(known)) for term in terms], dtype=np.int32)

    def translator(self, table: TokenTable) -> Callable[[IntArray], IntArray]:
        """What turns term ids of `table` into ids of this one."""
        terms = list(table.vocabulary)
        number = np.full(len(terms), -1, dtype=np.int32)

        def translate(ids: IntArray) -> IntArray:
            for id_ in ids[number[ids] < 0]:
                number[id_] = self._vocabulary.setdefault(terms[id_], len(self._vocabulary))
            return number[ids]

        return translate

    def document(self, corpus: str, title: IntArray, values: list[tuple[str, IntArray]]) -> None:
        """Add a document: the words of its title, and of its (field, value) pairs.

        The documents of a corpus follow each other.
        """
        if corpus not in self._corpora:
            self._corpora[corpus] = len(self._corpora)
            self._passages_of.append(0)
        self._rows["titles"].append(title)
        self._rows["values"] += [terms for _, terms in values]
        self._value_field += [field for field, _ in values]
        self._value_counts.append(len(values))

    def passage(self, words: IntArray, parts: IntArray, context: IntArray) -> None:
        """Add a passage of the document added last; many share a `context`, which is kept once."""
        number = self._contexts.setdefault(context.tobytes(), len(self._contexts))
        if number == len(self._rows["contexts"]):
            self._rows["contexts"].append(context)
        self._context_of.append(number)
        self._rows["words"].append(words)
        self._rows["parts"].append(parts)
        self._document_of.append(len(self._value_counts) - 1)
        self._passages_of[-1] += 1

    def table(self) -> TokenTable:
        """The table of all that was added."""
        ragged = {name: Ragged.of(rows) for name, rows in self._rows.items()}
        terms, number = self._renumber(list(ragged.values()))
        renumbered = {
            name: Ragged(number[rows.flat].astype(np.int32), rows.offsets)
            for name, rows in ragged.items()
        }
        document_of = np.array(self._document_of, dtype=np.int32)
        context_of = np.array(self._context_of, dtype=np.int32)
        every: IntArray = np.arange(len(document_of))
        owned: list[tuple[Ragged, IntArray]] = [
            (renumbered["words"], every),
            (renumbered["parts"], every),
            (renumbered["titles"], document_of),
            (renumbered["contexts"], context_of),
        ]
        counts = _passage_frequencies(owned, len(terms), self._passages_of)
        terms_of: list[IntArray] = [np.flatnonzero(of) for of in counts]
        names = {name: index for index, name in enumerate(sorted(set(self._value_field)))}
        return TokenTable(
            vocabulary={term: id_ for id_, term in enumerate(terms)},
            words=renumbered["words"],
            parts=renumbered["parts"],
            titles=renumbered["titles"],
            contexts=renumbered["contexts"],
            context_of=context_of,
            values=renumbered["values"],
            values_of=Ragged(
                np.arange(len(self._value_field), dtype=np.int32),
                np.concatenate(([0], np.cumsum(self._value_counts))).astype(np.int64),
            ),
            value_field=np.array([names[field] for field in self._value_field], dtype=np.int16),
            document_of=document_of,
            passage_frequency=np.sum([np.zeros(len(terms)), *counts], axis=0).astype(np.int32),
            terms_of=Ragged.of(terms_of),
            counts_of=Ragged.of([of[ids] for of, ids in zip(counts, terms_of, strict=True)]),
            passages_of=np.array(self._passages_of, dtype=np.int32),
        )

    def _renumber(self, used: list[Ragged]) -> tuple[list[str], IntArray]:
        """The terms that occur, in order of first occurrence, and the new id of each old one."""
        every = np.concatenate([rows.flat for rows in used])
        ids, first = np.unique(every, return_index=True)
        ids = ids[np.argsort(first)]
        number = np.zeros(len(self._vocabulary), dtype=np.int32)
        number[ids] = np.arange(len(ids))
        terms = list(self._vocabulary)
        return [terms[id_] for id_ in ids], number


def _passage_frequencies(
    owned: Sequence[tuple[Ragged, IntArray]], terms: int, passages_of: Sequence[int]
) -> list[IntArray]:
    """For each corpus: in how many of its passages each term occurs, in whatever is `owned`.

    Each is a kind of terms, and which row of it belongs to every passage.
    """
    found: list[IntArray] = []
    ends = np.cumsum(passages_of)
    for end, count in zip(ends.tolist(), passages_of, strict=True):
        frequency = np.zeros(terms, dtype=np.int32)
        for start in range(end - count, end, BLOCK):
            block = np.arange(start, min(start + BLOCK, end))
            taken = [of.take(at[block]) for of, at in owned]
            pairs = sorted_unique(np.concatenate([of.row * terms + of.value for of in taken]))
            frequency += np.bincount(pairs % terms, minlength=terms).astype(np.int32)
        found.append(frequency)
    return found
