"""The words of two tables as those of one: their forms, and where each stands."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from atlas_search.stores.ragged import Gathered, IntArray, Ragged
from atlas_search.stores.spliced import Splice


class _Words(Protocol):
    """What is read of a `WordTable`."""

    @property
    def forms(self) -> Sequence[str]: ...

    @property
    def folded(self) -> Sequence[str]: ...

    @property
    def terms(self) -> Sequence[str]: ...

    @property
    def folded_of(self) -> IntArray: ...

    @property
    def term_of(self) -> IntArray: ...


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
        cls, base: _Words, base_counts: IntArray, recent: _Words, recent_counts: IntArray
    ) -> "Forms":
        """The counts are how often each form of the tables still occurs."""
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
            found = np.empty(both.count, dtype=np.int32)
            found[both.of_first[kept]] = union.of_first[in_first[kept]]
            found[both.of_second] = union.of_second[in_second]
            return found

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


class _Found(NamedTuple):
    """Where the members of one sorted list stand in another, or would, and which do."""

    places: IntArray
    stands: NDArray[np.bool_]


def _find(words: Sequence[str], among: Sequence[str]) -> _Found:
    places = [bisect_left(among, word) for word in words]
    stands = [at < len(among) and among[at] == word for at, word in zip(places, words, strict=True)]
    return _Found(np.array(places, dtype=np.int64), np.array(stands, dtype=bool))


def _find_forms(words: _Words, among: _Words) -> _Found:
    """The same for forms, of which several may differ by their stems alone."""
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
    return _Found(places, stands)


@dataclass(frozen=True)
class _Union:
    """The numbers of the members of two sorted lists in the list of both; -1 of those left out."""

    of_first: IntArray
    of_second: IntArray
    count: int

    @classmethod
    def of(cls, kept: NDArray[np.bool_], second: _Found) -> "_Union":
        """All of the second, and those of the first that are `kept` or equal one of them."""
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
        """All of them, from the lists of both."""
        found = np.empty(self.count, dtype=object)
        kept = np.flatnonzero(self.of_first >= 0)
        found[self.of_first[kept]] = np.array(first, dtype=object)[kept]
        found[self.of_second] = np.array(second, dtype=object)
        listed: list[str] = found.tolist()
        return listed


def _used(numbers: IntArray, kept: NDArray[np.bool_], of: Sequence[str]) -> NDArray[np.bool_]:
    used = np.zeros(len(of), dtype=bool)
    used[numbers[kept]] = True
    return used


def _inverse(numbers: IntArray, count: int) -> IntArray:
    found = np.full(count, -1, dtype=np.int32)
    kept = np.flatnonzero(numbers >= 0)
    found[numbers[kept]] = kept
    return found


class SplicedPlaces:
    """The places of each form in two tables in a common order, ascending: as a `Ragged`."""

    def __init__(self, splice: Splice, base: Ragged, recent: Ragged, forms: Forms):
        self._splice, self._base, self._recent, self._forms = splice, base, recent, forms

    @property
    def sizes(self) -> IntArray:
        """How often every form occurs."""
        return self._forms.counts

    def lengths(self, forms: IntArray) -> IntArray:
        """How often each of `forms` occurs."""
        return self._forms.counts[forms]

    def row(self, form: int) -> IntArray:
        """Where a form stands."""
        (_, base), (_, recent) = self._both(np.array([form]))
        # two ascending runs, which a stable sort makes use of
        return np.sort(np.concatenate([base, recent]), kind="stable") if len(recent) else base

    def take(self, forms: IntArray) -> Gathered:
        """Where each of `forms` stands."""
        base, recent = self._both(forms)
        row, value = (np.concatenate(both) for both in zip(base, recent, strict=True))
        order = np.lexsort((value, row))
        row = row[order]
        firsts = np.searchsorted(row, np.arange(len(forms)))
        return Gathered(row, np.arange(len(row)) - firsts[row], value[order])

    def _both(self, forms: IntArray) -> Sequence[tuple[IntArray, IntArray]]:
        """The forms that have a place, and where: in the base, and in what is recent."""
        return (
            self._items(self._base, self._forms.in_base[forms], 0),
            self._items(self._recent, self._forms.in_recent[forms], self._splice.first),
        )

    def _items(self, of: Ragged, forms: IntArray, moved: int) -> tuple[IntArray, IntArray]:
        has = np.flatnonzero(forms >= 0)
        taken = of.take(forms[has])
        items, stands = self._splice.items_at(taken.value.astype(np.int64) + moved)
        return has[taken.row[stands]], items
