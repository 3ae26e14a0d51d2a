"""`atlas eval`: how good a target is."""

import json
import shlex
import sys
from dataclasses import asdict, dataclass, replace
from typing import Annotated

import typer
from rich.console import Console

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
from atlas_search.cli.options import AsJson, TargetChoice
from atlas_search.core.registry import require
from atlas_search.core.settings import load_settings
from atlas_search.evaluation.folder import AtWork, RunFolder
from atlas_search.evaluation.judge.open import JudgeWanted, Measures
from atlas_search.evaluation.report import WIDTH, evaluation_table, index_table
from atlas_search.evaluation.reports.write import Written, write_reports
from atlas_search.evaluation.run import PROCESS, EvalRun
from atlas_search.evaluation.runs.audit import check_index_is_here, with_index_audit
from atlas_search.evaluation.runs.begin import (
    Wanted,
    begin_run,
    check_same,
)
from atlas_search.evaluation.runs.carry_out import Outcome, carry_out, so_far
from atlas_search.evaluation.runs.language_model import require_language_model
from atlas_search.evaluation.runs.open import open_subject
from atlas_search.evaluation.runs.subject import Subject
from atlas_search.evaluation.scored import by_category

REMOTE_PARALLEL = 4


@dataclass(frozen=True)
class _Asked:
    """What a run is to end with besides its figures."""

    require_llm: bool
    audit_index: bool
    judge: JudgeWanted | None


@dataclass(frozen=True)
class _Ended:
    """A run as far as it came; `judged` unless a judge gave no figure."""

    outcome: Outcome
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
    judge: Judge = False,
    judge_target: JudgeTarget = "",
    judge_provider: JudgeProvider = "",
    judge_model: JudgeModelName = "",
    judge_measures: JudgeMeasures = Measures.OWN,
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
    by = JudgeWanted(
        judge_target,
        judge_provider,
        judge_model,
        max_cost=max_cost,
        measures=judge_measures,
    )
    if judge:
        check_judge(by)
    asked = _Asked(require_llm, audit_index, by if judge else None)
    if resume:
        only_options(
            context,
            *("resume", "parallel", "require_llm", "audit_index", "as_json"),
            *("judge", *OF_THE_JUDGE, "phoenix"),
        )
        folder = RunFolder(resume)
        ended = _go_on(folder, parallel, asked)
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
            ended = _carry_out(folder, subject, None, asked)
    written = write_reports(folder.path)
    _print_figures(ended.outcome.run, as_json=as_json)
    _say_how_it_ended(folder, ended.outcome, written)
    if ended.error:
        raise ended.error
    if phoenix:
        print(f"In Phoenix: {show_in_phoenix([folder])}", file=sys.stderr)
    status = status_of(ended.outcome, require_llm=require_llm)
    sys.exit(status or bool(written.faults) or not ended.judged)


def _go_on(folder: RunFolder, parallel: int | None, asked: _Asked) -> _Ended:
    spec = folder.spec()
    if asked.audit_index:
        check_index_is_here(spec.where)
    with open_subject(spec.where, spec.collection, spec.target) as subject:
        check_same(folder, subject)
        if asked.require_llm:
            require_language_model(subject)
        return _carry_out(folder, subject, parallel, asked)


def _carry_out(folder: RunFolder, subject: Subject, parallel: int | None, asked: _Asked) -> _Ended:
    """Ask, audit and judge; what came of it is told, whatever fails."""
    outcome, judged = None, True
    try:
        with asking_bar() as told:
            outcome = carry_out(folder, subject, parallel=parallel, told=told)
        if asked.audit_index:
            outcome = with_index_audit(folder, subject, outcome)
        if asked.judge and not outcome.stopped:
            with folder.naming("judge"):
                report = judge_run(load_settings(), folder, asked.judge)
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


def _say_how_it_ended(folder: RunFolder, outcome: Outcome, written: Written) -> None:
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
