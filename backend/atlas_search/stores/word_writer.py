"""Collecting the words of documents for a `WordTable`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from atlas_search.language.languages import as_written, fold
from atlas_search.language.text import TextSpan, term_of, word_spans
from atlas_search.stores.ragged import IntArray, Ragged
from atlas_search.stores.words import WordTable

_Form = tuple[str, str]
"""A word as it is written, and its stem."""


class WordWriter:
    """Takes documents in order and makes a table of their words.

    What was read before leaves no trace: the same documents give the same table.
    """

    def __init__(self) -> None:
        self._forms: dict[_Form, int] = {}
        self._known: dict[str, dict[str, int]] = {}
        self._columns: tuple[list[IntArray], list[IntArray], list[IntArray]] = ([], [], [])
        self._sizes: list[int] = []
        self._bounds: list[tuple[IntArray, IntArray]] = []
        self._places = 0
        self._kept: WordTable | None = None
        self._kept_places: list[tuple[int, range]] = []  # where they are now, and were
        self._number: IntArray = np.empty(0, dtype=np.int32)

    def add(self, text: str, language: str, passages: Sequence[TextSpan]) -> int:
        """Add a document and the places of its passages; gives how many words it has."""
        known = self._known.setdefault(language, {})
        spans = word_spans(text, language)
        tokens = np.empty(len(spans), dtype=np.int32)
        for at, (start, end) in enumerate(spans):
            surface = text[start:end]
            if (number := known.get(surface)) is None:
                form = (as_written(surface), term_of(surface, language))
                number = known[surface] = self._forms.setdefault(form, len(self._forms))
            tokens[at] = number
        places = np.array(spans, dtype=np.int32).reshape(-1, 2)
        starts, ends = places[:, 0], places[:, 1]
        # as many words as begin in time may end too late
        first = np.searchsorted(starts, [span.start for span in passages])
        last = np.searchsorted(ends, [span.end for span in passages], side="right")
        bounds = [first + self._places, np.maximum(first, last) + self._places]
        self._append(tokens, starts.copy(), ends - starts, bounds)  # without the ends beside them
        self._sizes.append(len(tokens))
        return len(tokens)

    def keep(self, table: WordTable, documents: range, rows: range) -> IntArray:
        """Add consecutive documents of `table` and their passages, the `rows`, as they stand there.

        Gives how many words each document has.
        """
        first, end = int(table.ends[documents.start]), int(table.ends[documents.stop])
        tokens = table.tokens[first:end]
        number = self._numbers_in(table, tokens)
        sizes: IntArray = np.diff(table.ends[documents.start : documents.stop + 1])
        self._kept_places.append((self._places, range(first, end)))
        moved = self._places - first
        bounds = [side[rows.start : rows.stop] + moved for side in (table.firsts, table.lasts)]
        self._append(number[tokens], table.starts[first:end], table.lengths[first:end], bounds)
        self._sizes += sizes.tolist()
        return sizes

    def _numbers_in(self, table: WordTable, tokens: IntArray) -> IntArray:
        """The number here of every form of `table`; of those among `tokens` at least."""
        if self._kept is not table:
            self._kept = table
            self._number = np.full(len(table.forms), -1, dtype=np.int32)
        number = self._number
        used = np.bincount(tokens, minlength=len(number)) > 0
        for form in np.flatnonzero(used & (number < 0)).tolist():
            written = (table.forms[form], table.terms[table.term_of[form]])
            number[form] = self._forms.setdefault(written, len(self._forms))
        return number

    def _append(
        self, tokens: IntArray, starts: IntArray, lengths: IntArray, bounds: Sequence[IntArray]
    ) -> None:
        for column, values in zip(self._columns, (tokens, starts, lengths), strict=True):
            column.append(values)
        self._bounds.append((bounds[0], bounds[1]))
        self._places += len(tokens)

    def table(self) -> WordTable:
        """The table of all that was added, which leaves the writer without it: ask once."""
        used = sorted(self._forms)  # by form, then by stem
        number = np.empty(len(used), dtype=np.int32)
        number[[self._forms[form] for form in used]] = np.arange(len(used))
        tokens, starts, lengths = map(_joined, self._columns)
        tokens = number[tokens] if len(used) else tokens
        counts = np.bincount(tokens, minlength=len(used))
        folded, folded_of = _numbered([fold(form) for form, _ in used])
        terms, stem_of = _numbered([term for _, term in used])
        firsts, lasts = (
            np.concatenate([_EMPTY, *(bounds[side] for bounds in self._bounds)]) for side in (0, 1)
        )
        return WordTable(
            forms=[form for form, _ in used],
            folded=folded,
            terms=terms,
            folded_of=folded_of,
            term_of=stem_of,
            tokens=tokens.astype(np.int32, copy=False),
            starts=starts.astype(np.int32, copy=False),
            lengths=lengths.astype(np.min_scalar_type(int(lengths.max(initial=0))), copy=False),
            ends=np.cumsum([0, *self._sizes], dtype=np.int64),
            places=Ragged.between(
                self._places_of_forms(tokens, counts),
                np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
            ),
            firsts=firsts.astype(np.int64),
            lasts=lasts.astype(np.int64),
        )

    def _places_of_forms(self, tokens: IntArray, counts: IntArray) -> IntArray:
        """The places of each form, ascending, form after form.

        Those of a kept table are taken over, which is faster than to sort, if they are most.
        `counts` are how often each form occurs among `tokens`.
        """
        of_kept = sum(len(were) for _, were in self._kept_places)
        places = self._kept.places if self._kept else None
        is_most = 2 * of_kept >= len(tokens) and self._keeps_order
        if self._kept is None or not isinstance(places, Ragged) or not is_most:
            return _places_by(tokens, counts)
        now = np.full(len(self._kept.tokens), -1, dtype=_place_type(len(tokens)))
        is_new = np.ones(len(tokens), dtype=bool)
        for start, were in self._kept_places:
            now[were.start : were.stop] = np.arange(start, start + len(were))
            is_new[start : start + len(were)] = False
        # forms have the order that they had: only places are gone from their row, or come to it
        taken = now[places.flat]
        taken = taken[taken >= 0]
        new = np.flatnonzero(is_new)
        new = new[np.argsort(tokens[new], kind="stable")]
        forms, firsts, sizes = np.unique(tokens[new], return_index=True, return_counts=True)
        were_counts = counts.copy()
        were_counts[forms] -= sizes
        ends = np.cumsum(were_counts)
        at = np.empty(len(new), dtype=np.int64)
        for form, first, size in zip(forms.tolist(), firsts.tolist(), sizes.tolist(), strict=True):
            begin = int(ends[form] - were_counts[form])
            own = taken[begin : int(ends[form])]
            among = slice(first, first + size)
            at[among] = begin + np.searchsorted(own, new[among])
        return np.insert(taken, at, new).astype(taken.dtype, copy=False)

    @property
    def _keeps_order(self) -> bool:
        """Whether what was kept follows each other as it did before."""
        befores = [were.start for _, were in self._kept_places]
        return befores == sorted(befores)


def _joined(parts: list[IntArray]) -> IntArray:
    """All of one column; its parts are let go, or a large collection would stand there twice."""
    joined = np.concatenate([_EMPTY.astype(np.int32), *parts])
    parts.clear()
    return joined


_EMPTY = np.empty(0, dtype=np.int64)
_SORTED_AT_ONCE = 1 << 23  # words, unless one form has more: each takes 16 bytes meanwhile


def _numbered(words: Sequence[str]) -> tuple[list[str], IntArray]:
    """The distinct words, sorted, and the number of each."""
    distinct = sorted(set(words))
    number = {word: at for at, word in enumerate(distinct)}
    return distinct, np.array([number[word] for word in words], dtype=np.int32)


def _places_by(tokens: IntArray, counts: IntArray) -> IntArray:
    """The places of each form, ascending, form after form; `counts` are how often each occurs.

    Some forms at a time, so few that their numbers from the first of them have 16 bits: such
    numbers are counted into their order, which is faster than to compare them.
    """
    places = np.empty(len(tokens), dtype=_place_type(len(tokens)))
    ends = np.cumsum(counts)
    first, done = 0, 0
    while first < len(counts):
        most = int(np.searchsorted(ends, done + _SORTED_AT_ONCE, side="right"))
        end = min(max(most, first + 1), first + 0x10000)
        at = np.flatnonzero((tokens >= first) & (tokens < end))
        order = np.argsort((tokens[at] - first).astype(np.uint16), kind="stable")
        places[done : done + len(at)] = at[order]
        first, done = end, done + len(at)
    return places


def _place_type(count: int) -> type[np.signedinteger[Any]]:
    return np.int32 if count < 2**31 else np.int64
