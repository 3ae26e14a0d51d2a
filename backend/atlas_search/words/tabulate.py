"""Hits counted by groups of documents."""

from collections.abc import Iterator

import numpy as np

from atlas_search.stores.arrays import IntArray
from atlas_search.words.counts import Cell, Counts
from atlas_search.words.groups import UNKNOWN, Groups, groups
from atlas_search.words.request import CORPUS, DECADE, YEAR, CountsRequest
from atlas_search.words.run import WordsRun

MOST_CELLS = 10_000
"""Of a field whose every document says something else, those with the fewest hits are left out; of
years and corpora the last ones."""


def tabulate(run: WordsRun, asked: CountsRequest) -> Counts:
    """Count hits, documents and passages by what is asked."""
    run.stop.check()
    grouped = groups(run.store, asked.by)
    run.stop.check()
    table = _PerDocument(run)
    split = asked.by_corpus and asked.by != CORPUS
    cells = list(_cells(run, asked, grouped, table, split=split))
    if asked.by not in (YEAR, DECADE):
        order = {corpus: number for number, corpus in enumerate(run.request.corpora)}
        cells.sort(
            key=lambda c: (
                c.value is None,
                -(c.hits or 0),
                -c.words,
                c.value or "",
                order.get(c.corpus, 0),
            )
        )
    whole = table.sums(run.reach.documents, np.zeros(len(run.reach.documents), dtype=np.int64), 1)
    return Counts(
        text=run.request.text,
        by=asked.by,
        cells=tuple(cells[:MOST_CELLS]),
        cells_left_out=max(len(cells) - MOST_CELLS, 0),
        total=_cell(None, "", {}, whole[:, 0]),
    )


class _PerDocument:
    """What is added up, by document: hits, words, documents and passages with a hit and of all."""

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
        found = [
            # sums of integers below 2 ** 53 are exact
            np.bincount(numbers, weights=column[documents], minlength=count)
            for column in self.columns
        ]
        return np.stack(found).astype(np.int64)


def _cells(
    run: WordsRun, asked: CountsRequest, grouped: Groups, table: _PerDocument, *, split: bool
) -> Iterator[Cell]:
    kept = table.counted[grouped.documents]
    documents, numbers = grouped.documents[kept], grouped.numbers[kept]
    if not len(documents):
        return
    corpora = run.store.corpora if split else ()
    width = max(len(corpora), 1)
    owners = run.store.corpus_of_documents(documents) if split else 0
    sums = table.sums(documents, numbers * width + owners, len(grouped.labels) * width)
    chosen = [n for n, c in enumerate(corpora) if c.id in run.request.corpora] if split else [0]
    for number in _listed(asked.by, numbers):
        label = grouped.labels[number]
        for corpus in chosen:
            column = sums[:, number * width + corpus]
            if column[_OF_DOCUMENTS] or (_is_time(asked.by) and number != UNKNOWN):
                id_ = corpora[corpus].id if split else label or "" if asked.by == CORPUS else ""
                yield _cell(label, id_, _filters(run, asked.by, grouped, label), column)


def _listed(by: str, numbers: IntArray) -> list[int]:
    """The groups in order, UNKNOWN last; of years all from the first with a document on."""
    known = np.unique(numbers)
    listed = known[known != UNKNOWN]
    if _is_time(by) and len(listed):
        listed = np.arange(listed[0], listed[-1] + 1)
    return [*listed.tolist(), *([UNKNOWN] if len(known) and known[0] == UNKNOWN else [])]


def _is_time(by: str) -> bool:
    return by in (YEAR, DECADE)


def _filters(
    run: WordsRun, by: str, grouped: Groups, label: str | None
) -> dict[str, list[str]] | None:
    """What finds the documents of a group; None if a filter cannot, or the field has one."""
    if not grouped.field:
        return {}
    if label is None or grouped.field in run.request.filters:
        return None
    # `1900s` would be read as the century
    decade = f"{label[:-2]}X" if by == DECADE else label
    return {grouped.field: [decade]}


_OF_DOCUMENTS = 3


def _cell(
    value: str | None, corpus: str, filters: dict[str, list[str]] | None, column: IntArray
) -> Cell:
    hits, words, documents, of_documents, passages, of_passages = column.tolist()
    return Cell(
        value=value,
        corpus=corpus,
        hits=hits if words else None,
        per_million=hits * 1_000_000 / words if words else None,
        words=words,
        documents=documents,
        of_documents=of_documents,
        passages=passages,
        of_passages=of_passages,
        filters=filters,
    )
