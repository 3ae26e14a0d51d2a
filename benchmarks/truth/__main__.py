"""The command; the package says what it does."""

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from atlas_search.answer.quotes.scores import POSSIBLE
from atlas_search.core.errors import SourceError
from atlas_search.providers.embedding import DEFAULT_MODEL
from benchmarks.quality.collection import Collection, build_collection, open_collection
from benchmarks.quality.embedder import Remembering
from benchmarks.quality.records import GroupReader
from benchmarks.quality.sets import TestSet, read_sets
from benchmarks.truth.asking import Reply, ask
from benchmarks.truth.figures import MEAN, Figures, Section, all_figures
from benchmarks.truth.judging import MEASURES
from benchmarks.truth.questions import Question, questions
from benchmarks.truth.tables import as_json, tables

WIDTH = 200
"""Columns of the tables where the output is no terminal."""

Replies = Mapping[Section, Mapping[str, Sequence[Reply]]]
"""By section and name of the set."""


def main(
    data: Annotated[Path, typer.Option(help="Folder with a sub-folder for each test set")],
    queries: Annotated[
        int, typer.Option(min=0, help="Questions of each set, half and group; 0 for all")
    ] = 300,
    store: Annotated[Path, typer.Option(help="Folder of the collection")] = Path("data/bench"),
    plot_file: Annotated[
        Path | None, typer.Option("--plot", help="Where to draw precision over coverage")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Where to write the figures as JSON")
    ] = None,
) -> None:
    """Build what has changed, ask, print."""
    draw = _drawing(plot_file) if plot_file else None
    console = Console() if Console().is_terminal else Console(width=WIDTH)
    sets, embedder = read_sets(data), Remembering(DEFAULT_MODEL)
    asked = measured_sets(sets, data)
    with console.status("Building"):
        build_collection(store, sets, embedder, GroupReader(), lambda *_: None)
    started = time.perf_counter()
    with open_collection(store, sets, embedder, [s.name for s in asked]) as collection:
        replies = ask_all(collection, asked, queries, console)
    found = list(all_figures(replies, POSSIBLE))
    console.print(f"Asked in {time.perf_counter() - started:.0f} s.")
    for table in tables(found):
        console.print(table)
    if json_file:
        written = json.dumps({"queries": queries} | as_json(found), indent=1)
        json_file.write_text(f"{written}\n", encoding="utf-8")
    if draw:
        draw(found)


def measured_sets(sets: Sequence[TestSet], data: Path) -> list[TestSet]:
    """Those of `sets` whose answers can be judged. Raises SourceError if there is none."""
    known = [test_set for test_set in sets if test_set.name in MEASURES]
    if not known:
        raise SourceError(f"{data} has none of the sets {', '.join(MEASURES)}.")
    return known


def ask_all(
    collection: Collection, sets: Sequence[TestSet], limit: int, console: Console
) -> Replies:
    """What the questions of each set get from it alone, and from all if there are several.

    Off-topic questions are put to a set alone: to all together they are no such questions.
    """
    found: dict[Section, dict[str, list[Reply]]] = {"alone": {}, "together": {}}
    ask_set = partial(_ask_set, collection, console)
    for test_set in sets:
        name, others = test_set.name, [other for other in sets if other is not test_set]
        chosen = questions(test_set, others, limit)
        found["alone"][name] = ask_set(chosen, name, f"{name} alone")
        if others:
            own = [question for question in chosen if question.group != "off-topic"]
            found["together"][name] = ask_set(own, "all", f"{name} together")
    return found


def _ask_set(
    collection: Collection, console: Console, chosen: Sequence[Question], corpora: str, title: str
) -> list[Reply]:
    quiet = not console.is_terminal
    shown = track(chosen, title, console=console, transient=True, disable=quiet)
    return ask(collection.atlas, shown, corpora, lambda p: collection.records[p.row])


def _drawing(path: Path) -> Callable[[Sequence[Figures]], None]:
    """What draws the figures; asked for before the long run, so that it cannot fail after it."""
    from benchmarks.truth.plot import FORMATS, plot

    if path.suffix not in FORMATS:
        raise typer.BadParameter(f"--plot {path}: give a file with {', '.join(FORMATS)}.")
    return lambda found: plot(_lines(found), path)


def _lines(found: Sequence[Figures]) -> list[Figures]:
    """Each set alone, by its strictest measure, and the mean of all together."""
    return [
        figures
        for figures in found
        if figures.is_strictest and (figures.section == "alone") != (figures.set_name == MEAN)
    ]


if __name__ == "__main__":
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    typer.run(main)
