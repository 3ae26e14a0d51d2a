"""Weights of the fused score, tried on the development half of the questions.

`python -m benchmarks.quality.tune --data FOLDER`: candidates and signals are found once per
question and scope; then one weight after the other is changed, from the defaults of `Target`, and
the mean nDCG@10 of every set and section is printed. The optimum is flat: a weight is worth
changing only if no set loses by it. Look at the test half once, when all is chosen.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from atlas_search.core.settings import load_settings
from atlas_search.core.targets import Target
from atlas_search.providers.open import open_embedder
from atlas_search.search.find import find_candidates
from atlas_search.search.ranking import FUSED_WEIGHTS, fuse
from atlas_search.search.run import SearchRun
from atlas_search.search.signals import SignalTable
from atlas_search.stores.terms import FloatArray
from benchmarks.quality.collection import Collection, build_collection, open_collection
from benchmarks.quality.records import GroupReader
from benchmarks.quality.scopes import scopes
from benchmarks.quality.sets import TestSet, read_sets, sampled

STEPS = (-0.2, -0.1, -0.05, 0.05, 0.1, 0.2, 0.3)
CUT = 10

Place = tuple[str, str]
"""A set and a section."""


@dataclass(frozen=True)
class Asked:
    """What was found for a question, the grade of each candidate, and the best possible DCG@10."""

    table: SignalTable
    grades: FloatArray
    ideal: float


def main(
    data: Annotated[Path, typer.Option(help="Folder with a sub-folder for each test set")],
    queries: Annotated[int, typer.Option(min=0, help="Questions of each set; 0 for all")] = 300,
    store: Annotated[Path, typer.Option(help="Folder of the collection")] = Path("data/bench"),
) -> None:
    """Gather once, then try weights."""
    sets = read_sets(data)
    embedder = open_embedder(load_settings())
    build_collection(store, sets, embedder, GroupReader(), lambda *_: None)
    started = time.perf_counter()
    asked: dict[Place, list[Asked]] = {}
    with open_collection(store, sets, embedder) as collection:
        for test_set in sets:
            gather_set(collection, test_set, queries, asked)
    console = Console(width=190)
    console.print(f"Gathered in {time.perf_counter() - started:.0f} s.")
    table = Table("weights", "mean", *(f"{name} {section}" for name, section in asked))
    for label, weights in variants(FUSED_WEIGHTS):
        means = {place: mean_ndcg(found, weights) for place, found in asked.items()}
        table.add_row(label, *(f"{v:.4f}" for v in (np.mean([*means.values()]), *means.values())))
    console.print(table)


def gather_set(
    collection: Collection, test_set: TestSet, queries: int, asked: dict[Place, list[Asked]]
) -> None:
    """Search for the development questions of a set wherever it makes sense."""
    for query in sampled(test_set.queries, queries, "dev"):
        grades = {f"{test_set.name}/{r}": g for r, g in test_set.qrels[query.id].items()}
        best = sorted(grades.values(), reverse=True)[:CUT]
        for scope in scopes(collection, test_set, query):
            found = find_candidates(
                SearchRun(collection.searcher, scope.request(collection.atlas, query), Target())
            ).table
            given = [grades.get(collection.records[row], 0) for row in found.rows]
            asked.setdefault((test_set.name, scope.section), []).append(
                Asked(found, np.array(given, dtype=np.float64), _dcg(best))
            )


def variants(weights: Mapping[str, float]) -> list[tuple[str, dict[str, float]]]:
    """The weights as they are, and with one of them changed."""
    found = [("default", dict(weights))]
    for name, weight in weights.items():
        for step in STEPS:
            if weight + step >= 0:
                changed = round(weight + step, 3)
                found.append((f"{name} {changed}", {**weights, name: changed}))
    return found


def mean_ndcg(asked: Sequence[Asked], weights: Mapping[str, float]) -> float:
    """Mean nDCG@10 of the order that the weights give."""
    values = []
    for found in asked:
        scores = np.round(fuse(found.table, weights), 9)
        best = np.lexsort((found.table.rows, -scores))[:CUT]
        values.append(_dcg(found.grades[best].tolist()) / found.ideal)
    return float(np.mean(values))


def _dcg(grades: Sequence[float]) -> float:
    """Discounted cumulative gain with linear gains, as trec_eval has it."""
    return float(sum(grade / np.log2(place + 2) for place, grade in enumerate(grades)))


if __name__ == "__main__":
    typer.run(main)
