"""Collecting the words of passages and documents for a `TokenTable`."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from atlas_search.stores.ragged import IntArray, Ragged
from atlas_search.stores.tokens import TokenTable, passage_frequency


class TokenWriter:
    """Collects the words of passages and documents in order and makes a table of them.

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
        """The ids of `terms`, new ones for terms not seen before."""
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
        self,
        table: TokenTable,
        documents: range,
        rows: range,
        corpus: str,
        fields: Sequence[str],
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
        """The id here of every term of `table`."""
        if self._kept is not table:
            self._kept = table
            self._number = np.full(len(table.passage_frequency), -1, dtype=np.int32)
            self._number[[*table.vocabulary.values()]] = self.ids(table.vocabulary)
        return self._number

    def table(self) -> TokenTable:
        """The table of all that was added, which leaves the writer without it: ask once."""
        # one kind after the other, or a large collection would stand there twice
        found = {name: Ragged.of(self._rows.pop(name)) for name in list(self._rows)}
        terms, number = self._renumber(list(found.values()))
        for name, rows in found.items():
            found[name] = Ragged.between(number[rows.flat], rows.offsets)
        document_of = np.array(self._document_of, dtype=np.int32)
        context_of = np.array(self._context_of, dtype=np.int32)
        names = {name: index for index, name in enumerate(sorted(set(self._value_field)))}
        table = TokenTable(
            vocabulary={term: id_ for id_, term in enumerate(terms)},
            words=found["words"],
            parts=found["parts"],
            titles=found["titles"],
            contexts=found["contexts"],
            context_of=context_of,
            values=found["values"],
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
        """The terms that occur, in order, and the new id of each old one; -1 of those gone."""
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
        """For each corpus: in how many of its passages each term of `table` occurs.

        Those of a kept table are changed by what was left out of it and what is new, if that is
        less. `number` gives the id in `table` of each term that was seen.
        """
        found: list[IntArray] = []
        end = 0
        for count, kept in zip(self._passages_of, self._kept_rows, strict=True):
            start, end = end, end + count
            fresh = np.ones(count, dtype=bool)
            for at, rows in kept:
                fresh[at - start : at - start + len(rows)] = False
            new = start + np.flatnonzero(fresh)
            before, left_out = self._counts_before(kept, len(table.vocabulary), number)
            if before is None or len(left_out) + len(new) >= count:
                found.append(passage_frequency(table, np.arange(start, end), len(table.vocabulary)))
                continue
            assert self._kept is not None
            gone = passage_frequency(self._kept, left_out, len(self._kept.passage_frequency))
            before -= self._moved(gone, np.arange(len(gone)), len(before), number)
            found.append(before + passage_frequency(table, new, len(table.vocabulary)))
        return found

    def _counts_before(
        self, kept: Sequence[tuple[int, range]], terms: int, number: IntArray
    ) -> tuple[IntArray | None, IntArray]:
        """The counts of the corpus that passages were kept of, and its passages that were not."""
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
        """Counts of terms of the kept table by the ids that they have now; 0 for terms gone."""
        found = np.zeros(terms + 1, dtype=np.int32)
        own = self._number[ids]
        found[np.where(own < 0, -1, number[own])] = counts  # of terms that are gone: at the end
        return found[:-1]


def _by_first(values: IntArray, most: int) -> IntArray:
    """The distinct values, all below `most`, in order of first occurrence."""
    first = np.full(most, len(values))
    np.minimum.at(first, values, np.arange(len(values)))
    found: IntArray = np.flatnonzero(first < len(values))
    return found[np.argsort(first[found])]
