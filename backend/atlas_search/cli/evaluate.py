"""`atlas eval`: run a label set, or a grid of configurations."""

import json
import shlex
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
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
    check_model_is_asked,
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
from atlas_search.cli.options import AsJson, K, TargetChoice
from atlas_search.core.errors import AtlasError, RequestError
from atlas_search.core.registry import require
from atlas_search.core.settings import listed, load_settings
from atlas_search.evaluation.carry_out import (
    ProcessSubject,
    RunOutcome,
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
from atlas_search.evaluation.label_set import EVERY_SPLIT
from atlas_search.evaluation.remote import open_subject
from atlas_search.evaluation.report_analysis import WIDTH, evaluation_table, index_table
from atlas_search.evaluation.report_files import ReportFiles, write_reports
from atlas_search.evaluation.run import PROCESS, EvalRun
from atlas_search.evaluation.scored import by_category

REMOTE_PARALLEL = 4


@dataclass(frozen=True)
class _Demands:
    """Demands on a run besides its figures."""

    require_llm: bool
    audit_index: bool
    judge: JudgeWanted | None


@dataclass(frozen=True)
class _Ended:
    """A run as far as it came; `judged` unless a judge gave no figure."""

    outcome: RunOutcome
    judged: bool = True
    error: BaseException | None = None


def run_command(
    context: typer.Context,
    labels: LabelFile = LABELS,
    split: Annotated[
        str | None,
        typer.Option(help="Which part of it, or `all` (default: `test` if there is one)"),
    ] = None,
    allow_unknown_gold: UnknownGold = False,
    filter_by: FilterBy = "",
    target: TargetChoice = None,
    url: Annotated[
        str, typer.Option(help="Address of a running server to ask, with ATLAS_API_KEY")
    ] = "",
    collection: CollectionChoice = "",
    search_only: SearchOnly = False,
    k: Annotated[
        int | None, typer.Option(*K, min=1, max=100, help="Passages (default: the target's)")
    ] = None,
    parallel: Annotated[
        int | None,
        typer.Option(min=1, max=64, help="Questions at once (default: 1, of a server 4)"),
    ] = None,
    limit: Limit = None,
    seed: Seed = 0,
    today: Day = None,
    require_llm: RequireModel = False,
    audit_index: AuditIndex = False,
    out: RunDirectory = None,
    resume: Resumed = None,
    judge: Judge = False,
    judge_target: JudgeTarget = "",
    judge_provider: JudgeProvider = "",
    judge_model: JudgeModelName = "",
    max_cost: MaxCost = None,
    phoenix: Annotated[
        bool, typer.Option("--phoenix", help="Upload the run to Phoenix at its end")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Ask every question of a label set and print how good the answers are."""
    if context.invoked_subcommand:
        no_options(context)
        return
    require("eval", "An evaluation")
    check_model_is_asked(require_llm=require_llm, search_only=search_only)
    only_with(context, "judge", *OF_THE_JUDGE)
    by = JudgeWanted(judge_target, judge_provider, judge_model, max_cost=max_cost)
    if judge:
        check_judge(by)
    demands = _Demands(require_llm, audit_index, by if judge else None)
    if resume:
        only_options(
            context,
            *("resume", "parallel", "require_llm", "audit_index", "as_json"),
            *("judge", *OF_THE_JUDGE, "phoenix"),
        )
        folder = RunFolder(resume)
        ended = _go_on(folder, parallel, demands)
    else:
        if audit_index:
            check_index_is_here(url or PROCESS)
        wanted = RunRequest(
            today=day_of(today),
            search_only=search_only,
            k=k,
            limit=limit,
            seed=seed,
            parallel=parallel or (REMOTE_PARALLEL if url else 1),
            command=command_line(context),
        )
        folder = RunFolder(out or load_settings().atlas_evaluation_directory / wanted.id)
        with open_subject(url or PROCESS, collection, target) as subject:
            questions = read_questions(
                labels,
                split,
                subject.documents,
                wanted,
                allow_unknown_gold=allow_unknown_gold,
                filter_by=filter_by,
            )
            if require_llm:
                require_language_model(subject)
            begin_run(folder, subject, questions, wanted)
            ended = _carry_out(folder, subject, None, demands)
    written = write_reports(folder.path)
    _print_figures(ended.outcome.run, as_json=as_json)
    _say_how_it_ended(folder, ended.outcome, written)
    if ended.error:
        raise ended.error
    if phoenix:
        print(f"In Phoenix: {show_in_phoenix([folder])}", file=sys.stderr)
    status = status_of(ended.outcome, require_llm=require_llm)
    sys.exit(status or bool(written.faults) or not ended.judged)


def _go_on(folder: RunFolder, parallel: int | None, demands: _Demands) -> _Ended:
    spec = folder.spec()
    if demands.audit_index:
        check_index_is_here(spec.where)
    with open_subject(spec.where, spec.collection, spec.target) as subject:
        check_same(folder, subject)
        if demands.require_llm:
            require_language_model(subject)
        return _carry_out(folder, subject, parallel, demands)


def _carry_out(
    folder: RunFolder, subject: Subject, parallel: int | None, demands: _Demands
) -> _Ended:
    """Ask, audit and judge; an error ends the run and is returned with what was done so far."""
    outcome, judged = None, True
    try:
        with asking_bar() as progress:
            outcome = carry_out(folder, subject, parallel=parallel, told=progress)
        if demands.audit_index:
            outcome = with_index_audit(folder, subject, outcome)
        if demands.judge and not outcome.stopped:
            with folder.naming("judge"):
                report = judge_run(load_settings(), folder, demands.judge)
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


def grid_command(
    context: typer.Context,
    labels: LabelFile = LABELS,
    split: Annotated[
        str, typer.Option(help="Parts of it, separated by commas (default: `test` if there is one)")
    ] = "",
    allow_unknown_gold: UnknownGold = False,
    filter_by: FilterBy = "",
    target: Annotated[str, typer.Option(help="Targets, separated by commas")] = "",
    k: Annotated[str, typer.Option(*K, help="Numbers of passages, likewise")] = "",
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
    max_cost: MaxCost = None,
    as_json: AsJson = False,
) -> None:
    """Ask every question of every combination, each a run of its own, and print one table."""
    require("eval", "An evaluation")
    check_model_is_asked(require_llm=require_llm, search_only=search_only)
    only_with(context, "judge", *OF_THE_JUDGE)
    by = JudgeWanted(judge_target, judge_provider, judge_model, max_cost=max_cost)
    if judge:
        check_judge(by)
    if resume:
        only_options(
            context, *("resume", "parallel", "require_llm", "as_json", "judge"), *OF_THE_JUDGE
        )
        grid = Grid(resume)
        first = grid.spec().runs[0].configuration
        with grid.open(grid.spec().collection, first) as atlas:
            if require_llm:
                _require_models(atlas, [run.configuration for run in grid.spec().runs])
            cells = list(carry_out_grid(grid, atlas, asking_bar, parallel=parallel))
    else:
        wanted = RunRequest(
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
                atlas = opened.enter_context(made.open(collection, chosen[0]))
                splits: Sequence[str | None] = listed(split) or [None]
                documents = ProcessSubject(atlas, chosen[0].name).documents
                question_sets = [
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
                questions = {each.split or EVERY_SPLIT: each for each in question_sets}
                begin_grid(made, atlas, chosen, questions, wanted)
            cells = list(carry_out_grid(grid, atlas, asking_bar, parallel=parallel))
    judged = _judged(grid, cells, by) if judge else True
    rows = [grid_row(cell) for cell in cells]
    replace_file(grid.path / "grid.csv", grid_csv(rows))
    replace_file(grid.path / "grid.md", grid_markdown(rows))
    _print_tables(rows, as_json=as_json)
    written = _end_grid(grid, cells)
    status = max(status_of(cell.outcome, require_llm=require_llm) for cell in cells)
    sys.exit(status or bool(written.faults) or not judged)


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
eval_app.callback()(run_command)
eval_app.command("compare")(compare_command)
eval_app.command("gate")(gate_command)
eval_app.command("baseline")(baseline_command)
eval_app.command("grid")(grid_command)
eval_app.command("label")(label_command)
eval_app.command("rate")(rate_command)
eval_app.command("agreement")(agreement_command)
eval_app.command("phoenix")(phoenix_command)
eval_app.command("report")(report_command)
eval_app.command("export")(export_command)
eval_app.command("judge")(judge_command)
