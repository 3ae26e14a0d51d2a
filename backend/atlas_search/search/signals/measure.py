"""All signals of all candidates, in one table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from atlas_search.search.query import Query
from atlas_search.search.signals.bm25 import bm25
from atlas_search.search.signals.exact import exact
from atlas_search.search.signals.frequency import frequency
from atlas_search.search.signals.metadata import metadata_matches
from atlas_search.search.signals.neighbours import neighbours, with_neighbours
from atlas_search.search.signals.occurrences import locate, weigh
from atlas_search.search.signals.phrase import phrase, quoted
from atlas_search.search.signals.proximity import proximity
from atlas_search.search.signals.title import titled
from atlas_search.stores.arrays import IntArray, runs
from atlas_search.stores.terms import FloatArray, TokenTable
from atlas_search.stores.vectors import Cosines


@dataclass(frozen=True)
class SignalTable:
    """Signals of the candidate passages `rows`, each an array of that length in [0, 1].

    `matches` counts the metadata fields that match; the `metadata` signal is n / (n + 1) of it.
    """

    rows: IntArray
    signals: Mapping[str, FloatArray]
    matches: IntArray

    def of(self, position: int) -> dict[str, float]:
        """The signals of one candidate by name, rounded to six places."""
        return {name: round(float(values[position]), 6) for name, values in self.signals.items()}


def merge(tables: Sequence[SignalTable]) -> SignalTable:
    """One table of all rows, ascending; the tables share none."""
    if len(tables) == 1:
        return tables[0]
    rows = np.concatenate([table.rows for table in tables])
    order = np.argsort(rows)
    signals = {
        name: np.concatenate([table.signals[name] for table in tables])[order]
        for name in tables[0].signals
    }
    return SignalTable(
        rows[order], signals, np.concatenate([table.matches for table in tables])[order]
    )


def measure(
    query: Query,
    cosines: Cosines,
    rows: IntArray,
    table: TokenTable,
    corpora: Sequence[int],
    mean_length: float,
    term_scores: FloatArray | None = None,
) -> SignalTable:
    """Measure the candidates `rows`, ascending, against the question.

    `cosines` are those of its vector, `corpora` are the indices of those that are searched,
    `term_scores` those of every passage: the signal `sparse`, if a model gave some.
    """
    documents, of_document = runs(table.document_of[rows])
    terms = weigh(query, table, corpora)
    around = with_neighbours(rows, table.document_of)
    hits, counts = locate(terms, around, table)
    matches = metadata_matches(terms, documents, table)[of_document]
    named = titled(terms, documents, table.titles)[of_document]
    keyword = bm25(counts, table.lengths(around.rows), terms, mean_length)
    share_quoted, all_quoted = quoted(query, terms, rows, table)
    return SignalTable(
        rows=rows,
        signals={
            "semantic": np.clip(cosines.of(rows), 0.0, 1.0),
            "bm25": keyword[around.own],
            # a passage gains by what is quoted, and none loses
            "phrase": np.maximum(phrase(hits, terms, query), share_quoted),
            "exact": np.maximum(exact(query, hits, rows, table), all_quoted),
            "frequency": frequency(hits),
            "proximity": proximity(hits, terms, named),
            "title": named @ terms.idf / terms.total,
            "metadata": matches / (matches + 1),
            "neighbours": neighbours(around, keyword),
            **({} if term_scores is None else {"sparse": term_scores[rows]}),
        },
        matches=matches,
    )
