"""Counts of hits, and how they are handed out."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from atlas_search.language.dates import year_name
from atlas_search.stores.arrays import IntArray, sorted_unique
from atlas_search.stores.filters import DATE, DocumentDays
from atlas_search.stores.store import Store
from atlas_search.words.request import ALL, CORPUS, DECADE, YEAR, Point, TrendsRequest
from atlas_search.words.results import Cell, WordCounts
from atlas_search.words.run import WordsRun

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
    first, last = (_numbers(_years(side), years) for side in (days.first, days.last))
    is_known = ~np.isnat(days.first) & (first == last)
    if not is_known.any():
        return Groups(every, np.full(len(every), UNKNOWN), (None,), DATE)
    start, end = int(first[is_known].min()), int(first[is_known].max())
    labels = [_label(number, years) for number in range(start, end + 1)]
    return Groups(every, np.where(is_known, first - start + 1, UNKNOWN), (None, *labels), DATE)


def _years(days: np.ndarray) -> IntArray:
    return days.astype("datetime64[Y]").astype(np.int64) + 1970


def _numbers(each: IntArray, years: int) -> IntArray:
    """The number of each year or decade. There is no year 0: 50 to 41 BC are a decade."""
    return each if years == 1 else (each - (each <= 0)) // years


def _label(number: int, years: int) -> str:
    if years == 1:
        return year_name(number)
    return f"{number:03d}0s" if number >= 0 else f"{-10 * number}–{-10 * number - 9} BC"


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


MOST_CELLS = 10_000
"""Of a field whose every document says something else, those with the fewest hits are left out; of
years and corpora the last ones."""


def tabulate(run: WordsRun, request: TrendsRequest) -> WordCounts:
    """Count hits, documents and passages by what is asked."""
    run.stop.check()
    grouped = groups(run.store, request.by)
    run.stop.check()
    table = _PerDocument(run)
    split = request.by_corpus and request.by != CORPUS
    cells = list(_cells(run, request, grouped, table, split=split))
    if request.by not in (YEAR, DECADE):
        order = {corpus: number for number, corpus in enumerate(run.request.corpora)}
        cells.sort(
            key=lambda c: (
                c.value is None,
                -(c.hits or 0),
                -c.words,
                c.value or "",
                order.get(c.corpus or "", 0),
            )
        )
    whole = table.sums(run.reach.documents, np.zeros(len(run.reach.documents), dtype=np.int64), 1)
    return WordCounts(
        query=run.request.text,
        read_as=run.read_as,
        by=request.by,
        cells=cells[:MOST_CELLS],
        cells_left_out=max(len(cells) - MOST_CELLS, 0),
        total=_cell(None, "", {}, whole[:, 0]),
    )


class _PerDocument:
    """Columns of counts by document: hits, words, documents and passages with a hit and in all."""

    def __init__(self, run: WordsRun):
        reach, count = run.reach, run.table.documents
        hits = np.diff(np.searchsorted(run.hits.starts, run.table.ends))
        document_of = run.store.tokens.document_of[reach.passages_with(run.hits)]
        passages = np.bincount(document_of, minlength=count)
        counted = np.zeros(count, dtype=np.int64)
        counted[reach.documents] = 1
        self.columns = np.stack(
            [hits, reach.words_of, hits > 0, counted, passages, reach.passages_of]
        ).astype(np.int64)
        self.counted = counted > 0

    def sums(self, documents: IntArray, numbers: IntArray, count: int) -> IntArray:
        """Of each of `count` groups; shape (6, groups)."""
        sums = [
            # sums of integers below 2 ** 53 are exact
            np.bincount(numbers, weights=column[documents], minlength=count)
            for column in self.columns
        ]
        return np.stack(sums).astype(np.int64)


def _cells(
    run: WordsRun, request: TrendsRequest, grouped: Groups, table: _PerDocument, *, split: bool
) -> Iterator[Cell]:
    is_counted = table.counted[grouped.documents]
    documents, numbers = grouped.documents[is_counted], grouped.numbers[is_counted]
    if not len(documents):
        return
    corpora = run.store.corpora if split else ()
    width = max(len(corpora), 1)
    owners = run.store.corpus_of_documents(documents) if split else 0
    sums = table.sums(documents, numbers * width + owners, len(grouped.labels) * width)
    chosen = [n for n, c in enumerate(corpora) if c.id in run.request.corpora] if split else [0]
    for number in _listed(request.by, numbers):
        label = grouped.labels[number]
        for corpus in chosen:
            column = sums[:, number * width + corpus]
            if column[_OF_DOCUMENTS] or (_is_time(request.by) and number != UNKNOWN):
                id_ = corpora[corpus].id if split else label or "" if request.by == CORPUS else ""
                yield _cell(label, id_, _filters(run, request.by, grouped, label), column)


def _listed(by: str, numbers: IntArray) -> list[int]:
    """The groups in order, UNKNOWN last; of years all from the first with a document on."""
    distinct = np.unique(numbers)
    listed = distinct[distinct != UNKNOWN]
    if _is_time(by) and len(listed):
        listed = np.arange(listed[0], listed[-1] + 1)
    return [*listed.tolist(), *([UNKNOWN] if len(distinct) and distinct[0] == UNKNOWN else [])]


def _is_time(by: str) -> bool:
    return by in (YEAR, DECADE)


def _filters(
    run: WordsRun, by: str, grouped: Groups, label: str | None
) -> dict[str, list[str]] | None:
    """Build the filter of a group's documents; None if none can, or the field has one already."""
    if not grouped.field:
        return {}
    if label is None or grouped.field in run.request.filters:
        return None
    # `1900s` would be read as the century
    decade = f"{label[:-2]}X" if by == DECADE and label.endswith("s") else label
    return {grouped.field: [decade]}


_OF_DOCUMENTS = 3


def _cell(
    value: str | None, corpus: str, filters: dict[str, list[str]] | None, column: IntArray
) -> Cell:
    hits, words, documents, of_documents, passages, of_passages = column.tolist()
    return Cell(
        value=value,
        corpus=corpus or None,
        hits=hits if words else None,
        per_million=hits * 1_000_000 / words if words else None,
        words=words,
        documents=documents,
        of_documents=of_documents,
        passages=passages,
        of_passages=of_passages,
        filters=filters,
    )
