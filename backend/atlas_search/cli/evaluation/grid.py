"""`atlas eval grid`: the same questions asked of many configurations."""

import json
import shlex
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Annotated

import typer
from rich.console import Console

from atlas_search.atlas import Atlas, settings_for
from atlas_search.cli.ask import print_whole
from atlas_search.cli.asking_bar import asking_bar
from atlas_search.cli.evaluation.judge import (
    OF_THE_JUDGE,
    Judge,
    JudgeMeasures,
    JudgeModelName,
    JudgeProvider,
    JudgeTarget,
    MaxCost,
    check_judge,
    judge_run,
)
from atlas_search.cli.evaluation.options import (
    LABELS,
    CollectionChoice,
    Day,
    FilterBy,
    LabelFile,
    Limit,
    RequireModel,
    Resumed,
    RunDirectory,
    SearchOnly,
    Seed,
    UnknownGold,
    check_model_is_asked,
    command_line,
    day_of,
    only_options,
    only_with,
    read_questions,
)
from atlas_search.cli.evaluation.outcome import remarks_on, status_of
from atlas_search.cli.options import AsJson
from atlas_search.core.errors import AtlasError, RequestError
from atlas_search.core.registry import require
from atlas_search.core.settings import listed, load_settings
from atlas_search.evaluation.grid.configuration import Axes, Configuration
from atlas_search.evaluation.grid.grid import Cell, Grid, begin_grid, carry_out_grid
from atlas_search.evaluation.grid.table import (
    Row,
    grid_csv,
    grid_document,
    grid_markdown,
    grid_rows,
    grid_tables,
)
from atlas_search.evaluation.judge.open import JudgeWanted, Measures
from atlas_search.evaluation.labels.label_set import EVERY_SPLIT
from atlas_search.evaluation.reports.write import Written, write_reports
from atlas_search.evaluation.runs.begin import Wanted
from atlas_search.evaluation.runs.here import ProcessSubject
from atlas_search.evaluation.runs.language_model import require_language_model
from atlas_search.evaluation.whole import replace_file


def grid_command(
    context: typer.Context,
    labels: LabelFile = LABELS,
    split: Annotated[
        str, typer.Option(help="Parts of it, separated by commas (default: `test` if there is one)")
    ] = "",
    allow_unknown_gold: UnknownGold = False,
    filter_by: FilterBy = "",
    target: Annotated[str, typer.Option(help="Targets, separated by commas")] = "",
    k: Annotated[str, typer.Option("--k", help="Numbers of passages, likewise")] = "",
    model: Annotated[str, typer.Option(help="Language models, likewise")] = "",
    reranker: Annotated[str, typer.Option(help="Rerankers, likewise")] = "",
    balance: Annotated[str, typer.Option(help="Balances, likewise")] = "",
    collection: CollectionChoice = "",
    search_only: SearchOnly = False,
    parallel: Annotated[int, typer.Option(min=1, max=64, help="Questions at once")] = 1,
    limit: Limit = None,
    seed: Seed = 0,
    today: Day = None,
    require_llm: RequireModel = False,
    out: RunDirectory = None,
    resume: Resumed = None,
    judge: Judge = False,
    judge_target: JudgeTarget = "",
    judge_provider: JudgeProvider = "",
    judge_model: JudgeModelName = "",
    judge_measures: JudgeMeasures = Measures.OWN,
    max_cost: MaxCost = None,
    as_json: AsJson = False,
) -> None:
    """Ask every question of every combination, each a run of its own, and print one table."""
    require("eval", "An evaluation")
    check_model_is_asked(require_llm=require_llm, search_only=search_only)
    only_with(context, "judge", *OF_THE_JUDGE)
    by = JudgeWanted(
        judge_target,
        judge_provider,
        judge_model,
        max_cost=max_cost,
        measures=judge_measures,
    )
    if judge:
        check_judge(by)
    if resume:
        only_options(
            context, *("resume", "parallel", "require_llm", "as_json", "judge"), *OF_THE_JUDGE
        )
        grid = Grid(resume)
        first = grid.spec().runs[0].configuration
        with grid.opened(grid.spec().collection, first) as atlas:
            if require_llm:
                _require_models(atlas, [run.configuration for run in grid.spec().runs])
            cells = list(carry_out_grid(grid, atlas, asking_bar, parallel=parallel))
    else:
        wanted = Wanted(
            today=day_of(today),
            search_only=search_only,
            limit=limit,
            seed=seed,
            parallel=parallel,
            command=command_line(context),
        )
        settings = settings_for(collection)
        grid = Grid(out or settings.atlas_evaluation_directory / f"grid-{wanted.id}")
        axes = Axes(
            targets=listed(target) or [settings.test_target],
            k=_numbers(k),
            models=listed(model),
            rerankers=listed(reranker),
            balances=listed(balance),
        )
        with ExitStack() as opened:
            with grid.beginning() as made:
                chosen = made.write_targets(axes, settings)
                atlas = opened.enter_context(made.opened(collection, chosen[0]))
                splits: Sequence[str | None] = listed(split) or [None]
                documents = ProcessSubject(atlas, chosen[0].name).documents
                asked = [
                    read_questions(
                        labels,
                        name,
                        documents,
                        wanted,
                        allow_unknown_gold=allow_unknown_gold,
                        filter_by=filter_by,
                    )
                    for name in splits
                ]
                if require_llm:
                    _require_models(atlas, chosen)
                questions = {each.split or EVERY_SPLIT: each for each in asked}
                begin_grid(made, atlas, chosen, questions, wanted)
            cells = list(carry_out_grid(grid, atlas, asking_bar, parallel=parallel))
    judged = _judged(grid, cells, by) if judge else True
    rows = grid_rows(cells)
    _write_tables(grid, rows)
    _print_tables(rows, as_json=as_json)
    written = _say_how_it_ended(grid, cells)
    sys.exit(_status(cells, require_llm=require_llm) or bool(written.faults) or not judged)


def _judged(grid: Grid, cells: Sequence[Cell], by: JudgeWanted) -> bool:
    """Judge each run, none after an interrupt; whether the judge gave a figure in all of them.

    One that cannot be judged is told, in its reports too, and costs no other. `--max-cost` is for
    each.
    """
    if any(cell.outcome.stopped for cell in cells):
        return True
    sources = []
    for cell in cells:
        folder = grid.run_folder(cell.run)
        try:
            with folder.naming("judge"):
                sources.append(judge_run(load_settings(), folder, by).metrics_source)
        except AtlasError as error:
            print(f"{cell.run.folder} is not judged: {error}", file=sys.stderr)
            sources.append("heuristic")
    return "heuristic" not in sources


def _numbers(text: str) -> list[int]:
    try:
        return [int(number) for number in listed(text)]
    except ValueError as error:
        raise RequestError(f"--k {text}: give whole numbers, separated by commas.") from error


def _require_models(atlas: Atlas, configurations: Iterable[Configuration]) -> None:
    for configuration in dict.fromkeys(configurations):
        require_language_model(ProcessSubject(atlas, configuration.name))


def _write_tables(grid: Grid, rows: Sequence[Row]) -> None:
    replace_file(grid.path / "grid.csv", grid_csv(rows))
    replace_file(grid.path / "grid.md", grid_markdown(rows))


def _print_tables(rows: Sequence[Row], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(grid_document(rows), indent=2))
        return
    console = Console()
    for table in grid_tables(rows):
        print_whole(console, table)


def _say_how_it_ended(grid: Grid, cells: Sequence[Cell]) -> Written:
    """Say where the runs are and what they lack, and write their reports."""
    written = write_reports(grid.path)
    lines = [f"The grid is in {grid.path}: grid.csv, grid.md, and a folder for each run."]
    lines += written.remarks
    remarks = ((cell.run.folder, " ".join(remarks_on(cell.outcome))) for cell in cells)
    lines += [f"{folder}: {remark}" for folder, remark in remarks if remark]
    if not _complete(cells):
        lines.append(f"Go on: atlas eval grid --resume {shlex.quote(str(grid.path))}")
    print(*lines, sep="\n", file=sys.stderr)
    return written


def _status(cells: Sequence[Cell], *, require_llm: bool) -> int:
    return max(status_of(cell.outcome, require_llm=require_llm) for cell in cells)


def _complete(cells: Sequence[Cell]) -> bool:
    return all(cell.outcome.complete for cell in cells)
