"""What each group of English rules changes: `python -m benchmarks.rules --data FOLDER`.

FOLDER holds public test sets in the layout that `benchmarks.quality` describes. Questions of
the bundled labels, of each set and of `--asked` are answered with all rules, and again with one
group of them switched off. Printed is what that changes, as the mean difference (without - with)
over the same questions and half of its 95% interval; a difference within the interval is none.

    right         answered, and the answer is right (of all answerable questions)
    wrong         answered, and the answer is not right (likewise)
    likely right  answered, called likely, and right; likely wrong accordingly
    declined      not answered (of all unanswerable questions)
    first         the first quote, of an answer or of what comes nearest, is right (of answerable)
    conflicts     contradictions listed beside an answer; the sets have none

An answer is right as `benchmarks.truth` says; in other sets if it cites a gold document or
record. `--asked QUESTIONS=COLLECTION` adds a set of your own: QUESTIONS has one JSON object a line,
{"question", "answerable", "keys"}; an answer is right if it holds a string of each group of `keys`.
"""

import json
import os
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
from atlas_search.answer.quotes.kinds import ANYTHING
from atlas_search.atlas import Atlas
from atlas_search.core.domain import Citation
from atlas_search.core.files import bundled_folder
from atlas_search.evaluation.label_files import load_labels
from atlas_search.evaluation.metrics import contains_reference
from atlas_search.providers.embedding import DEFAULT_MODEL
from atlas_search.search.flow import search
from atlas_search.search.request import Filter
from benchmarks.quality.collection import (
    COLLECTION,
    build_collection,
    open_collection,
    record_id,
)
from benchmarks.quality.embedder import Remembering
from benchmarks.quality.records import GroupReader
from benchmarks.quality.sets import TestSet, read_sets, sampled
from benchmarks.truth.judging import MEASURES as JUDGED_BY

TODAY = date(2000, 1, 1)  # freshness plays no part
MEASURES = ("right", "wrong", "likely right", "likely wrong", "declined", "first", "conflicts")
WIDTH = 130

_QUOTES = "atlas_search.answer.quotes"

GROUPS: Mapping[str, Mapping[str, Callable[..., Any]]] = {
    "answer kinds": {f"{_QUOTES}.scores.asked_for": lambda _: ANYTHING},
    "opposites": {f"{_QUOTES}.scores.is_turned_round": lambda *_: False},
    "superseded": {f"{_QUOTES}.choose.passages_to_quote": lambda prompt: prompt.passages},
    "what is before": {
        f"{_QUOTES}.choose.with_what_is_before": lambda chosen, most: list(chosen)[:most]
    },
    "readings": {"atlas_search.answer.flow.readings": lambda *_: ()},
    "sub-questions": {"atlas_search.search.find.sub_questions": lambda _: ()},
    "conflicts": {"atlas_search.answer.flow.conflicts_between": lambda *_: ()},
    "counted": {"atlas_search.answer.flow.count_asked_for": lambda _: None},
}
"""What stands in for each rule while its group is switched off."""

_SEARCHES = ("sub-questions",)
"""Groups that change what is found; for the others each question is searched for once."""

Right = Callable[[str, Sequence[Citation]], bool]
"""Whether quotes answer, by their text and what they cite."""


@dataclass(frozen=True)
class Case:
    """A question, and when it is answered rightly; never where nothing answers it."""

    question: str
    corpora: str
    filters: Mapping[str, Filter]
    answerable: bool
    right: Right


@dataclass(frozen=True)
class Questions:
    """The cases of one set, and who answers them."""

    name: str
    cases: Sequence[Case]
    atlas: Atlas


def main(
    data: Annotated[Path, typer.Option(help="Folder with a sub-folder for each test set")],
    demo: Annotated[Path, typer.Option(help="Folder with the bundled collection")] = Path(
        "data/stores"
    ),
    store: Annotated[Path, typer.Option(help="Folder of the collection of public sets")] = Path(
        "data/bench"
    ),
    asked: Annotated[list[str] | None, typer.Option(help="QUESTIONS=COLLECTION")] = None,
    queries: Annotated[int, typer.Option(min=10, help="Questions of each public set")] = 200,
    only: Annotated[list[str] | None, typer.Option(help="Names of sets")] = None,
    ablate: Annotated[bool, typer.Option(help="Switch off one group after the other")] = True,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Where to write a row for each question")
    ] = None,
) -> None:
    """Build what has changed, ask, print."""
    console = Console() if Console().is_terminal else Console(width=WIDTH)
    embedder = Remembering(DEFAULT_MODEL)
    out = {}
    with ExitStack() as stack:
        for questions in _all_sets(stack, data, demo, store, asked or [], embedder, queries):
            if only and questions.name not in only:
                continue
            groups = ("", *GROUPS) if ablate else ("",)
            found = {group: _asked(questions, group, console) for group in groups}
            console.print(_table(questions, found))
            out[questions.name] = {group: rows.tolist() for group, rows in found.items()}
            if json_file:
                json_file.write_text(json.dumps(out))


def _all_sets(
    stack: ExitStack,
    data: Path,
    demo: Path,
    store: Path,
    asked: Sequence[str],
    embedder: Remembering,
    queries: int,
) -> Iterator[Questions]:
    for each in asked:
        path, _, collection = each.partition("=")
        yield _own(stack, Path(path), Path(collection), embedder)
    yield _bundled(stack, demo, embedder)
    yield from _public(stack, data, store, embedder, queries)


def _own(stack: ExitStack, path: Path, collection: Path, embedder: Remembering) -> Questions:
    return Questions(path.stem, own_cases(path), stack.enter_context(_opened(collection, embedder)))


def own_cases(path: Path) -> list[Case]:
    """The questions of a file of `--asked`, without those that follow another."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    return [
        Case(q["question"], "all", {}, bool(q["answerable"]), _holds_keys(q["keys"]))
        for q in lines
        if not q.get("follows")
    ]


def _holds_keys(keys: Sequence[Sequence[str]]) -> Right:
    def right(text: str, _: Sequence[Citation]) -> bool:
        said = _plain(text)
        return bool(keys) and all(any(_plain(key) in said for key in group) for group in keys)

    return right


def _plain(text: str) -> str:
    text = text.replace("\u2019", "'").replace("\u00a0", " ").replace("\u202f", " ")
    return " ".join(text.split()).lower()


def _opened(folder: Path, embedder: Remembering) -> Atlas:
    return Atlas.open(
        folder, embedder=embedder, query_cache_enabled=False, phoenix_collector_endpoint=""
    )


def _bundled(stack: ExitStack, demo: Path, embedder: Remembering) -> Questions:
    atlas = stack.enter_context(_opened(demo / "atlas_demo", embedder))
    return Questions("bundled", bundled_cases(), atlas)


def bundled_cases(split: str = "") -> list[Case]:
    """The bundled labels, of one `split` or of both."""
    return [
        Case(
            label.question,
            "all",
            {},
            label.answerable,
            _cites(label.gold_document_ids, lambda p: p.document_id),
        )
        for label in load_labels(bundled_folder("samples") / "labels.jsonl", split)
    ]


def _cites(gold: frozenset[str], source_of: Callable[[Any], str]) -> Right:
    return lambda _, cited: any(source_of(citation.passage) in gold for citation in cited)


def _public(
    stack: ExitStack, data: Path, store: Path, embedder: Remembering, count: int
) -> Iterator[Questions]:
    sets = read_sets(data)
    build_collection(store, sets, embedder, GroupReader(), lambda *_: None)
    collection = stack.enter_context(open_collection(store, sets, embedder))
    atlas = stack.enter_context(_opened(store / COLLECTION, embedder))
    for test_set in sets:
        cases = list(_cases(test_set, count, lambda p: collection.records[p.row]))
        yield Questions(test_set.name, cases, atlas)


def _cases(test_set: TestSet, count: int, source_of: Callable[[Any], str]) -> Iterator[Case]:
    """Judged questions, and as many that are known to have no answer."""
    unjudged = sampled(test_set.unjudged(), count, "all")
    whole = JUDGED_BY.get(test_set.name, ("cites",))[0] == "whole"
    for query in (*sampled(test_set.queries, count, "all"), *unjudged):
        gold = frozenset(record_id(test_set.name, r) for r in test_set.qrels.get(query.id, {}))
        right = _holds(query.answers) if whole else _cites(gold, source_of)
        yield Case(query.text, test_set.name, test_set.place(query), bool(gold), right)


def _holds(answers: tuple[str, ...]) -> Right:
    return lambda text, _: contains_reference(text, answers)


def _table(questions: Questions, found: Mapping[str, NDArray[np.float64]]) -> Table:
    title = f"{questions.name}: {len(questions.cases)} questions"
    table = Table("without", *MEASURES, title=title)
    with_all = found[""]
    table.add_row("(with all)", *(_mean(with_all[:, i]) for i in range(len(MEASURES))))
    for group in [group for group in GROUPS if group in found]:
        apart = found[group] - with_all
        table.add_row(group, *(_difference(apart[:, i]) for i in range(len(MEASURES))))
    return table


_RESULTS: dict[tuple[str, int], Any] = {}


def _asked(questions: Questions, group: str, console: Console) -> NDArray[np.float64]:
    """A row for each question, a column for each measure; NaN where it does not apply."""
    quiet = not console.is_terminal
    rows = []
    with _without(group):
        cases = track(
            questions.cases, questions.name, console=console, transient=True, disable=quiet
        )
        for number, case in enumerate(cases):
            key = (questions.name, number)

            def searched(run: Any, key: tuple[str, int] = key) -> Any:
                if group in _SEARCHES:
                    return search(run)
                if key not in _RESULTS:
                    _RESULTS[key] = search(run).kept_only()
                    object.__setattr__(_RESULTS[key], "kept_only", lambda: _RESULTS[key])
                return _RESULTS[key]

            with patch("atlas_search.answer.flow.search", searched):
                rows.append(_figures(questions.atlas, case))
    return np.array(rows)


@contextmanager
def _without(group: str) -> Iterator[None]:
    with ExitStack() as stack:
        for place, stand_in in GROUPS.get(group, {}).items():
            stack.enter_context(patch(place, stand_in))
        yield


def _figures(atlas: Atlas, case: Case) -> list[float]:
    answer = _answer(atlas, case)
    answered = answer.outcome.decision == "ANSWER"
    right = answered and case.right(" ".join(c.quote for c in answer.citations), answer.citations)
    quotes = answer.citations if answered else answer.closest
    first = bool(quotes) and case.right(quotes[0].quote, quotes[:1])
    likely = answer.confidence is not None and answer.confidence.word == "likely"
    return [
        float(right) if case.answerable else np.nan,
        float(answered and not right) if case.answerable else np.nan,
        float(likely and right) if case.answerable else np.nan,
        float(likely and not right),
        float(not answered) if not case.answerable else np.nan,
        float(first) if case.answerable else np.nan,
        float(sum(conflict.kind != "repealed" for conflict in answer.conflicts)),
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
