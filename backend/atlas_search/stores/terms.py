"""The words of every passage as integer arrays: what the ranking signals read."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np

from atlas_search.stores.arrays import FloatArray as FloatArray
from atlas_search.stores.arrays import IntArray, Ragged, map_array, reading, sorted_unique
from atlas_search.stores.order import RECENT, Order

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
        """Return in how many passages of `corpora` each term occurs."""
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
        """Return in how many passages of `corpora` each term of the collection occurs, by id."""
        total = np.zeros_like(self.passage_frequency)
        for corpus in corpora:
            total[self.terms_of.row(corpus)] += self.counts_of.row(corpus)
        return total

    @cached_property
    def _everywhere(self) -> IntArray:
        """Frequencies in all corpora: most searches ask all of them."""
        return self.frequencies(range(len(self.passages_of)))

    @property
    def passages(self) -> int:
        return len(self.document_of)

    def lengths(self, rows: IntArray) -> IntArray:
        """Return the number of words and identifier parts of passages, with title and context."""
        return self._lengths[rows]

    @cached_property
    def _lengths(self) -> IntArray:
        """Lengths of all passages, counted once: a search asks for some, and for the mean of
        all."""
        result = np.zeros(self.passages, dtype=np.int32)
        for of, at in self.indexed(np.arange(self.passages)):
            result += of.lengths(at).astype(np.int32, copy=False)
        return result

    def indexed(self, rows: IntArray) -> tuple[tuple[Ragged, IntArray], ...]:
        """Return the kinds of terms that passages are found by, and for each the rows in it."""
        return (
            (self.titles, self.document_of[rows]),
            (self.words, rows),
            (self.parts, rows),
            (self.contexts, self.context_of[rows]),
        )

    def mean_length(self) -> float:
        """Return the mean of `lengths` over all passages; 1 for an empty table."""
        return max(float(self.lengths(np.arange(self.passages)).sum()) / max(self.passages, 1), 1.0)

    def holding(self, rows: IntArray, stems: Sequence[str]) -> IntArray:
        """Return the passages of `rows` in which `stems` stand one after the other."""
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

        with reading(f"The words in {folder}"):
            terms = json.loads((folder / VOCABULARY).read_text(encoding="utf-8"))
            arrays: dict[str, Any] = {
                field.name: Ragged.between(
                    array(f"{field.name}.flat"), array(f"{field.name}.offsets")
                )
                if field.type is Ragged
                else array(field.name)
                for field in fields(cls)[1:]
            }
        return cls(vocabulary={term: id_ for id_, term in enumerate(terms)}, **arrays)

    @classmethod
    def of_version(cls, folder: Path, order: Order | None, passages_of: Sequence[int]) -> Self:
        """Map the table in `folder` of a version, with its `order` if it was not written whole.

        `passages_of` are the passages of each corpus. Raises DamagedStore.
        """
        base = cls.read(folder)
        return base.spliced(cls.read(folder / RECENT), order, passages_of) if order else base

    def spliced(self, recent: Self, order: Order, passages_of: Sequence[int]) -> Self:
        """Return this table as the base of a version, with what is `recent`, in a common order."""
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
        result = type(self)(
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
        return result.without(_held_by_none(result))

    def without(self, gone: IntArray) -> Self:
        """Return the table without some terms that nothing holds."""
        if not len(gone):
            return self
        names = list(self.vocabulary)
        terms = dict(self.vocabulary)
        for term in gone.tolist():
            del terms[names[term]]
        return replace(self, vocabulary=terms)

    @property
    def documents(self) -> int:
        return len(self.titles)


def passage_frequency(table: TokenTable, rows: IntArray, terms: int) -> IntArray:
    """Return in how many of the passages `rows` each of so many terms occurs, titles and
    contexts too."""
    frequency = np.zeros(terms, dtype=np.int32)
    for start in range(0, len(rows), BLOCK):
        columns = [of.take(at) for of, at in table.indexed(rows[start : start + BLOCK])]
        pairs = sorted_unique(np.concatenate([of.row * terms + of.value for of in columns]))
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
    """Return for each corpus in how many of its passages each term occurs.

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
    """Return the terms of a table that occur nowhere in it."""
    occurs = table.passage_frequency > 0
    documents = np.arange(table.documents)
    occurs[table.titles.take(documents).value] = True  # a document may have no passage
    values = table.values_of.take(documents).value
    occurs[table.values.take(values).value] = True
    return np.flatnonzero(~occurs)


K1 = 0.9
B = 0.75


def saturation(counts: IntArray, lengths: IntArray, mean_length: float) -> FloatArray:
    """Return tf / (tf + K1 * (1 - B + B * length / mean length)), in [0, 1).

    Robertson and Zaragoza 2009 without the constant factor K1 + 1. `counts` are the tf.
    """
    result: FloatArray = counts / (counts + K1 * (1 - B + B * lengths / mean_length))
    return result


def idf(counts: IntArray, passages: int) -> FloatArray:
    """Return ln(1 + (N - n + 0.5) / (n + 0.5)): inverse passage frequency.

    Robertson and Zaragoza 2009, in the never-negative form that Lucene uses; N passages, n of them
    with the term, the `counts`.
    """
    result: FloatArray = np.log1p((passages - counts + 0.5) / (counts + 0.5))
    return result


class TokenWriter:
    """Writer of the words of passages and documents, in order, into a table.

    Terms are numbered in their order, whatever was read before: the same passages give the same
    table.
    """

    def __init__(self) -> None:
        self._vocabulary: dict[str, int] = {}
        self._rows: dict[str, list[IntArray | Ragged]] = {
            n: [] for n in ("words", "parts", "titles", "contexts", "values")
        }
        self._contexts: dict[bytes, int] = {}
        self._context_of: list[int] = []
        self._value_counts: list[int] = []
        self._value_field: list[str] = []
        self._document_of: list[int] = []
        self._corpora: dict[str, int] = {}
        self._passages_of: list[int] = []
        self._kept: TokenTable | None = None
        self._kept_rows: list[list[tuple[int, range]]] = []
        self._number: IntArray = np.empty(0, dtype=np.int32)

    def ids(self, terms: Iterable[str]) -> IntArray:
        """Return the ids of `terms`, new ones for terms not seen before."""
        known = self._vocabulary
        return np.array([known.setdefault(term, len(known)) for term in terms], dtype=np.int32)

    def document(self, corpus: str, title: IntArray, values: list[tuple[str, IntArray]]) -> None:
        """Add a document: the words of its title, and of its (field, value) pairs.

        The documents of a corpus follow each other.
        """
        self._begin(corpus)
        self._rows["titles"].append(title)
        self._rows["values"] += [terms for _, terms in values]
        self._value_field += [field for field, _ in values]
        self._value_counts.append(len(values))

    def passage(self, words: IntArray, parts: IntArray, context: IntArray) -> None:
        """Add a passage of the document added last; many share a `context`, which is kept once."""
        self._context_of.append(self._context(context))
        self._rows["words"].append(words)
        self._rows["parts"].append(parts)
        self._document_of.append(len(self._value_counts) - 1)
        self._passages_of[-1] += 1

    def keep(
        self, table: TokenTable, documents: range, rows: range, corpus: str, fields: Sequence[str]
    ) -> None:
        """Add consecutive documents of one corpus of `table`, and their passages, the `rows`.

        `fields` are those of the documents' values, in order.
        """
        self._begin(corpus)
        number = self._numbers_in(table)

        def taken(of: Ragged, first: int, end: int) -> Ragged:
            part = of.part(first, end)
            return Ragged.between(number[part.flat], part.offsets)

        self._rows["words"].append(taken(table.words, rows.start, rows.stop))
        self._rows["parts"].append(taken(table.parts, rows.start, rows.stop))
        self._rows["titles"].append(taken(table.titles, documents.start, documents.stop))
        owners = np.arange(documents.start, documents.stop)
        values = table.values.at(table.values_of.take(owners).value)
        self._rows["values"].append(taken(values, 0, len(values)))
        first = len(self._value_counts) - documents.start
        self._document_of += (table.document_of[rows.start : rows.stop] + first).tolist()
        self._value_counts += table.values_of.lengths(owners).tolist()
        self._value_field += fields
        context_of = table.context_of[rows.start : rows.stop]
        own = np.zeros(len(table.contexts), dtype=np.int64)
        for context in _by_first(context_of, len(own)).tolist():
            own[context] = self._context(number[table.contexts.row(context)])
        self._context_of += own[context_of].tolist()
        self._kept_rows[-1].append((self._passages, rows))
        self._passages_of[-1] += len(rows)

    @property
    def _passages(self) -> int:
        return sum(self._passages_of)

    def _begin(self, corpus: str) -> None:
        if corpus not in self._corpora:
            self._corpora[corpus] = len(self._corpora)
            self._passages_of.append(0)
            self._kept_rows.append([])

    def _context(self, terms: IntArray) -> int:
        number = self._contexts.setdefault(terms.tobytes(), len(self._contexts))
        if number == len(self._rows["contexts"]):
            self._rows["contexts"].append(terms)
        return number

    def _numbers_in(self, table: TokenTable) -> IntArray:
        """Return the id here of every term of `table`."""
        if self._kept is not table:
            self._kept = table
            self._number = np.full(len(table.passage_frequency), -1, dtype=np.int32)
            self._number[[*table.vocabulary.values()]] = self.ids(table.vocabulary)
        return self._number

    def table(self) -> TokenTable:
        """Return the table of all that was added, which leaves the writer without it: ask once."""
        # one kind after the other, or a large collection would stand there twice
        result = {name: Ragged.of(self._rows.pop(name)) for name in list(self._rows)}
        terms, number = self._renumber(list(result.values()))
        for name, rows in result.items():
            result[name] = Ragged.between(number[rows.flat], rows.offsets)
        document_of = np.array(self._document_of, dtype=np.int32)
        context_of = np.array(self._context_of, dtype=np.int32)
        names = {name: index for index, name in enumerate(sorted(set(self._value_field)))}
        table = TokenTable(
            vocabulary={term: id_ for id_, term in enumerate(terms)},
            words=result["words"],
            parts=result["parts"],
            titles=result["titles"],
            contexts=result["contexts"],
            context_of=context_of,
            values=result["values"],
            values_of=Ragged.between(
                np.arange(len(self._value_field), dtype=np.int32),
                np.concatenate(([0], np.cumsum(self._value_counts))).astype(np.int64),
            ),
            value_field=np.array([names[field] for field in self._value_field], dtype=np.int32),
            document_of=document_of,
            passage_frequency=np.zeros(len(terms), dtype=np.int32),
            terms_of=Ragged.of([]),
            counts_of=Ragged.of([]),
            passages_of=np.array(self._passages_of, dtype=np.int32),
        )
        counts = self._counts(table, number)
        terms_of: list[IntArray] = [np.flatnonzero(of) for of in counts]
        return replace(
            table,
            passage_frequency=np.sum([table.passage_frequency, *counts], axis=0, dtype=np.int32),
            terms_of=Ragged.of(terms_of),
            counts_of=Ragged.of([of[ids] for of, ids in zip(counts, terms_of, strict=True)]),
        )

    def _renumber(self, used: list[Ragged]) -> tuple[list[str], IntArray]:
        """Return the terms in use, sorted, and the new id of each old one; -1 of those gone."""
        occurs = np.zeros(len(self._vocabulary), dtype=bool)
        for rows in used:
            occurs[rows.flat] = True
        terms = list(self._vocabulary)
        # what a kept table had is in order already, which makes sorting short
        ids = sorted(np.flatnonzero(occurs).tolist(), key=terms.__getitem__)
        number = np.full(len(self._vocabulary), -1, dtype=np.int32)
        number[ids] = np.arange(len(ids))
        return [terms[id_] for id_ in ids], number

    def _counts(self, table: TokenTable, number: IntArray) -> list[IntArray]:
        """Return for each corpus in how many of its passages each term of `table` occurs.

        Those of a kept table are changed by what was left out of it and what is new, if that is
        less. `number` gives the id in `table` of each term that was seen.
        """
        result: list[IntArray] = []
        end = 0
        for count, kept in zip(self._passages_of, self._kept_rows, strict=True):
            start, end = end, end + count
            fresh = np.ones(count, dtype=bool)
            for at, rows in kept:
                fresh[at - start : at - start + len(rows)] = False
            new = start + np.flatnonzero(fresh)
            before, left_out = self._counts_before(kept, len(table.vocabulary), number)
            if before is None or len(left_out) + len(new) >= count:
                result.append(
                    passage_frequency(table, np.arange(start, end), len(table.vocabulary))
                )
                continue
            assert self._kept is not None
            gone = passage_frequency(self._kept, left_out, len(self._kept.passage_frequency))
            before -= self._moved(gone, np.arange(len(gone)), len(before), number)
            result.append(before + passage_frequency(table, new, len(table.vocabulary)))
        return result

    def _counts_before(
        self, kept: Sequence[tuple[int, range]], terms: int, number: IntArray
    ) -> tuple[IntArray | None, IntArray]:
        """Return the counts of the corpus that passages were kept of, and its passages that were
        not."""
        rows = [rows for _, rows in kept if len(rows)]
        if self._kept is None or not rows:
            return None, np.empty(0, dtype=np.int64)
        ends = np.cumsum(self._kept.passages_of)
        corpus = int(np.searchsorted(ends, rows[0].start, side="right"))
        first, end = int(ends[corpus] - self._kept.passages_of[corpus]), int(ends[corpus])
        left_out = np.ones(end - first, dtype=bool)
        for each in rows:
            left_out[each.start - first : each.stop - first] = False
        of, ids = self._kept.counts_of.row(corpus), self._kept.terms_of.row(corpus)
        return self._moved(of, ids, terms, number), first + np.flatnonzero(left_out)

    def _moved(self, counts: IntArray, ids: IntArray, terms: int, number: IntArray) -> IntArray:
        """Return counts of terms of the kept table by their present ids; 0 for terms gone."""
        result = np.zeros(terms + 1, dtype=np.int32)
        own = self._number[ids]
        result[np.where(own < 0, -1, number[own])] = counts  # of terms that are gone: at the end
        return result[:-1]


def _by_first(values: IntArray, most: int) -> IntArray:
    """Return the distinct values, all below `most`, in order of first occurrence."""
    first = np.full(most, len(values))
    np.minimum.at(first, values, np.arange(len(values)))
    result: IntArray = np.flatnonzero(first < len(values))
    return result[np.argsort(first[result])]
