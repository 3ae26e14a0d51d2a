"""`atlas eval`: how good a target is."""

import json
import shlex
import sys
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console

from atlas_search.cli.asking_bar import asking_bar
from atlas_search.cli.choices import AsJson, TargetChoice
from atlas_search.cli.evaluation.judge import (
    JudgeModelName,
    JudgeProvider,
    JudgeTarget,
    MaxCost,
    check_judge,
    judge_run,
)
from atlas_search.cli.evaluation.options import (
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
    check_model_is_asked,
    command_line,
    day_of,
    no_options,
    only_options,
    only_with,
    read_questions,
)
from atlas_search.cli.evaluation.outcome import remarks_on, status_of
from atlas_search.cli.evaluation.phoenix import show_in_phoenix
from atlas_search.core.registry import require
from atlas_search.core.settings import load_settings
from atlas_search.evaluation.folder import RunFolder
from atlas_search.evaluation.judge.open import JudgeWanted
from atlas_search.evaluation.report import WIDTH, evaluation_table, index_table
from atlas_search.evaluation.reports.write import Written, write_reports
from atlas_search.evaluation.run import PROCESS, EvalRun
from atlas_search.evaluation.runs.audit import check_index_is_here, with_index_audit
from atlas_search.evaluation.runs.begin import (
    Wanted,
    begin_run,
    check_same,
)
from atlas_search.evaluation.runs.carry_out import Outcome, carry_out
from atlas_search.evaluation.runs.language_model import require_language_model
from atlas_search.evaluation.runs.open import open_subject
from atlas_search.evaluation.scored import by_category

REMOTE_PARALLEL = 4

_OF_THE_JUDGE = ("judge_target", "judge_provider", "judge_model", "max_cost")


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
        int | None, typer.Option("--k", min=1, max=100, help="Passages (default: the target's)")
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
    judge: Annotated[
        bool, typer.Option("--judge", help="Let a language model judge the answers then")
    ] = False,
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
    only_with(context, "judge", *_OF_THE_JUDGE)
    by = JudgeWanted(judge_target, judge_provider, judge_model, max_cost=max_cost)
    if judge:
        check_judge(by)
    if resume:
        only_options(
            context,
            *("resume", "parallel", "require_llm", "audit_index", "as_json"),
            *("judge", *_OF_THE_JUDGE, "phoenix"),
        )
        folder = RunFolder(resume)
        outcome = _go_on(folder, parallel, require_llm=require_llm, audit_index=audit_index)
    else:
        if audit_index:
            check_index_is_here(url or PROCESS)
        wanted = Wanted(
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
            with asking_bar() as told:
                outcome = carry_out(folder, subject, told=told)
            if audit_index:
                outcome = with_index_audit(folder, subject, outcome)
    judged = True
    try:
        if judge and not outcome.stopped:
            judged = judge_run(load_settings(), folder, by).metrics_source != "heuristic"
    finally:  # what was asked is told, whatever becomes of its judge
        _print_figures(folder.load() if judge else outcome.run, as_json=as_json)
        written = _say_how_it_ended(folder, outcome)
    if phoenix:
        print(f"In Phoenix: {show_in_phoenix([folder])}", file=sys.stderr)
    sys.exit(status_of(outcome, require_llm=require_llm) or bool(written.faults) or not judged)


def _go_on(
    folder: RunFolder, parallel: int | None, *, require_llm: bool, audit_index: bool
) -> Outcome:
    spec = folder.spec()
    if audit_index:
        check_index_is_here(spec.where)
    with open_subject(spec.where, spec.collection, spec.target) as subject:
        check_same(folder, subject)
        if require_llm:
            require_language_model(subject)
        with asking_bar() as told:
            outcome = carry_out(folder, subject, parallel=parallel, told=told)
        return with_index_audit(folder, subject, outcome) if audit_index else outcome


def _print_figures(run: EvalRun, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(_plain(run), indent=2))
    elif run.scored:
        split = f", {run.spec.labels.split} split" if run.spec.labels.split else ""
        table = evaluation_table(f"{run.spec.target}{split}", run.scored)
        recall, asked = run.spec.index_recall, run.spec.index_asked
        audited = [index_table(recall, asked)] if recall else []
        Console(width=WIDTH).print(table, *audited)


def _say_how_it_ended(folder: RunFolder, outcome: Outcome) -> Written:
    """Say where the run is and what it lacks, and write its reports."""
    written = write_reports(folder.path)
    lines = [f"The run is in {folder.path}.", *remarks_on(outcome), *written.remarks]
    if not outcome.complete:
        lines.append(f"Go on: atlas eval --resume {shlex.quote(str(folder.path))}")
    print(*lines, sep="\n", file=sys.stderr)
    return written


def _plain(run: EvalRun) -> dict[str, dict[str, dict[str, float]]]:
    groups = by_category(run.scored)
    groups["all"] |= run.spec.index_recall
    return {
        group: {name: asdict(figure) for name, figure in summary.items()}
        for group, summary in groups.items()
    }
