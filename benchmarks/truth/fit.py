"""Weights of the likelihood, fitted anew: `python -m benchmarks.truth.fit --data FOLDER`.

A logistic regression tells right answers from wrong ones by the signs of their quotes, on the `dev`
halves of three sets that count the same: squad2 with its trick questions, chunkeval with off-topic
questions, and the labels of the bundled collection, where citing a gold document is right. Look at
the test halves, with `benchmarks.truth`, once the weights are chosen.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Annotated, get_args

import numpy as np
import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

from atlas_search.answer.quotes.scores import INTERCEPT, WEIGHTS, Signs
from atlas_search.atlas import Atlas
from atlas_search.core.files import bundled_folder
from atlas_search.evaluation.label_files import load_labels
from atlas_search.evaluation.labels import Label, Split
from atlas_search.providers.embedding import DEFAULT_MODEL
from atlas_search.stores.terms import FloatArray
from benchmarks.quality.collection import build_collection, open_collection
from benchmarks.quality.embedder import Remembering
from benchmarks.quality.records import GroupReader
from benchmarks.quality.sets import TestSet, read_sets
from benchmarks.truth.asking import ask
from benchmarks.truth.figures import Judged
from benchmarks.truth.judging import MEASURES, is_right
from benchmarks.truth.questions import Group, Question, questions

WRONG: dict[str, Group] = {"squad2": "unanswerable", "chunkeval": "off-topic"}
"""The public sets, and which of their questions have no right answer."""

REGULARISATION = 10.0  # weak: scikit-learn's C


def main(
    data: Annotated[Path, typer.Option(help="Folder with a sub-folder for each test set")],
    queries: Annotated[int, typer.Option(min=0, help="Questions of each set and group")] = 0,
    store: Annotated[Path, typer.Option(help="Folder of the collection")] = Path("data/bench"),
    demo: Annotated[Path, typer.Option(help="Folder with the bundled collection")] = Path(
        "data/stores"
    ),
) -> None:
    """Ask, fit, print."""
    console = Console()
    embedder = Remembering(DEFAULT_MODEL)
    judged = [
        *_public(data, store, queries, embedder, console),
        _bundled(demo / "atlas_demo", queries, embedder, console),
        _long(demo / "atlas_demo", embedder, console),
    ]
    fitted, intercept = fit(judged)
    table = Table("sign", "fitted", "in use", title="Weights of the likelihood")
    for field, new, used in zip(fields(Signs), astuple(fitted), astuple(WEIGHTS), strict=True):
        table.add_row(field.name, f"{new:.2f}", f"{used:.2f}")
    table.add_row("(intercept)", f"{intercept:.2f}", f"{INTERCEPT:.2f}")
    console.print(table)


def fit(sets: Sequence[Judged]) -> tuple[Signs, float]:
    """The weights that tell right replies best from wrong ones, and the intercept.

    Replies without a quote, which are never given, are left out.
    """
    signs, right, weights = zip(*map(_rows, sets), strict=True)
    found = LogisticRegression(C=REGULARISATION, max_iter=3000).fit(
        np.concatenate(signs), np.concatenate(right), sample_weight=np.concatenate(weights)
    )
    return Signs(*map(float, found.coef_[0])), float(found.intercept_[0])


def _rows(judged: Judged) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Signs, whether right, and a weight for each reply; those of a set sum to 1000."""
    given = [reply for reply in judged.replies if reply.texts]
    signs = np.array([astuple(reply.signs) for reply in given], dtype=np.float64)
    right = np.array([is_right(reply, judged.measure) for reply in given], dtype=np.float64)
    return signs, right, np.full(len(given), 1000 / len(given))


def _public(
    data: Path, store: Path, limit: int, embedder: Remembering, console: Console
) -> Iterator[Judged]:
    sets = read_sets(data)
    build_collection(store, sets, embedder, GroupReader(), lambda *_: None)
    with open_collection(store, sets, embedder) as collection:
        for test_set in sets:
            if test_set.name in WRONG:
                asked = track(_chosen(test_set, sets, limit), test_set.name, console=console)
                replies = ask(
                    collection.atlas, asked, test_set.name, lambda p: collection.records[p.row]
                )
                yield Judged(replies, MEASURES[test_set.name][0])


def _chosen(test_set: TestSet, sets: Sequence[TestSet], limit: int) -> list[Question]:
    others = [other for other in sets if other.name in MEASURES and other is not test_set]
    groups = "answerable", WRONG[test_set.name]
    every = questions(test_set, others, limit)
    return [each for each in every if each.half == "dev" and each.group in groups]


def _bundled(folder: Path, limit: int, embedder: Remembering, console: Console) -> Judged:
    labels = load_labels(bundled_folder("samples") / "labels.jsonl", Split.DEV)
    chosen = _first([*map(_labelled, labels)], limit)
    with Atlas.open(folder, embedder=embedder, phoenix_collector_endpoint="") as atlas:
        asked = track(chosen, "bundled", console=console)
        return Judged(ask(atlas, asked, "all", lambda p: p.document_id), "cites")


def _long(folder: Path, embedder: Remembering, console: Console) -> Judged:
    """Long questions that the bundled collection does not answer."""
    lines = (Path(__file__).parent / "long_questions.txt").read_text(encoding="utf-8").splitlines()
    chosen = [Question(f"long{n}", line, "dev", "unanswerable", {}) for n, line in enumerate(lines)]
    with Atlas.open(folder, embedder=embedder, phoenix_collector_endpoint="") as atlas:
        asked = track(chosen, "long", console=console)
        return Judged(ask(atlas, asked, "all", lambda p: p.document_id), "cites")


def _first(every: Sequence[Question], limit: int) -> list[Question]:
    """So many questions of each group, all if 0."""
    groups = [[each for each in every if each.group == group] for group in get_args(Group)]
    return [each for group in groups for each in group[: limit or None]]


def _labelled(label: Label) -> Question:
    group: Group = "answerable" if label.answerable else "unanswerable"
    gold = label.gold_document_ids
    return Question(label.id, label.question, "dev", group, {}, label.answers, gold)


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    typer.run(main)
