"""Exact counts of the documents in a scope, by year and by the values of their metadata."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import Field
from pydantic_core import to_jsonable_python as plain

from atlas_search.core.stop import Stop
from atlas_search.search.ranking import Ranking
from atlas_search.search.request import ScopePlan
from atlas_search.search.scope import plan_scope
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.filters import DATE
from atlas_search.stores.store import Store


@dataclass(frozen=True)
class CountedValue:
    """A value of a metadata field; a date within one year counts as that year."""

    value: str
    documents: int


Facets = dict[str, list[CountedValue]]
"""For each field the values of its documents, the most frequent first."""

MOST_VALUES = 50  # of one field; a list of all titles helps nobody


def facets(store: Store, ranking: Ranking, fields: Sequence[str]) -> Facets:
    """Counts over the documents of all candidates, so under the filter of the search.

    Both legs draw the same depth from every corpus, so these are the documents worth narrowing
    down, not all in which a word occurs.
    """
    documents = np.unique(store.tokens.document_of[ranking.rows])
    return {name: [*of.values] for name, of in _count(store, documents, fields).items()}


@dataclass(frozen=True)
class FieldCounts:
    """The most frequent values of a field, under all filters but its own."""

    values: tuple[CountedValue, ...]
    left_out: Annotated[int, Field(description="Values that are not listed")]


@dataclass(frozen=True)
class Year:
    """Documents dated within one year."""

    year: int
    documents: int


@dataclass(frozen=True)
class Years:
    """Documents by year, under all filters but that of `date`."""

    years: Annotated[
        tuple[Year, ...],
        Field(description="In order; years without a document are left out"),
    ]
    several_years: Annotated[int, Field(description="Documents whose date is not within one year")]
    undated: int


@dataclass(frozen=True)
class ScopeCounts:
    """A scope in numbers, all of them exact.

    The values of a field are counted under all filters but its own, so that another can be chosen;
    likewise the years.
    """

    documents: int
    passages: int
    fields: Mapping[str, FieldCounts]
    dates: Years

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as POST /api/facets sends them."""
        document: dict[str, Any] = plain(self)
        return document


def scope_counts(
    store: Store, narrowing: ScopePlan, fields: Sequence[str], stop: Stop
) -> ScopeCounts:
    """Counts over the documents that a scope leaves. Raises Cancelled soon after the `stop`."""
    scope = plan_scope(store, narrowing, stop)
    documents = scope.documents
    counts: dict[str, FieldCounts] = {}
    shared = [name for name in fields if narrowing.without(name) == narrowing]
    counts |= _count(store, documents, shared)
    for name in fields:
        if name not in counts:
            others = plan_scope(store, narrowing.without(name), stop)
            counts |= _count(store, others.documents, [name])
    dated = documents
    if DATE in narrowing.filters:
        dated = plan_scope(store, narrowing.without(DATE), stop).documents
    in_order = {name: counts[name] for name in fields}
    return ScopeCounts(len(documents), len(scope.rows), in_order, _years(store, dated))


def _count(store: Store, documents: IntArray, fields: Sequence[str]) -> dict[str, FieldCounts]:
    counts: dict[str, list[CountedValue]] = {name: [] for name in fields}
    if fields:
        for count in store.value_counts(documents, fields):
            counts[count.field].append(CountedValue(str(count.value), count.documents))
    return {
        name: FieldCounts(tuple(values[:MOST_VALUES]), max(len(values) - MOST_VALUES, 0))
        for name, values in counts.items()
    }


def _years(store: Store, documents: IntArray) -> Years:
    first, last = store.days.first[documents], store.days.last[documents]
    dated = ~np.isnat(first)
    begun, ended = (
        side[dated].astype("datetime64[Y]").astype(np.int64) + 1970 for side in (first, last)
    )
    years, counts = np.unique(begun[begun == ended], return_counts=True)
    return Years(
        tuple(map(Year, years.tolist(), counts.tolist())),
        several_years=int((begun != ended).sum()),
        undated=int((~dated).sum()),
    )
