"""What each group of English rules changes: `python -m tests.benchmarks.rules --data FOLDER`.

FOLDER holds public test sets in the layout that `tests.benchmarks.quality` describes. Questions of
the bundled labels and of each set are answered with all rules, and again with one group of them
switched off. Printed is what that changes, as the mean difference (without - with) over the same
questions and half of its 95% interval; a difference within the interval is none.

    decided    answered if the sources hold the answer, and only then
    gold       cites a passage that holds the answer (of all answerable questions)
    F1         words shared with the reference answer (likewise; sets with answers in words)
    grounded   share of sentences with a valid citation (of all answers)
    conflicts  contradictions listed beside an answer
    ms         time of an answer, sentence vectors not counted

`refusals` shows nothing here: no language model answers. `tests/test_refusals.py` has its phrases.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any
from unittest.mock import patch

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from atlas_search.answer.answer import Answer
from atlas_search.answer.quotes.kind import ANYTHING
from atlas_search.atlas import Atlas
from atlas_search.core.places import bundled_folder
from atlas_search.evaluation.labels.load import load_labels
from atlas_search.evaluation.metrics.texts import token_f1
from atlas_search.evaluation.reply import without_markers
from atlas_search.providers.embedding.folder import DEFAULT_MODEL
from atlas_search.search.conditions import Filter
from tests.benchmarks.quality.collection import (
    COLLECTION,
    build_collection,
    open_collection,
    record_id,
)
from tests.benchmarks.quality.embedder import Remembering
from tests.benchmarks.quality.records import GroupReader
from tests.benchmarks.quality.sets import TestSet, read_sets, sampled

TODAY = date(2000, 1, 1)  # freshness plays no part
MEASURES = ("decided", "gold", "F1", "grounded", "conflicts", "ms")
WIDTH = 130

GROUPS: Mapping[str, Mapping[str, Callable[..., Any]]] = {
    "answer kinds": {
        "atlas_search.answer.quotes.choose.asked_for": lambda _: ANYTHING,
        "atlas_search.answer.quotes.kinds.asked_for": lambda _: ANYTHING,
    },
    "mismatch": {
        "atlas_search.answer.quotes.likelihood.mismatch": lambda *_: "",
        "atlas_search.answer.quotes.likelihood.figures_missing": lambda *_: (),
    },
    "superseded": {"atlas_search.answer.quotes.precedence.asks_for_current": lambda _: False},
    "unknown names": {
        "atlas_search.search.summary.unknown_names": lambda *_: (),
        "atlas_search.answer.quotes.likelihood.absent_names": lambda *_: ((), 0.0),
    },
    "multi-hop": {"atlas_search.search.find_candidates.sub_questions": lambda _: ()},
    "conflicts": {"atlas_search.answer.flow.conflicts_between": lambda *_: ()},
}
"""What stands in for each rule while its group is switched off."""


@dataclass(frozen=True)
class Case:
    """A question; `gold` are the documents or records that answer it, none if nothing does."""

    question: str
    corpora: str
    filters: Mapping[str, Filter]
    gold: frozenset[str]
    answers: tuple[str, ...]


@dataclass(frozen=True)
class Questions:
    """The cases of one set, who answers them, and the name of what a passage belongs to."""

    name: str
    cases: Sequence[Case]
    atlas: Atlas
    source_of: Callable[[int], str]


def main(
    data: Annotated[Path, typer.Option(help="Folder with a sub-folder for each test set")],
    demo: Annotated[Path, typer.Option(help="Folder with the bundled collection")] = Path(
        "data/stores"
    ),
    store: Annotated[Path, typer.Option(help="Folder of the collection of public sets")] = Path(
        "data/bench"
    ),
    queries: Annotated[int, typer.Option(min=10, help="Questions of each public set")] = 200,
) -> None:
    """Build what has changed, ask, print."""
    console = Console() if Console().is_terminal else Console(width=WIDTH)
    embedder = Remembering(DEFAULT_MODEL)
    with ExitStack() as stack:
        sets = [*_bundled(stack, demo, embedder), *_public(stack, data, store, embedder, queries)]
        for asked in sets:
            console.print(_table(asked, embedder, console))


def _bundled(stack: ExitStack, demo: Path, embedder: Remembering) -> Iterator[Questions]:
    folder = demo / "atlas_demo"
    atlas = stack.enter_context(Atlas.open(folder, embedder=embedder, query_cache_enabled=False))
    cases = [
        Case(label.question, "all", {}, label.gold_document_ids, label.answers)
        for label in load_labels(bundled_folder("samples") / "labels.jsonl")
    ]
    passages = atlas.services.store.passages
    yield Questions("bundled", cases, atlas, lambda row: passages([row])[0].document_id)


def _public(
    stack: ExitStack, data: Path, store: Path, embedder: Remembering, count: int
) -> Iterator[Questions]:
    sets = read_sets(data)
    build_collection(store, sets, embedder, GroupReader(), lambda *_: None)
    collection = stack.enter_context(open_collection(store, sets, embedder))
    folder = store / COLLECTION
    atlas = stack.enter_context(Atlas.open(folder, embedder=embedder, query_cache_enabled=False))
    for test_set in sets:
        cases = list(_cases(test_set, count))
        yield Questions(test_set.name, cases, atlas, lambda row: collection.records[row])


def _cases(test_set: TestSet, count: int) -> Iterator[Case]:
    """Judged questions, and as many that are known to have no answer."""
    unjudged = sampled(test_set.unjudged(), count, "all")
    for query in (*sampled(test_set.queries, count, "all"), *unjudged):
        place = test_set.place(query)
        gold = test_set.qrels.get(query.id, {})
        yield Case(
            query.text,
            test_set.name,
            place,
            frozenset(record_id(test_set.name, record) for record in gold),
            query.answers if gold and not place else (),
        )


def _table(asked: Questions, embedder: Remembering, console: Console) -> Table:
    table = Table("without", *MEASURES, title=f"{asked.name}: {len(asked.cases)} questions")
    for case in asked.cases:  # so that no vector is computed later
        _figures(asked, case, embedder)
    with_all = _asked(asked, "", embedder, console)
    table.add_row("(with all)", *(_mean(with_all[:, i]) for i in range(len(MEASURES))))
    for group in GROUPS:
        found = _asked(asked, group, embedder, console) - with_all
        table.add_row(group, *(_difference(found[:, i]) for i in range(len(MEASURES))))
    return table


def _asked(
    asked: Questions, group: str, embedder: Remembering, console: Console
) -> NDArray[np.float64]:
    """A row for each question, a column for each measure; NaN where it does not apply."""
    quiet = not console.is_terminal
    with _without(group):
        cases = track(asked.cases, asked.name, console=console, transient=True, disable=quiet)
        return np.array([_figures(asked, case, embedder) for case in cases])


@contextmanager
def _without(group: str) -> Iterator[None]:
    with ExitStack() as stack:
        for place, stand_in in GROUPS.get(group, {}).items():
            stack.enter_context(patch(place, stand_in))
        yield


def _figures(asked: Questions, case: Case, embedder: Remembering) -> list[float]:
    embedding, started = embedder.seconds, time.perf_counter()
    answer = _answer(asked.atlas, case)
    seconds = time.perf_counter() - started - (embedder.seconds - embedding)
    answered = answer.outcome.decision == "ANSWER"
    cited = {asked.source_of(c.passage.row) for c in answer.citations}
    f1 = token_f1(without_markers(answer.text), case.answers)
    return [
        float(answered == bool(case.gold)),
        float(bool(cited & case.gold)) if case.gold else np.nan,
        f1 if case.gold and case.answers else np.nan,
        answer.verification.sentence_groundedness if answered else np.nan,
        float(sum(conflict.kind != "repealed" for conflict in answer.conflicts)),
        1000 * seconds,
    ]


def _answer(atlas: Atlas, case: Case) -> Answer:
    return atlas.ask(case.question, corpora=case.corpora, filters=case.filters, k=10, as_of=TODAY)


def _mean(values: NDArray[np.float64]) -> str:
    known = values[~np.isnan(values)]
    return f"{known.mean():.3f}" if len(known) else "-"


def _difference(values: NDArray[np.float64]) -> str:
    known = values[~np.isnan(values)]
    if not len(known):
        return "-"
    half = 1.96 * known.std(ddof=1) / np.sqrt(len(known))
    return f"{known.mean():+.3f} ±{half:.3f}"


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    typer.run(main)
