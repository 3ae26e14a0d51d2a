"""Every word of every document as integer arrays: what exact counting and concordances read.

Passages overlap and leave out headings; here each place of a text stands once.
"""

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from atlas_search.language.languages import as_written, fold
from atlas_search.language.text import TextSpan, term_of, word_spans
from atlas_search.stores.arrays import (
    Gathered,
    IntArray,
    Ragged,
    Splice,
    Spliced,
    map_array,
    reading,
)
from atlas_search.stores.order import RECENT, Order

MANY = 64  # one word of so many, from which on it is quicker to mark places than to sort them
LISTS = ("forms", "folded", "terms")


class Forms(NamedTuple):
    """The forms that occur in either of two tables, sorted: as in `WordTable`, and how often.

    `of_base` and `of_recent` give the number here of each form of either table, `in_base` and
    `in_recent` the number there of each form here; -1 for none.
    """

    written: Sequence[str]
    folded: Sequence[str]
    terms: Sequence[str]
    folded_of: IntArray
    term_of: IntArray
    counts: IntArray
    of_base: IntArray
    of_recent: IntArray
    in_base: IntArray
    in_recent: IntArray

    @classmethod
    def of(
        cls, base: "WordTable", base_counts: IntArray, recent: "WordTable", recent_counts: IntArray
    ) -> "Forms":
        """Join the forms of two tables; the counts say how often each of theirs still occurs."""
        kept = base_counts > 0
        both = _Union.of(kept, _find_forms(recent, base))
        is_used = _used(base.folded_of, kept, base.folded)
        folded = _Union.of(is_used, _find(recent.folded, base.folded))
        is_used = _used(base.term_of, kept, base.terms)
        terms = _Union.of(is_used, _find(recent.terms, base.terms))
        counts = np.zeros(both.count, dtype=np.int64)
        counts[both.of_first[kept]] = base_counts[kept]
        counts[both.of_second] += recent_counts

        def numbers(union: _Union, in_first: IntArray, in_second: IntArray) -> IntArray:
            result = np.empty(both.count, dtype=np.int32)
            result[both.of_first[kept]] = union.of_first[in_first[kept]]
            result[both.of_second] = union.of_second[in_second]
            return result

        return cls(
            written=both.listed(base.forms, recent.forms),
            folded=folded.listed(base.folded, recent.folded),
            terms=terms.listed(base.terms, recent.terms),
            folded_of=numbers(folded, base.folded_of, recent.folded_of),
            term_of=numbers(terms, base.term_of, recent.term_of),
            counts=counts,
            of_base=both.of_first,
            of_recent=both.of_second,
            in_base=_inverse(both.of_first, both.count),
            in_recent=_inverse(both.of_second, both.count),
        )


class _Matches(NamedTuple):
    """Places of the members of one sorted list in another, and whether each stands there."""

    places: IntArray
    stands: NDArray[np.bool_]


def _find(words: Sequence[str], among: Sequence[str]) -> _Matches:
    places = [bisect_left(among, word) for word in words]
    stands = [at < len(among) and among[at] == word for at, word in zip(places, words, strict=True)]
    return _Matches(np.array(places, dtype=np.int64), np.array(stands, dtype=bool))


def _find_forms(words: "WordTable", among: "WordTable") -> _Matches:
    """Find forms, of which several may differ by their stems alone."""
    places, stands = _find(words.forms, among.forms)
    for number in np.flatnonzero(stands).tolist():
        form, stem = words.forms[number], words.terms[words.term_of[number]]
        at = int(places[number])
        while at < len(among.forms) and among.forms[at] == form:
            if among.terms[among.term_of[at]] >= stem:
                break
            at += 1
        is_form = at < len(among.forms) and among.forms[at] == form
        places[number] = at
        stands[number] = is_form and among.terms[among.term_of[at]] == stem
    return _Matches(places, stands)


@dataclass(frozen=True)
class _Union:
    """Numbers of the members of two sorted lists in the list of both; -1 of those left out."""

    of_first: IntArray
    of_second: IntArray
    count: int

    @classmethod
    def of(cls, kept: NDArray[np.bool_], second: _Matches) -> "_Union":
        """Join the second list and the members of the first that are `kept` or equal one of it."""
        at, is_known = second
        kept = kept.copy()
        kept[at[is_known]] = True
        new = at[~is_known]  # each comes before the member of the first that stands there
        ahead = np.concatenate([[0], np.cumsum(kept)])
        of_first = ahead[:-1] + np.searchsorted(new, np.arange(len(kept)), side="right")
        of_second = np.empty(len(at), dtype=np.int64)
        of_second[is_known] = of_first[at[is_known]]
        of_second[~is_known] = ahead[new] + np.arange(len(new))
        of_first[~kept] = -1
        return cls(of_first.astype(np.int32), of_second.astype(np.int32), int(ahead[-1]) + len(new))

    def listed(self, first: Sequence[str], second: Sequence[str]) -> list[str]:
        """Return the members, from the lists of both."""
        result = np.empty(self.count, dtype=object)
        kept = np.flatnonzero(self.of_first >= 0)
        result[self.of_first[kept]] = np.array(first, dtype=object)[kept]
        result[self.of_second] = np.array(second, dtype=object)
        listed: list[str] = result.tolist()
        return listed


def _used(numbers: IntArray, is_kept: NDArray[np.bool_], of: Sequence[str]) -> NDArray[np.bool_]:
    used = np.zeros(len(of), dtype=bool)
    used[numbers[is_kept]] = True
    return used


def _inverse(numbers: IntArray, count: int) -> IntArray:
    result = np.full(count, -1, dtype=np.int32)
    kept = np.flatnonzero(numbers >= 0)
    result[numbers[kept]] = kept
    return result


class SplicedPlaces:
    """Places of each form in two tables in a common order, ascending: as a `Ragged`."""

    def __init__(self, splice: Splice, base: Ragged, recent: Ragged, forms: Forms):
        self._splice, self._base, self._recent, self._forms = splice, base, recent, forms

    @property
    def sizes(self) -> IntArray:
        return self._forms.counts

    def lengths(self, forms: IntArray) -> IntArray:
        return self._forms.counts[forms]

    def row(self, form: int) -> IntArray:
        (_, base), (_, recent) = self._both(np.array([form]))
        # two ascending runs, which a stable sort makes use of
        return np.sort(np.concatenate([base, recent]), kind="stable") if len(recent) else base

    def take(self, forms: IntArray) -> Gathered:
        base, recent = self._both(forms)
        row, value = (np.concatenate(both) for both in zip(base, recent, strict=True))
        order = np.lexsort((value, row))
        return Gathered(row[order], value[order])

    def _both(self, forms: IntArray) -> Sequence[tuple[IntArray, IntArray]]:
        """Return the forms with a place, and the places: in the base, and in what is recent."""
        return (
            self._items(self._base, self._forms.in_base[forms], 0),
            self._items(self._recent, self._forms.in_recent[forms], self._splice.first),
        )

    def _items(self, of: Ragged, forms: IntArray, moved: int) -> tuple[IntArray, IntArray]:
        has = np.flatnonzero(forms >= 0)
        taken = of.take(forms[has])
        items, stands = self._splice.items_at(taken.value.astype(np.int64) + moved)
        return has[taken.row[stands]], items


@dataclass(frozen=True)
class WordTable:
    """Words of a collection in the order of its documents, mapped from disk.

    The place of a word is its number in that order. `forms` are the words as they are written
    (with capitals and accents), sorted; `folded` the same without them, `terms` their stems, each
    sorted and once. Form `f` is `folded[folded_of[f]]` and has the stem `terms[term_of[f]]`: a
    form stands twice if two languages stem it in two ways.
    `tokens[p]` is the form at place `p`, which stands at the characters `starts[p]` to
    `starts[p] + lengths[p]` of its document. Those of document `d` are the places
    `ends[d]` to `ends[d + 1]`; `places[f]` are those of form `f`, ascending. The words that passage
    `row` holds whole are the places `firsts[row]` to `lasts[row]`, the latter excluded.
    """

    forms: Sequence[str]
    folded: Sequence[str]
    terms: Sequence[str]
    folded_of: IntArray
    term_of: IntArray
    tokens: IntArray | Spliced
    starts: IntArray | Spliced
    lengths: IntArray | Spliced
    ends: IntArray
    places: Ragged | SplicedPlaces
    firsts: IntArray
    lasts: IntArray

    @property
    def documents(self) -> int:
        return len(self.ends) - 1

    @property
    def words_of(self) -> IntArray:
        return np.diff(self.ends)

    def counts(self, forms: IntArray) -> int:
        """Return how often forms occur."""
        return int(self.places.lengths(forms).sum())

    def places_of(self, forms: IntArray) -> IntArray:
        """Return the places of forms, ascending."""
        result = [self.places.row(form) for form in forms.tolist()]
        if len(result) == 1:
            return result[0].astype(np.int64)
        places = np.concatenate([*result, np.empty(0, dtype=np.int64)])
        if len(places) * MANY < len(self.tokens):
            return np.sort(places)
        # of 24 million words 2 million are marked in 30 ms, and sorted in 200
        marked = np.zeros(len(self.tokens), dtype=bool)
        marked[places] = True
        return np.flatnonzero(marked)

    def documents_of(self, places: IntArray) -> IntArray:
        """Return the document of each of `places`, which ascend."""
        # a document for each place is looked up twenty times slower than the places of each
        return np.repeat(np.arange(self.documents), np.diff(np.searchsorted(places, self.ends)))

    def is_same(self, document: int, first_row: int, alone: "WordTable") -> bool:
        """Return whether `alone`, of one document, has its words; its passages begin at
        `first_row`."""
        start, end = int(self.ends[document]), int(self.ends[document + 1])
        if end - start != len(alone.tokens):
            return False
        rows = slice(first_row, first_row + len(alone.firsts))
        own, other = self.tokens[start:end].tolist(), alone.tokens[:].tolist()
        return (
            np.array_equal(self.starts[start:end], alone.starts)
            and np.array_equal(self.lengths[start:end], alone.lengths)
            and np.array_equal(self.firsts[rows] - start, alone.firsts)
            and np.array_equal(self.lasts[rows] - start, alone.lasts)
            and [self._form(form) for form in own] == [alone._form(form) for form in other]
        )

    def _form(self, form: int) -> tuple[str, str]:
        return self.forms[form], self.terms[self.term_of[form]]

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        for name in LISTS:
            text = "".join(f"{word}\n" for word in getattr(self, name))
            (folder / f"{name}.txt").write_bytes(text.encode())
        for name, column in self._arrays().items():
            np.save(folder / f"{name}.npy", column)

    def _arrays(self) -> dict[str, IntArray]:
        assert isinstance(self.places, Ragged)
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        return arrays | {"places": self.places.flat, "places.offsets": self.places.offsets}

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Map the arrays of `folder`. Raises DamagedStore if one is missing or unreadable."""

        def array(name: str) -> NDArray[Any]:
            return map_array(folder / f"{name}.npy")

        with reading(f"The words in {folder}"):
            result: dict[str, Any] = {name: array(name) for name in _ARRAYS}
            result |= {name: _lines(folder / f"{name}.txt") for name in LISTS}
            places = Ragged.between(array("places"), array("places.offsets"))
        return cls(**result, places=places)

    @classmethod
    def of_version(cls, folder: Path, order: Order | None, document_of: IntArray) -> Self:
        """Map the table in `folder` of a version, with its `order` if it was not written whole.

        `document_of` is the document of every passage. Raises DamagedStore.
        """
        base = cls.read(folder)
        return base.spliced(cls.read(folder / RECENT), order, document_of) if order else base

    def spliced(self, recent: Self, order: Order, document_of: IntArray) -> Self:
        """Return this table as the base of a version, with what is `recent`, in a common order."""
        assert isinstance(self.places, Ragged)
        assert isinstance(recent.places, Ragged)
        documents, rows = order.document_splice.every(), order.splice.every()
        of_base, of_recent = np.asarray(self.tokens), np.asarray(recent.tokens)
        before = len(of_base)
        ends = np.zeros(len(documents) + 1, dtype=np.int64)
        np.cumsum(np.concatenate([self.words_of, recent.words_of])[documents], out=ends[1:])
        stood = np.concatenate([self.ends[:-1], recent.ends[:-1] + before])[documents]
        moved = (ends[:-1] - stood)[document_of]
        splice = order.document_splice.within(ends, self.ends, recent.ends)
        forms = Forms.of(self, self._counts_within(documents), recent, recent.places.sizes)

        def both(name: str) -> Spliced:
            return Spliced(splice, getattr(self, name), getattr(recent, name))

        return type(self)(
            forms=forms.written,
            folded=forms.folded,
            terms=forms.terms,
            folded_of=forms.folded_of,
            term_of=forms.term_of,
            tokens=Spliced(splice, of_base, forms.of_recent[of_recent], forms.of_base),
            starts=both("starts"),
            lengths=both("lengths"),
            ends=ends,
            places=SplicedPlaces(splice, self.places, recent.places, forms),
            firsts=np.concatenate([self.firsts, recent.firsts + before])[rows] + moved,
            lasts=np.concatenate([self.lasts, recent.lasts + before])[rows] + moved,
        )

    def _counts_within(self, documents: IntArray) -> IntArray:
        """Return how often each form occurs in the `documents`; numbers beyond are of no matter."""
        counts = self.places.sizes
        left_out = np.ones(self.documents, dtype=bool)
        left_out[documents[documents < self.documents]] = False
        for document in np.flatnonzero(left_out).tolist():
            own = self.tokens[int(self.ends[document]) : int(self.ends[document + 1])]
            np.subtract.at(counts, own, 1)
        return counts


_ARRAYS = [f.name for f in fields(WordTable) if f.name not in (*LISTS, "places")]


def find(word: str, words: Sequence[str]) -> int:
    """Return the number of `word` in a sorted list; -1 if it is not there."""
    at = bisect_left(words, word)
    return at if at < len(words) and words[at] == word else -1


def _lines(path: Path) -> list[str]:
    # no word holds a line's end, but some hold what `splitlines` takes for one
    return path.read_bytes().decode().split("\n")[:-1]


_Form = tuple[str, str]
"""A word as it is written, and its stem."""


class WordWriter:
    """Writer of the words of documents, in order, into a table.

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
        """Add a document and the places of its passages, and return its number of words."""
        known = self._known.setdefault(language, {})
        numbers, spans = array("i"), array("i")  # as lists they take 60 bytes a character
        for start, end in word_spans(text, language):
            surface = text[start:end]
            if (number := known.get(surface)) is None:
                form = (as_written(surface), term_of(surface, language))
                number = known[surface] = self._forms.setdefault(form, len(self._forms))
            numbers.append(number)
            spans.extend((start, end))
        tokens, places = (np.array(each, dtype=np.int32) for each in (numbers, spans))
        places = places.reshape(-1, 2)
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
        """Return the number here of every form of `table`, at least of those among `tokens`."""
        if self._kept is not table:
            self._kept = table
            self._number = np.full(len(table.forms), -1, dtype=np.int32)
        number = self._number
        used = np.bincount(tokens, minlength=len(number)) > 0
        for form in np.flatnonzero(used & (number < 0)).tolist():
            key = (table.forms[form], table.terms[table.term_of[form]])
            number[form] = self._forms.setdefault(key, len(self._forms))
        return number

    def _append(
        self, tokens: IntArray, starts: IntArray, lengths: IntArray, bounds: Sequence[IntArray]
    ) -> None:
        for column, values in zip(self._columns, (tokens, starts, lengths), strict=True):
            column.append(values)
        self._bounds.append((bounds[0], bounds[1]))
        self._places += len(tokens)

    def table(self) -> WordTable:
        """Return the table of all that was added, which leaves the writer without it: ask once."""
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
        """Return the places of each form, ascending, form after form.

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
        """Return whether what was kept follows each other as it did before."""
        befores = [were.start for _, were in self._kept_places]
        return befores == sorted(befores)


def _joined(parts: list[IntArray]) -> IntArray:
    """Join one column and let its parts go, or a large collection would stand there twice."""
    joined = np.concatenate([_EMPTY.astype(np.int32), *parts])
    parts.clear()
    return joined


_EMPTY = np.empty(0, dtype=np.int64)
_SORTED_AT_ONCE = 1 << 23  # words, unless one form has more: each takes 16 bytes meanwhile


def _numbered(words: Sequence[str]) -> tuple[list[str], IntArray]:
    """Return the distinct words, sorted, and the number of each."""
    distinct = sorted(set(words))
    number = {word: at for at, word in enumerate(distinct)}
    return distinct, np.array([number[word] for word in words], dtype=np.int32)


def _places_by(tokens: IntArray, counts: IntArray) -> IntArray:
    """Return places of each form, ascending, form after form; `counts` say how often each occurs.

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
