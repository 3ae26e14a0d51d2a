"""Where a question is searched, and the proof that nothing came from elsewhere."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

import numpy as np

from atlas_search.atlas import Atlas
from atlas_search.evaluation.label_files import BenchmarkQuery
from atlas_search.planning import plan_search
from atlas_search.search.candidates import Candidates
from atlas_search.search.request import Filter, SearchPlan, SearchRequest
from atlas_search.stores.arrays import IntArray
from benchmarks.quality.collection import Collection
from benchmarks.quality.sets import TestSet

Section = Literal["alone", "pooled", "filtered"]

_TODAY = date(2000, 1, 1)  # freshness plays no part


class Leak(Exception):
    """A search found what its corpora or its filter exclude."""


@dataclass(frozen=True)
class Scope:
    """One way to search for a question; `allowed` are the only rows that may be found.

    `every_corpus` asks for the retrieval depth of "all" instead of that of chosen corpora.
    """

    section: Section
    corpora: tuple[str, ...]
    allowed: IntArray
    every_corpus: bool = False
    filters: Mapping[str, Filter] = field(default_factory=dict)

    def request(self, atlas: Atlas, query: BenchmarkQuery) -> SearchPlan:
        """The question, as it is put to this scope."""
        request = SearchRequest(
            question=query.text,
            corpora="all" if self.every_corpus else list(self.corpora),
            filters=dict(self.filters),
            as_of=_TODAY,
        )
        return plan_search(atlas.services, request)


def scopes(collection: Collection, test_set: TestSet, query: BenchmarkQuery) -> Iterator[Scope]:
    """The set alone; all sets; and, if the set has filter fields, only where the question is from.

    Judgements speak of the own set only: in `pooled` the other sets are there to distract.
    """
    own = {key: rows for (name, key), rows in collection.groups.items() if name == test_set.name}
    yield Scope("alone", (test_set.name,), _joined(own.values()))
    corpora = tuple(corpus.id for corpus in collection.searcher.store.corpora)
    yield Scope("pooled", corpora, _joined(collection.groups.values()), every_corpus=True)
    if test_set.filter_fields:
        wanted = {name: query.metadata[name] for name in test_set.filter_fields}
        inside = [
            own[group.key]
            for group in test_set.groups
            if all(group.metadata.get(name) == value for name, value in wanted.items())
        ]
        filters: dict[str, Filter] = {name: (str(value),) for name, value in wanted.items()}
        yield Scope("filtered", (test_set.name,), _joined(inside), filters=filters)


def found(candidates: Candidates) -> IntArray:
    """All that either leg found, and all that is ranked."""
    legs = [hits.rows for legs in candidates.hits.values() for hits in legs.values()]
    return np.concatenate([candidates.table.rows, *legs])


def check_inside(rows: IntArray, scope: Scope) -> None:
    """Raises Leak if `scope` excludes one of the passages in `rows`."""
    outside = np.setdiff1d(rows, scope.allowed)
    if len(outside):
        raise Leak(
            f"{len(outside)} passages from outside of {', '.join(scope.corpora)} with filters "
            f"{dict(scope.filters)}: rows {outside[:5].tolist()}."
        )


def _joined(rows: Iterable[IntArray]) -> IntArray:
    return np.concatenate(list(rows))
