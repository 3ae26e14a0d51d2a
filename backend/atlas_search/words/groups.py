"""Documents by what they can be counted by: a year, a decade, a corpus, a metadata field."""

from dataclasses import dataclass

import numpy as np

from atlas_search.stores.arrays import IntArray, sorted_unique
from atlas_search.stores.filters import DATE, DocumentDays
from atlas_search.stores.store import Store
from atlas_search.words.request import ALL, CORPUS, DECADE, YEAR, Point

UNKNOWN = 0
"""The group of documents without a value, or with a date of several years."""


@dataclass(frozen=True)
class Groups:
    """Pairs of a document and a group: `documents[i]` is in `numbers[i]`.

    `labels[n]` is the value of group `n`; that of UNKNOWN is None. A document with several values
    is in several groups. `field` is the metadata field that finds the documents of a label.
    """

    documents: IntArray
    numbers: IntArray
    labels: tuple[str | None, ...]
    field: str = ""

    def documents_of(self, label: str | None) -> IntArray:
        """The documents of one group, ascending; none if there is no such group."""
        if label not in self.labels:
            return self.documents[:0]
        return sorted_unique(self.documents[self.numbers == self.labels.index(label)])


def groups(store: Store, by: str) -> Groups:
    """All documents of the store by a year, decade, corpus or field."""
    every = np.arange(store.words.documents)
    if by in (YEAR, DECADE):
        return _by_time(store.days, every, 10 if by == DECADE else 1)
    if by == CORPUS:
        labels = [corpus.id for corpus in store.corpora]
        return Groups(every, store.corpus_of_documents(every).astype(np.int64) + 1, (None, *labels))
    if by == ALL:
        return Groups(every, np.ones(len(every), dtype=np.int64), (None, ALL))
    return _by_field(store, by, every)


def of_point(store: Store, point: Point) -> IntArray:
    """The documents behind a point, ascending."""
    documents = groups(store, point.by).documents_of(point.value)
    if not point.corpus:
        return documents
    return np.intersect1d(documents, store.documents_of([point.corpus]), assume_unique=True)


def _by_time(days: DocumentDays, every: IntArray, years: int) -> Groups:
    """Every year or decade from the first to the last, also those without a document."""
    first, last = (_years(side) // years for side in (days.first, days.last))
    known = ~np.isnat(days.first) & (first == last)
    if not known.any():
        return Groups(every, np.full(len(every), UNKNOWN), (None,), DATE)
    start, end = int(first[known].min()), int(first[known].max())
    labels = [_label(number, years) for number in range(start, end + 1)]
    return Groups(every, np.where(known, first - start + 1, UNKNOWN), (None, *labels), DATE)


def _years(days: np.ndarray) -> IntArray:
    return days.astype("datetime64[Y]").astype(np.int64) + 1970


def _label(number: int, years: int) -> str:
    return f"{number:04d}" if years == 1 else f"{number:03d}0s"


def _by_field(store: Store, field: str, every: IntArray) -> Groups:
    pairs = store.field_values(field)
    labels = sorted({value for _, value in pairs})
    number = {label: at for at, label in enumerate(labels, start=1)}
    documents = np.array([document for document, _ in pairs], dtype=np.int64)
    without = every[~np.isin(every, documents)]
    numbers = [number[value] for _, value in pairs] + [UNKNOWN] * len(without)
    return Groups(
        np.concatenate([documents, without]),
        np.array(numbers, dtype=np.int64),
        (None, *labels),
        field,
    )
