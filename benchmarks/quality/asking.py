"""Asking every question everywhere: retrieved once a scope, ranked once a run."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from atlas_search.core.targets import Target
from atlas_search.evaluation.label_files import BenchmarkQuery
from atlas_search.search.find import find_candidates
from atlas_search.search.flow import search
from atlas_search.search.run import SearchRun
from atlas_search.stores.arrays import IntArray
from benchmarks.quality.collection import Collection, record_id
from benchmarks.quality.runs import RUNS
from benchmarks.quality.scopes import Scope, Section, check_inside, found, scopes
from benchmarks.quality.sets import TestSet

DEPTH = 100
"""Records of a ranking that are kept: as deep as the deepest metric looks."""

SHOWN = "shown"
"""What a search returns: the default's order after diversity and balance, cut to Target.search_k.

Only its R@100 cannot be compared with that of the others.
"""


@dataclass(frozen=True)
class Rankings:
    """What the runs gave for the questions of one set in one section.

    `relevant` are the judgements, `runs` the records best first, both by question id.
    """

    section: Section
    set_name: str
    relevant: dict[str, dict[str, int]] = field(default_factory=dict)
    runs: dict[str, dict[str, list[str]]] = field(default_factory=dict)


def ask(
    collection: Collection,
    test_set: TestSet,
    queries: Iterable[BenchmarkQuery],
    *,
    shown: bool = False,
) -> list[Rankings]:
    """The rankings of `queries` in every section of the set; with `shown`, SHOWN too. Raises Leak.

    A search of its own is needed for what is shown, so that takes more than twice the time.
    """
    asked: dict[Section, Rankings] = {}
    for query in queries:
        for scope in scopes(collection, test_set, query):
            candidates = find_candidates(
                SearchRun(collection.searcher, scope.request(collection.atlas, query), Target())
            )
            check_inside(found(candidates), scope)
            orders = {name: run(candidates)[:DEPTH] for name, run in RUNS.items()}
            if shown:
                orders[SHOWN] = _shown(collection, scope, query)
            rankings = asked.setdefault(scope.section, Rankings(scope.section, test_set.name))
            rankings.relevant[query.id] = _relevant(test_set, query)
            for name, rows in orders.items():
                records = [collection.records[row] for row in rows]
                rankings.runs.setdefault(name, {})[query.id] = records
    return list(asked.values())


def _shown(collection: Collection, scope: Scope, query: BenchmarkQuery) -> IntArray:
    result = search(
        SearchRun(collection.searcher, scope.request(collection.atlas, query), Target())
    )
    rows = np.array([checked.passage.row for checked in result.passages], dtype=np.int64)
    check_inside(rows, scope)
    return rows


def _relevant(test_set: TestSet, query: BenchmarkQuery) -> dict[str, int]:
    judged = test_set.qrels[query.id]
    return {record_id(test_set.name, record): grade for record, grade in judged.items()}
