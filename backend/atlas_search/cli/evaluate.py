"""`atlas eval`: run a label set, or a grid of configurations."""

import json
import shlex
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from atlas_search.atlas import Atlas, settings_for
from atlas_search.cli.ask import print_whole
from atlas_search.cli.evaluate_judge import (
    OF_THE_JUDGE,
    Judge,
    JudgeModelName,
    JudgeProvider,
    JudgeTarget,
    MaxCost,
    agreement_command,
    check_judge,
    judge_command,
    judge_run,
    label_command,
    rate_command,
)
from atlas_search.cli.evaluate_options import (
    LABELS,
    AuditIndex,
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
    asking_bar,
    command_line,
    day_of,
    no_options,
    only_options,
    only_with,
    read_questions,
    remarks_on,
    status_of,
)
from atlas_search.cli.evaluate_runs import (
    baseline_command,
    compare_command,
    export_command,
    gate_command,
    phoenix_command,
    report_command,
    show_in_phoenix,
)
from atlas_search.cli.options import AsJson, K, TargetChoice, command_with
from atlas_search.core.errors import AtlasError, RequestError
from atlas_search.core.registry import require
from atlas_search.core.settings import Settings, listed, load_settings
from atlas_search.evaluation.carry_out import (
    ProcessSubject,
    RunOutcome,
    RunQuestions,
    RunRequest,
    Subject,
    begin_run,
    carry_out,
    check_index_is_here,
    check_same,
    require_language_model,
    so_far,
    with_index_audit,
)
from atlas_search.evaluation.folder import AtWork, RunFolder, replace_file
from atlas_search.evaluation.grid import (
    Axes,
    Configuration,
    Grid,
    GridCell,
    GridRow,
    begin_grid,
    carry_out_grid,
    grid_csv,
    grid_document,
    grid_markdown,
    grid_row,
    grid_tables,
)
from atlas_search.evaluation.judge import JudgeWanted
from atlas_search.evaluation.label_fit import LabelCollection, OpenCollection
from atlas_search.evaluation.label_set import EVERY_SPLIT
from atlas_search.evaluation.remote import open_subject
from atlas_search.evaluation.report_analysis import WIDTH, evaluation_table, index_table
from atlas_search.evaluation.report_files import ReportFiles, write_reports
from atlas_search.evaluation.run import PROCESS, EvalRun
from atlas_search.evaluation.scored import by_category

REMOTE_PARALLEL = 4

_GOING_ON = (
    *("resume", "parallel", "require_llm", "audit_index", "judge", *OF_THE_JUDGE),
    *("phoenix", "as_json"),
)
"""Options of a run that goes on."""


@dataclass(frozen=True)
class _Ended:
    """A run as far as it came; `judged` unless a judge gave no figure."""

    outcome: RunOutcome
    judged: bool = True
    error: BaseException | None = None


@dataclass(frozen=True)
class _RunOptions:
    labels: LabelFile = LABELS
    split: Annotated[
        str | None,
        typer.Option(help="Which part of it, or `all` (default: `test` if there is one)"),
    ] = None
    allow_unknown_gold: UnknownGold = False
    filter_by: FilterBy = ""
    target: TargetChoice = None
    url: Annotated[
        str, typer.Option(help="Address of a running server to ask, with ATLAS_API_KEY")
    ] = ""
    collection: CollectionChoice = ""
    search_only: SearchOnly = False
    k: Annotated[
        int | None, typer.Option(*K, min=1, max=100, help="Passages (default: the target's)")
    ] = None
    parallel: Annotated[
        int | None,
        typer.Option(min=1, max=64, help="Questions at once (default: 1, of a server 4)"),
    ] = None
    limit: Limit = None
    seed: Seed = 0
    today: Day = None
    require_llm: RequireModel = False
    audit_index: AuditIndex = False
    out: RunDirectory = None
    resume: Resumed = None
    judge: Judge = False
    judge_target: JudgeTarget = ""
    judge_provider: JudgeProvider = ""
    judge_model: JudgeModelName = ""
    max_cost: MaxCost = None
    phoenix: Annotated[
        bool, typer.Option("--phoenix", help="Upload the run to Phoenix at its end")
    ] = False
    as_json: AsJson = False


@dataclass(frozen=True)
class _GridOptions:
    labels: LabelFile = LABELS
    split: Annotated[
        str, typer.Option(help="Parts of it, separated by commas (default: `test` if there is one)")
    ] = ""
    allow_unknown_gold: UnknownGold = False
    filter_by: FilterBy = ""
    target: Annotated[str, typer.Option(help="Targets, separated by commas")] = ""
    k: Annotated[str, typer.Option(*K, help="Numbers of passages, likewise")] = ""
    model: Annotated[str, typer.Option(help="Language models, likewise")] = ""
    reranker: Annotated[str, typer.Option(help="Rerankers, likewise")] = ""
    balance: Annotated[str, typer.Option(help="Balances, likewise")] = ""
    collection: CollectionChoice = ""
    search_only: SearchOnly = False
    parallel: Annotated[int, typer.Option(min=1, max=64, help="Questions at once")] = 1
    limit: Limit = None
    seed: Seed = 0
    today: Day = None
    require_llm: RequireModel = False
    out: RunDirectory = None
    resume: Resumed = None
    judge: Judge = False
    judge_target: JudgeTarget = ""
    judge_provider: JudgeProvider = ""
    judge_model: JudgeModelName = ""
    max_cost: MaxCost = None
    as_json: AsJson = False


_Options = _RunOptions | _GridOptions


def _check(context: typer.Context, options: _Options) -> None:
    """Raise AtlasError if options do not go together, or the judge cannot be asked."""
    require("eval", "An evaluation")
    if options.require_llm and options.search_only:
        raise RequestError("With --search-only no language model is asked. Leave out one.")
    only_with(context, "judge", *OF_THE_JUDGE)
    if options.judge:
        check_judge(_judge(options))
    if options.resume:
        only_options(context, *_GOING_ON)


def _judge(options: _Options) -> JudgeWanted:
    names = (options.judge_target, options.judge_provider, options.judge_model)
    return JudgeWanted(*names, max_cost=options.max_cost)


def _request(
    context: typer.Context, options: _Options, parallel: int, k: int | None = None
) -> RunRequest:
    return RunRequest(
        today=day_of(options.today),
        search_only=options.search_only,
        k=k,
        limit=options.limit,
        seed=options.seed,
        parallel=parallel,
        command=command_line(context),
    )


def _questions(
    options: _Options, split: str | None, collection: LabelCollection, wanted: RunRequest
) -> RunQuestions:
    return read_questions(
        options.labels,
        split,
        collection,
        wanted,
        allow_unknown_gold=options.allow_unknown_gold,
        filter_by=options.filter_by,
    )


def _run(context: typer.Context, options: _RunOptions) -> None:
    """Ask every question of a label set and print how good the answers are."""
    if context.invoked_subcommand:
        no_options(context)
        return
    _check(context, options)
    folder, ended = _go_on(options.resume, options) if options.resume else _begin(context, options)
    written = write_reports(folder.path)
    _print_figures(ended.outcome.run, as_json=options.as_json)
    _say_how_it_ended(folder, ended.outcome, written)
    if ended.error:
        raise ended.error
    if options.phoenix:
        print(f"In Phoenix: {show_in_phoenix([folder])}", file=sys.stderr)
    status = status_of(ended.outcome, require_llm=options.require_llm)
    sys.exit(status or bool(written.faults) or not ended.judged)


def _begin(context: typer.Context, options: _RunOptions) -> tuple[RunFolder, _Ended]:
    where = options.url or PROCESS
    if options.audit_index:
        check_index_is_here(where)
    parallel = options.parallel or (REMOTE_PARALLEL if options.url else 1)
    wanted = _request(context, options, parallel, options.k)
    folder = RunFolder(options.out or load_settings().atlas_evaluation_directory / wanted.id)
    with open_subject(where, options.collection, options.target) as subject:
        questions = _questions(options, options.split, subject.documents, wanted)
        if options.require_llm:
            require_language_model(subject)
        begin_run(folder, subject, questions, wanted)
        return folder, _carry_out(folder, subject, None, options)


def _go_on(path: Path, options: _RunOptions) -> tuple[RunFolder, _Ended]:
    folder = RunFolder(path)
    spec = folder.spec()
    if options.audit_index:
        check_index_is_here(spec.where)
    with open_subject(spec.where, spec.collection, spec.target) as subject:
        check_same(folder, subject)
        if options.require_llm:
            require_language_model(subject)
        return folder, _carry_out(folder, subject, options.parallel, options)


def _carry_out(
    folder: RunFolder, subject: Subject, parallel: int | None, options: _RunOptions
) -> _Ended:
    """Ask, audit and judge; an error ends the run and is returned with what was done so far."""
    outcome, judged = None, True
    try:
        with asking_bar() as progress:
            outcome = carry_out(folder, subject, parallel=parallel, told=progress)
        if options.audit_index:
            outcome = with_index_audit(folder, subject, outcome)
        if options.judge and not outcome.stopped:
            with folder.naming("judge"):
                report = judge_run(load_settings(), folder, _judge(options))
            judged = report.metrics_source != "heuristic"
            outcome = replace(outcome, run=folder.load())
    except AtWork:
        raise
    except BaseException as error:  # an interrupt of the judge, too
        return _Ended(outcome or so_far(folder), error=error)
    return _Ended(outcome, judged)


def _print_figures(run: EvalRun, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(_plain(run), indent=2))
    elif run.scored:
        split = f", {run.spec.labels.split} split" if run.spec.labels.split else ""
        table = evaluation_table(f"{run.spec.target}{split}", run.scored)
        recall, asked = run.spec.index_recall, run.spec.index_asked
        audited = [index_table(recall, asked)] if recall else []
        Console(width=WIDTH).print(table, *audited)


def _say_how_it_ended(folder: RunFolder, outcome: RunOutcome, written: ReportFiles) -> None:
    """Say where the run and its reports are, and what they lack."""
    lines = [f"The run is in {folder.path}.", *remarks_on(outcome), *written.remarks]
    if not outcome.complete:
        lines.append(f"Go on: atlas eval --resume {shlex.quote(str(folder.path))}")
    print(*lines, sep="\n", file=sys.stderr)


def _plain(run: EvalRun) -> dict[str, dict[str, dict[str, float]]]:
    groups = by_category(run.scored)
    groups["all"] |= run.spec.index_recall
    return {
        group: {name: asdict(figure) for name, figure in summary.items()}
        for group, summary in groups.items()
    }


def _grid(context: typer.Context, options: _GridOptions) -> None:
    """Ask every question of every combination, each a run of its own, and print one table."""
    _check(context, options)
    begun = _grid_again(options.resume, options) if options.resume else _new_grid(context, options)
    grid, cells = begun
    judged = _judged(grid, cells, _judge(options)) if options.judge else True
    rows = [grid_row(cell) for cell in cells]
    replace_file(grid.path / "grid.csv", grid_csv(rows))
    replace_file(grid.path / "grid.md", grid_markdown(rows))
    _print_tables(rows, as_json=options.as_json)
    written = _end_grid(grid, cells)
    status = max(status_of(cell.outcome, require_llm=options.require_llm) for cell in cells)
    sys.exit(status or bool(written.faults) or not judged)


def _new_grid(context: typer.Context, options: _GridOptions) -> tuple[Grid, list[GridCell]]:
    wanted = _request(context, options, options.parallel)
    settings = settings_for(options.collection)
    grid = Grid(options.out or settings.atlas_evaluation_directory / f"grid-{wanted.id}")
    with ExitStack() as opened:
        with grid.beginning() as made:
            chosen = made.write_targets(_axes(options, settings), settings)
            atlas = opened.enter_context(made.open(options.collection, chosen[0]))
            splits: Sequence[str | None] = listed(options.split) or [None]
            asked = [_questions(options, name, OpenCollection(atlas), wanted) for name in splits]
            if options.require_llm:
                _require_models(atlas, chosen)
            questions = {each.split or EVERY_SPLIT: each for each in asked}
            begin_grid(made, atlas, chosen, questions, wanted)
        return grid, list(carry_out_grid(grid, atlas, asking_bar, parallel=options.parallel))


def _grid_again(path: Path, options: _GridOptions) -> tuple[Grid, list[GridCell]]:
    grid = Grid(path)
    runs = grid.spec().runs
    with grid.open(grid.spec().collection, runs[0].configuration) as atlas:
        if options.require_llm:
            _require_models(atlas, [run.configuration for run in runs])
        return grid, list(carry_out_grid(grid, atlas, asking_bar, parallel=options.parallel))


def _judged(grid: Grid, cells: Sequence[GridCell], by: JudgeWanted) -> bool:
    """Judge each run, none after an interrupt; return True if the judge gave a figure in all.

    A run that cannot be judged is named, in its reports too, and costs no other. `--max-cost` is
    for each.
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


def _axes(options: _GridOptions, settings: Settings) -> Axes:
    return Axes(
        targets=listed(options.target) or [settings.test_target],
        k=_numbers(options.k),
        models=listed(options.model),
        rerankers=listed(options.reranker),
        balances=listed(options.balance),
    )


def _numbers(text: str) -> list[int]:
    try:
        return [int(number) for number in listed(text)]
    except ValueError as error:
        raise RequestError(f"--k {text}: give whole numbers, separated by commas.") from error


def _require_models(atlas: Atlas, configurations: Iterable[Configuration]) -> None:
    for configuration in dict.fromkeys(configurations):
        require_language_model(ProcessSubject(atlas, configuration.name))


def _print_tables(rows: Sequence[GridRow], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(grid_document(rows), indent=2))
        return
    console = Console()
    for table in grid_tables(rows):
        print_whole(console, table)


def _end_grid(grid: Grid, cells: Sequence[GridCell]) -> ReportFiles:
    """Say where the runs are and what they lack, and write their reports."""
    written = write_reports(grid.path)
    lines = [f"The grid is in {grid.path}: grid.csv, grid.md, and a folder for each run."]
    lines += written.remarks
    remarks = ((cell.run.folder, " ".join(remarks_on(cell.outcome))) for cell in cells)
    lines += [f"{folder}: {remark}" for folder, remark in remarks if remark]
    if not all(cell.outcome.complete for cell in cells):
        lines.append(f"Go on: atlas eval grid --resume {shlex.quote(str(grid.path))}")
    print(*lines, sep="\n", file=sys.stderr)
    return written


eval_app = typer.Typer(help="How good a target is.", invoke_without_command=True)
eval_app.callback()(command_with(_RunOptions, _run))
eval_app.command("compare")(compare_command)
eval_app.command("gate")(gate_command)
eval_app.command("baseline")(baseline_command)
eval_app.command("grid")(command_with(_GridOptions, _grid))
eval_app.command("label")(label_command)
eval_app.command("rate")(rate_command)
eval_app.command("agreement")(agreement_command)
eval_app.command("phoenix")(phoenix_command)
eval_app.command("report")(report_command)
eval_app.command("export")(export_command)
eval_app.command("judge")(judge_command)
