"""Every word of every document as integer arrays: what exact counting and concordances read.

Passages overlap and leave out headings; here each place of a text stands once.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.errors import DamagedStore
from atlas_search.stores.arrays import map_array
from atlas_search.stores.order import RECENT, Order
from atlas_search.stores.ragged import IntArray, Ragged
from atlas_search.stores.spliced import Spliced
from atlas_search.stores.spliced_words import Forms, SplicedPlaces

MANY = 64  # one word of so many, from which on it is quicker to mark places than to sort them
LISTS = ("forms", "folded", "terms")


@dataclass(frozen=True)
class WordTable:
    """All words of a collection in the order of its documents, mapped from disk.

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
        """How many documents there are."""
        return len(self.ends) - 1

    @property
    def words_of(self) -> IntArray:
        """How many words each document has."""
        return np.diff(self.ends)

    def counts(self, forms: IntArray) -> int:
        """How often forms occur."""
        return int(self.places.lengths(forms).sum())

    def places_of(self, forms: IntArray) -> IntArray:
        """Where forms stand, ascending."""
        found = [self.places.row(form) for form in forms.tolist()]
        if len(found) == 1:
            return found[0].astype(np.int64)
        places = np.concatenate([*found, np.empty(0, dtype=np.int64)])
        if len(places) * MANY < len(self.tokens):
            return np.sort(places)
        # of 24 million words 2 million are marked in 30 ms, and sorted in 200
        marked = np.zeros(len(self.tokens), dtype=bool)
        marked[places] = True
        return np.flatnonzero(marked)

    def documents_of(self, places: IntArray) -> IntArray:
        """The document of each of `places`, which ascend."""
        # a document for each place is looked up twenty times slower than the places of each
        return np.repeat(np.arange(self.documents), np.diff(np.searchsorted(places, self.ends)))

    def is_same(self, document: int, first_row: int, alone: "WordTable") -> bool:
        """Whether `alone`, of one document, has its words; its passages begin at `first_row`."""
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
        """Write every array into a new folder."""
        folder.mkdir(parents=True)
        for name in LISTS:
            text = "".join(f"{word}\n" for word in getattr(self, name))
            (folder / f"{name}.txt").write_bytes(text.encode())
        for name, array in self._arrays().items():
            np.save(folder / f"{name}.npy", array)

    def _arrays(self) -> dict[str, IntArray]:
        assert isinstance(self.places, Ragged)
        assert isinstance(self.places, Ragged)
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        return arrays | {"places": self.places.flat, "places.offsets": self.places.offsets}

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Map the arrays of `folder`. Raises DamagedStore if one is missing or unreadable."""

        def array(name: str) -> NDArray[Any]:
            return map_array(folder / f"{name}.npy")

        try:
            found: dict[str, Any] = {name: array(name) for name in _ARRAYS}
            found |= {name: _lines(folder / f"{name}.txt") for name in LISTS}
            places = Ragged.between(array("places"), array("places.offsets"))
            return cls(**found, places=places)
        except (OSError, ValueError, EOFError) as error:
            raise DamagedStore(
                f"The words in {folder} cannot be read ({error}). Run `atlas store repair`."
            ) from error

    @classmethod
    def of_version(cls, folder: Path, order: Order | None, document_of: IntArray) -> Self:
        """The table in `folder` of a version with an `order`, if it was not written whole.

        `document_of` is the document of every passage. Raises DamagedStore.
        """
        base = cls.read(folder)
        if order is None:
            return base
        return base.spliced(cls.read(folder / RECENT), order, document_of)

    def spliced(self, recent: Self, order: Order, document_of: IntArray) -> Self:
        """This table as the base of a version, with what is `recent`, in a common order."""
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
        """How often each form occurs in some of the documents; numbers beyond are no matter."""
        counts = self.places.sizes
        left_out = np.ones(self.documents, dtype=bool)
        left_out[documents[documents < self.documents]] = False
        for document in np.flatnonzero(left_out).tolist():
            own = self.tokens[int(self.ends[document]) : int(self.ends[document + 1])]
            np.subtract.at(counts, own, 1)
        return counts


def no_words(collection: str) -> str:
    """What to say of a version of an earlier Atlas."""
    return (
        f"{collection} was built by an earlier version of Atlas, which kept no words of whole "
        f"documents. Run `atlas store repair {collection}`, which needs no sources, or `atlas "
        "create` again as it was built; neither embeds anything again."
    )


_ARRAYS = [f.name for f in fields(WordTable) if f.name not in (*LISTS, "places")]


def find(word: str, words: Sequence[str]) -> int:
    """The number of `word` in a sorted list; -1 if it is not there."""
    at = bisect_left(words, word)
    return at if at < len(words) and words[at] == word else -1


def _lines(path: Path) -> list[str]:
    # no word holds a line's end, but some hold what `splitlines` takes for one
    return path.read_bytes().decode().split("\n")[:-1]
