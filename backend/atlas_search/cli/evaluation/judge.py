"""`atlas eval judge`: a language model judges the replies of a run that is finished."""

import sys
from collections.abc import Iterable
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from atlas_search.cli.ask import printable
from atlas_search.cli.asking_bar import asking_bar
from atlas_search.cli.evaluation.options import RunName
from atlas_search.cli.evaluation.run_folders import run_folder
from atlas_search.cli.options import AsJson
from atlas_search.core.registry import require
from atlas_search.core.settings import Settings, load_settings
from atlas_search.evaluation.folder import RunFolder
from atlas_search.evaluation.judge.open import JudgeWanted, Measures, open_panel
from atlas_search.evaluation.judge.panel import PASSAGE_TOKENS, VOTES
from atlas_search.evaluation.judge.people import PersonVote, Scale, approval
from atlas_search.evaluation.judge.report import JudgeReport
from atlas_search.evaluation.judge.run_folder import judge_folder
from atlas_search.evaluation.metrics.metric import Tools
from atlas_search.evaluation.people.ratings import Ratings, answer_digests
from atlas_search.evaluation.reports.write import write_reports
from atlas_search.evaluation.run import means
from atlas_search.evaluation.scored import Scored, Source
from atlas_search.providers.open import open_embedder
from atlas_search.server.feedback.delivery import open_store
from atlas_search.server.feedback.store import Rating, Wanted

OF_THE_JUDGE = ("judge_target", "judge_provider", "judge_model", "judge_measures", "max_cost")
"""Options that only a judge heeds."""

Judge = Annotated[bool, typer.Option("--judge", help="Let a language model judge the answers then")]
JudgeTarget = Annotated[
    str, typer.Option(help="Target whose model, time and prices count (default: TEST_TARGET)")
]
JudgeProvider = Annotated[str, typer.Option(help="Provider of the judge, in place of the target's")]
JudgeModelName = Annotated[str, typer.Option("--judge-model", help="Its model, likewise")]
JudgeMeasures = Annotated[
    Measures,
    typer.Option(help="Atlas' own measures, or those of the libraries RAGAS and DeepEval"),
]
Votes = Annotated[
    int | None,
    typer.Option("--judge-votes", min=1, help=f"Times it is asked; odd (default: {VOTES})"),
]
MaxCost = Annotated[
    float | None,
    typer.Option(min=0, help="Most to spend, in the currency of the target's prices"),
]
PassageTokens = Annotated[
    int | None,
    typer.Option(
        "--judge-tokens",
        min=100,
        help=f"Tokens of passages in one call (default: {PASSAGE_TOKENS})",
    ),
]
Parallel = Annotated[int, typer.Option(min=1, max=64, help="Questions judged at once")]

_SOURCES: tuple[Source, ...] = ("judge", "fixed", "heuristic")
_MARKED: tuple[Scale, ...] = ("accuracy", "relevance", "corpus_fidelity")


def judge_command(
    run: RunName,
    judge_target: JudgeTarget = "",
    judge_provider: JudgeProvider = "",
    judge_model: JudgeModelName = "",
    judge_measures: JudgeMeasures = Measures.OWN,
    judge_votes: Votes = None,
    max_cost: MaxCost = None,
    judge_tokens: PassageTokens = None,
    parallel: Parallel = 4,
    as_json: AsJson = False,
) -> None:
    """Let a language model judge the replies of a run; what it does not judge stays estimated."""
    require("eval", "An evaluation")
    wanted = JudgeWanted(
        judge_target,
        judge_provider,
        judge_model,
        judge_votes,
        max_cost,
        judge_tokens,
        parallel,
        judge_measures,
    )
    folder = RunFolder(run_folder(run))
    report = judge_run(load_settings(), folder, wanted)
    if as_json:
        print(report.model_dump_json(indent=2))
    else:
        Console().print(_table(report, folder.load().scored))
    written = write_reports(folder.path)
    print(*written.remarks, sep="\n", file=sys.stderr)
    sys.exit(int(report.metrics_source == "heuristic" or bool(written.faults)))


def check_judge(wanted: JudgeWanted) -> None:
    """Raise AtlasError if there is no such judge: before anything is asked that it is to judge."""
    with open_panel(load_settings(), wanted):
        pass


def judge_run(settings: Settings, folder: RunFolder, wanted: JudgeWanted) -> JudgeReport:
    """Judge a run that is finished, and say on stderr what it took. Raises AtlasError."""
    collection = folder.spec().collection
    votes = [vote_of(one) for one in open_store(settings).every(Wanted(collection=collection))]
    votes += rated_votes(folder)
    tools = Tools(open_embedder(settings))
    parallel = min(wanted.parallel, settings.llm_concurrency)  # more would only wait, and too long
    with open_panel(settings, wanted) as panel, asking_bar("Judging") as told:
        report = judge_folder(folder, panel, tools, votes, parallel=parallel, told=told)
    print(*map(printable, remarks_on(report)), sep="\n", file=sys.stderr)
    return report


def rated_votes(folder: RunFolder) -> list[PersonVote]:
    """What those said who rated the answers of a run, on scales that the judge has too.

    A mark above the middle of its scale approves, one in the middle says neither.
    """
    ratings = Ratings(folder.path)
    middle = {scale.name: (scale.low + scale.high) / 2 for scale in ratings.scales()}
    replies = folder.replies()
    answers = {label: reply.answer for label, reply in replies.items()}
    return [
        PersonVote(
            answer.session_id,
            answer.qa_id,
            answer.question,
            answer.answer or "",
            {
                scale: rating.scores[scale] > middle[scale]
                for scale in _MARKED
                if rating.scores.get(scale, middle.get(scale)) != middle.get(scale)
            },
        )
        for rating in ratings.all(answer_digests(replies))
        if (answer := answers.get(rating.label_id))
    ]


def vote_of(rating: Rating) -> PersonVote:
    """What somebody said of an answer, as approval."""
    answer, vote = rating.answer, rating.vote
    said: dict[Scale, bool | None] = {
        scale: approval(vote.scores[scale]) for scale in _MARKED if scale in vote.scores
    }
    if vote.thumb:
        said["thumb"] = vote.thumb == "up"
    return PersonVote(
        answer.session_id,
        answer.qa_id,
        answer.question,
        answer.answer if answer.decision == "ANSWER" else "",
        {scale: approves for scale, approves in said.items() if approves is not None},
    )


def remarks_on(report: JudgeReport) -> list[str]:
    """What is to be said of a judging, a sentence for each thing."""
    return [
        f"metrics_source: {report.metrics_source}, by {report.provider}/{report.model}.",
        *_measured_by(report),
        f"{report.calls} calls, {report.prompt_tokens} tokens read, {report.completion_tokens} "
        f"written, cost {'unknown' if report.cost is None else f'{report.cost:.4f}'}.",
        *_agreements(report),
        *(f"{count} figures are estimates: {note}" for note, count in report.notes.items()),
        *([_split(report)] if report.split else []),
    ]


def _measured_by(report: JudgeReport) -> Iterable[str]:
    if report.libraries:
        named = (f"{name} {version}" for name, version in report.libraries.items())
        yield f"Measured by {' and '.join(named)}."


def _agreements(report: JudgeReport) -> Iterable[str]:
    if report.judge_agreement is not None:
        yield f"Agreement of its votes: {report.judge_agreement:.3f}."
    for one in report.people:
        kappa = "undefined" if one.kappa is None else f"{one.kappa:.3f}"
        yield (
            f"With people's {one.scale} ({one.metric}): kappa {kappa}, {one.agreeing:.1%} of "
            f"{one.count} votes agree."
        )


def _split(report: JudgeReport) -> str:
    return (
        f"The passages of {report.split} figures were shown in several calls: they did not fit "
        "into one (--judge-tokens)."
    )


def _table(report: JudgeReport, scored: Iterable[Scored]) -> Table:
    figures = means(list(scored))
    table = Table("Figure", "Mean", "By the judge", "Fixed", "Estimated", box=None)
    for name, counts in report.sources.items():
        given = (str(counts.get(source, 0)) for source in _SOURCES)
        table.add_row(name, f"{figures[name]:.3f}", *given)
    return table
