"""The words of every passage as integer arrays: what the ranking signals read."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.errors import DamagedStore
from atlas_search.stores.arrays import map_array
from atlas_search.stores.order import RECENT, Order
from atlas_search.stores.ragged import Gathered as Gathered
from atlas_search.stores.ragged import IntArray as IntArray
from atlas_search.stores.ragged import Ragged as Ragged
from atlas_search.stores.ragged import runs as runs
from atlas_search.stores.ragged import sorted_unique as sorted_unique

FloatArray = NDArray[np.float64]
VOCABULARY = "vocabulary.json"
BLOCK = 20_000  # passages whose words are counted at once


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
        if len(set(corpora)) == len(self.passages_of):
            return self._everywhere[ids]
        total = np.zeros(len(ids), dtype=np.int64)
        for corpus in corpora:
            known = self.terms_of.row(corpus)
            at = np.minimum(np.searchsorted(known, ids), len(known) - 1)
            if len(known):
                total += np.where(known[at] == ids, self.counts_of.row(corpus)[at], 0)
        return total

    def frequencies(self, corpora: Iterable[int]) -> IntArray:
        """In how many passages of `corpora` each term of the collection occurs, by id."""
        total = np.zeros_like(self.passage_frequency)
        for corpus in corpora:
            total[self.terms_of.row(corpus)] += self.counts_of.row(corpus)
        return total

    @cached_property
    def _everywhere(self) -> IntArray:
        """The frequencies in all corpora: most searches ask all of them."""
        return self.frequencies(range(len(self.passages_of)))

    @property
    def passages(self) -> int:
        """How many passages there are."""
        return len(self.document_of)

    def lengths(self, rows: IntArray) -> IntArray:
        """How many words and identifier parts passages have, with those of title and context."""
        return self._lengths[rows]

    @cached_property
    def _lengths(self) -> IntArray:
        """Those of all passages, counted once: a search asks for some, and for the mean of all."""
        found = np.zeros(self.passages, dtype=np.int32)
        for of, at in self.indexed(np.arange(self.passages)):
            found += of.lengths(at).astype(np.int32, copy=False)
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
        words = self.words.joined(rows)
        ends = np.cumsum(self.words.lengths(rows))
        # start from the rarest word: few places are left to compare
        anchor = int(np.argmin(self.passage_frequency[sequence]))
        starts = np.flatnonzero(words == sequence[anchor]) - anchor
        starts = starts[(starts >= 0) & (starts + len(sequence) <= len(words))]
        for offset, term in enumerate(sequence):
            starts = starts[words[starts + offset] == term]
        # whose they are is worked out for these places only
        first = np.searchsorted(ends, starts, side="right")
        whole = starts + len(sequence) <= ends[first]
        return rows[sorted_unique(first[whole])]

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
                field.name: Ragged.between(
                    array(f"{field.name}.flat"), array(f"{field.name}.offsets")
                )
                if field.type is Ragged
                else array(field.name)
                for field in fields(cls)[1:]
            }
        except (OSError, ValueError, EOFError) as error:
            raise DamagedStore(
                f"The words in {folder} cannot be read ({error}). Run `atlas store repair`."
            ) from error
        return cls(vocabulary={term: id_ for id_, term in enumerate(terms)}, **arrays)

    @classmethod
    def of_version(cls, folder: Path, order: Order | None, passages_of: Sequence[int]) -> Self:
        """The table in `folder` of a version with an `order`, if it was not written whole.

        `passages_of` are the passages of each corpus. Raises DamagedStore.
        """
        base = cls.read(folder)
        if order is None:
            return base
        return base.spliced(cls.read(folder / RECENT), order, passages_of)

    def spliced(self, recent: Self, order: Order, passages_of: Sequence[int]) -> Self:
        """This table as the base of a version, with what is `recent`, in a common order."""
        rows, documents = order.splice.every(), order.document_splice.every()
        number = np.full(self.documents + recent.documents, -1, dtype=np.int32)
        number[documents] = np.arange(len(documents))
        document_of = np.concatenate([self.document_of, recent.document_of + self.documents])
        terms = dict(self.vocabulary)
        term = np.array(
            [terms.setdefault(t, len(terms)) for t in recent.vocabulary], dtype=np.int32
        )

        def both(name: str) -> Ragged:
            own: Ragged = getattr(self, name)
            other: Ragged = getattr(recent, name)
            return own.followed_by(other, term[other.flat])

        values = both("values")
        values_of = self.values_of.followed_by(
            recent.values_of, recent.values_of.flat + len(self.values)
        )
        frequency = np.zeros(len(terms), dtype=np.int32)
        terms_of, counts_of = [], []
        for counts in _counts(self, recent, rows, passages_of, term, len(terms)):
            frequency += counts
            terms_of.append(np.flatnonzero(counts))
            counts_of.append(counts[terms_of[-1]])
        found = type(self)(
            vocabulary=terms,
            words=both("words").at(rows),
            parts=both("parts").at(rows),
            titles=both("titles").at(documents),
            contexts=both("contexts"),
            context_of=np.concatenate([self.context_of, recent.context_of + len(self.contexts)])[
                rows
            ],
            values=values,
            values_of=values_of.at(documents),
            value_field=np.concatenate([self.value_field, recent.value_field]),
            document_of=number[document_of[rows]],
            passage_frequency=frequency,
            terms_of=Ragged.of(terms_of),
            counts_of=Ragged.of(counts_of),
            passages_of=np.array(passages_of, dtype=np.int32),
        )
        return found.without(_held_by_none(found))

    def without(self, gone: IntArray) -> Self:
        """The table without some terms that nothing holds."""
        if not len(gone):
            return self
        names = list(self.vocabulary)
        terms = dict(self.vocabulary)
        for term in gone.tolist():
            del terms[names[term]]
        return replace(self, vocabulary=terms)

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return len(self.titles)


def passage_frequency(table: TokenTable, rows: IntArray, terms: int) -> IntArray:
    """In how many of the passages `rows` each of so many terms occurs, titles and contexts too."""
    frequency = np.zeros(terms, dtype=np.int32)
    for start in range(0, len(rows), BLOCK):
        taken = [of.take(at) for of, at in table.indexed(rows[start : start + BLOCK])]
        pairs = sorted_unique(np.concatenate([of.row * terms + of.value for of in taken]))
        frequency += np.bincount(pairs % terms, minlength=terms).astype(np.int32)
    return frequency


def _counts(
    base: TokenTable,
    recent: TokenTable,
    rows: IntArray,
    passages_of: Sequence[int],
    term: IntArray,
    terms: int,
) -> Iterator[IntArray]:
    """For each corpus: in how many of its passages each term occurs.

    `rows` say where passages stand, `term` gives the id of each term of `recent`.
    """
    owner = np.full(base.passages + recent.passages, -1)
    owner[rows] = np.repeat(np.arange(len(passages_of)), passages_of)
    ends = np.cumsum(np.concatenate([[0], base.passages_of, recent.passages_of]))
    own = [owner[start:end] for start, end in pairwise(ends.tolist())]
    # none is left of a corpus that is -1
    now = np.array([of.max(initial=-1) for of in own])
    for corpus in range(len(passages_of)):
        counts = np.zeros(terms, dtype=np.int32)
        for number in np.flatnonzero(now == corpus).tolist():
            if number >= len(base.passages_of):
                of = number - len(base.passages_of)
                counts[term[recent.terms_of.row(of)]] += recent.counts_of.row(of)
                continue
            counts[base.terms_of.row(number)] += base.counts_of.row(number)
            left_out = ends[number] + np.flatnonzero(own[number] < 0)
            counts -= passage_frequency(base, left_out, terms)
        yield counts


def _held_by_none(table: TokenTable) -> IntArray:
    """The terms of a table that occur nowhere in it."""
    held = table.passage_frequency > 0
    documents = np.arange(table.documents)
    held[table.titles.take(documents).value] = True  # a document may have no passage
    values = table.values_of.take(documents).value
    held[table.values.take(values).value] = True
    return np.flatnonzero(~held)
