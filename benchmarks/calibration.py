"""Whether a calibration keeps its promise: `python -m benchmarks.calibration --data FOLDER`.

FOLDER holds public test sets in the layout that `benchmarks.quality` describes. Each set is
built into a collection of its own. The threshold is chosen from one half of the set's questions
and of those of the other sets, which are off-topic here (`labels`), or without either (`made`);
and both, as well as the default and that of risky questions, are judged by the other half. A set
that puts the same questions to each of its documents is asked within them.

Further questions without an answer are told apart, for retrieval alone cannot refuse them all:

    removed    the other half of the questions, with the document of the answer left out
    unjudged   questions of the set that no passage answers: the trick questions of squad2, of
               which the right passage is there, and the absent facts of contractnli
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from atlas_search.answer.decide import DEFAULT_THRESHOLD, RISKY_THRESHOLD, evidence_of
from atlas_search.core.settings import load_settings
from atlas_search.evaluation.calibrate import choose, make_questions
from atlas_search.evaluation.label_files import BenchmarkQuery
from atlas_search.providers.open import open_embedder
from atlas_search.search.request import Filter
from benchmarks.quality.collection import Collection, build_collection, open_collection
from benchmarks.quality.records import GroupReader
from benchmarks.quality.sets import TestSet, read_sets, sampled, split_of

TODAY = date(2000, 1, 1)  # freshness plays no part
MADE = 300
HALVES = ("dev", "test")
WIDTH = 120
"""Columns of the table where the output is no terminal."""

Place = Mapping[str, Filter]
"""The filter under which a question is asked; empty for the whole collection."""

Asked = tuple[str, Place]


@dataclass(frozen=True)
class Numbers:
    """The evidence of the questions of one set; `good` and `off_topic` by half."""

    good: Mapping[str, list[float]]
    off_topic: Mapping[str, list[float]]
    made: list[float]
    everyday: list[float]
    removed: list[float]
    unjudged: list[float]


def main(
    data: Annotated[Path, typer.Option(help="Folder with a sub-folder for each test set")],
    queries: Annotated[int, typer.Option(min=80, help="Questions of each set")] = 400,
    store: Annotated[Path, typer.Option(help="Folder of the collections")] = Path("data/bench"),
) -> None:
    """Build what has changed, ask, print."""
    sets = read_sets(data)
    embedder = open_embedder(load_settings())
    heads = "set basis threshold good lost off-topic everyday removed unjudged AUROC".split()
    table = Table(*heads, title="Shares of unseen questions; all but the first are rejected")
    for test_set in sets:
        own = store / "calibration" / test_set.name
        build_collection(own, [test_set], embedder, GroupReader(), lambda *_: None)
        with open_collection(own, [test_set], embedder) as collection:
            found = _numbers(collection, test_set, [s for s in sets if s is not test_set], queries)
        for row in _rows(test_set.name, found):
            table.add_row(*row)
    (Console() if Console().is_terminal else Console(width=WIDTH)).print(table)


def _numbers(
    collection: Collection, test_set: TestSet, others: Sequence[TestSet], count: int
) -> Numbers:
    ask = partial(_evidence, collection)
    own = _different(sampled(test_set.queries, count, "all"), test_set)
    places = [place for _, place in map(partial(_asked, test_set), own)]
    strangers = [
        query
        for other in others
        for query in _different(sampled(other.queries, count, "all"), other)[: count // 3]
    ]
    off_topic = {
        half: [
            ask((query.text, places[at % len(places)]))
            for at, query in enumerate(strangers)
            if split_of(query) == half
        ]
        for half in HALVES
    }
    questions = make_questions(collection.searcher.store, MADE)
    return Numbers(
        good={
            half: [ask(_asked(test_set, query)) for query in own if split_of(query) == half]
            for half in HALVES
        },
        off_topic=off_topic,
        made=[ask((question, {})) for question in questions.good],
        everyday=[ask((question, {})) for question in questions.off_topic],
        removed=[
            ask((query.text, _without_answer(test_set, query)))
            for query in own
            if split_of(query) == "test" and not places[0]
        ],
        unjudged=[
            ask(_asked(test_set, query))
            for query in sampled(test_set.unjudged(), 0, "test")[:count]
        ],
    )


def _rows(name: str, found: Numbers) -> Iterator[list[str]]:
    good, off_topic = found.good["test"], found.off_topic["test"]
    thresholds = {
        "default": DEFAULT_THRESHOLD,
        "risky": RISKY_THRESHOLD,
        "labels": choose(found.good["dev"], found.off_topic["dev"], "labels").threshold,
        "made": choose(found.made, found.everyday, "made").threshold,
    }
    groups = (good, off_topic, found.everyday, found.removed, found.unjudged)
    for basis, threshold in thresholds.items():
        shares = [_below(values, threshold) for values in groups]
        yield [name, basis, f"{threshold:.3f}", str(len(good)), *shares, _auroc(good, off_topic)]


def _evidence(collection: Collection, asked: Asked) -> float:
    question, place = asked
    return evidence_of(collection.atlas.search(question, filters=place, as_of=TODAY))


def _asked(test_set: TestSet, query: BenchmarkQuery) -> Asked:
    """A question, and where it is asked."""
    return query.text, test_set.place(query)


def _different(queries: Iterable[BenchmarkQuery], test_set: TestSet) -> list[BenchmarkQuery]:
    """The questions without those that are asked again in the same place."""
    return list({repr(_asked(test_set, query)): query for query in queries}.values())


def _without_answer(test_set: TestSet, query: BenchmarkQuery) -> Place:
    answering = set(test_set.qrels[query.id])
    others = [
        group.key
        for group in test_set.groups
        if not answering & {record.key for record in group.records}
    ]
    return {"record_id": tuple(others)}


def _below(values: Sequence[float], threshold: float) -> str:
    return f"{np.mean(np.array(values) < threshold):.1%}" if values else "-"


def _auroc(good: Sequence[float], off_topic: Sequence[float]) -> str:
    higher = np.array(good)[:, None] - np.array(off_topic)[None]
    return f"{np.mean((np.sign(higher) + 1) / 2):.3f}"


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    typer.run(main)
