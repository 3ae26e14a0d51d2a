"""`atlas traces`: what Phoenix holds of requests, checked and compared.

What `atlas traces` prints: tables for people, documents for programs. Ids and figures; questions
only where they are asked for.
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from typer.core import TyperGroup

from atlas_search.cli.ask import print_whole, printable, printable_json
from atlas_search.cli.options import AsJson
from atlas_search.core.errors import RequestError
from atlas_search.core.settings import load_settings
from atlas_search.core.telemetry.span import digest
from atlas_search.documents.export import csv_text
from atlas_search.evaluation.traces import (
    REASONS,
    SEARCHING,
    AnswerPair,
    CommonQuestions,
    CorpusDepth,
    DepthCheck,
    LeftOut,
    Marks,
    PhoenixProject,
    Side,
    Spent,
    Told,
    Trace,
    TraceFilter,
    Unequal,
    check_depth,
    compare_sides,
    open_phoenix,
    pair_traces,
)

_HEADS = (
    "Time (UTC)",
    "Kind",
    "Target",
    "Seconds",
    "Outcome",
    "Candidates",
    "Imbalance",
    "Tokens",
    "Feedback",
    "Trace",
)

_STAGES = ("depth", "candidates", "kept", "cited")

_COLUMNS = (
    "started",
    "kind",
    "target",
    "composite_target",
    "corpus_filter",
    "outcome",
    "seconds",
    *(f"imbalance.{stage}" for stage in _STAGES),
    "trace_id",
)
"""The columns of a table to chart; counts by corpus come after them."""

_FIGURES: Mapping[str, Callable[[Side], str]] = {
    "answers": lambda side: str(side.answers),
    "seconds, p50": lambda side: f"{side.seconds_p50:.2f}",
    "seconds, p95": lambda side: f"{side.seconds_p95:.2f}",
    "decisions": lambda side: _listed(side.decisions),
    "tokens in, out": lambda side: _tokens(side.spent),
    "cost": lambda side: "" if side.spent.cost is None else f"{side.spent.cost:.4f}",
    "citations, mean": lambda side: f"{side.citations:.1f}",
    "imbalance, mean": lambda side: _imbalance(side.imbalance),
    "feedback": lambda side: _feedback(side.marks),
}
"""The rows that set two targets side by side."""


def trace_table(traces: Sequence[Told], *, with_questions: bool) -> Table:
    """A row for each trace, in their order."""
    table = Table(*_HEADS, *(("Question",) if with_questions else ()))
    for row in traces:
        question = (row.trace.question,) if with_questions else ()
        _add(table, *_cells(row), *question)
    return table


def trace_document(told: Told, *, with_question: bool) -> dict[str, Any]:
    """All figures of a trace."""
    trace = told.trace
    document = {
        **_named(trace),
        "span_id": trace.span_id,
        "collection": trace.collection,
        "corpus_filter": trace.corpus_filter,
        "seconds": trace.seconds,
        "outcome": trace.outcome,
        "citations": trace.citations,
        "imbalance": dict(trace.imbalance),
        **asdict(trace.counts),
        **asdict(told.spent),
        "feedback": _plain_marks(told.marks),
    }
    return document | ({"question": trace.question} if with_question else {})


def trace_csv(traces: Sequence[Trace]) -> str:
    """A row for each trace, in their order: how even it was at each stage, and by what counts.

    A cell is empty where the trace has no value.
    """
    rows = [_row(trace) for trace in traces]
    counts = dict.fromkeys(sorted({name for row in rows for name in row}.difference(_COLUMNS)))
    return csv_text([*_COLUMNS, *counts], rows)


def depth_table(unequal: Sequence[Unequal]) -> Table:
    """A row for each request whose corpora were not searched to the same depth."""
    table = Table("Time (UTC)", "Kind", "Target", "Depth", "By meaning", "By words", "Trace")
    for each in unequal:
        trace = each.trace
        dense = (f"{of.corpus} {of.dense} of {of.due}" for of in each.corpora)
        lexical = (f"{of.corpus} {of.lexical}" for of in each.corpora)
        depth = str(trace.counts.depth)
        listed = (", ".join(dense), ", ".join(lexical))
        _add(table, _time(trace), trace.kind, _target(trace), depth, *listed, trace.trace_id)
    return table


def depth_document(found: DepthCheck) -> dict[str, Any]:
    """Return the result of a check."""
    return {
        "checked": found.checked,
        **{str(verdict): count for verdict, count in found.verdicts.items()},
        "first": found.first and found.first.isoformat(),
        "last": found.last and found.last.isoformat(),
        "requests": [
            {
                **_named(each.trace),
                "depth": each.trace.counts.depth,
                "corpora": {of.corpus: _plain_depth(of) for of in each.corpora},
            }
            for each in found.unequal
        ],
    }


def side_table(sides: Sequence[Side]) -> Table:
    """A column for each target."""
    table = Table("", *(escape(printable(side.name)) for side in sides))
    for name, figure in _FIGURES.items():
        _add(table, name, *(figure(side) for side in sides))
    return table


def side_document(side: Side, left_out: Mapping[LeftOut, int]) -> dict[str, Any]:
    """The figures of a target, and how many answers are not in them."""
    return {
        "name": side.name,
        "answers": side.answers,
        "seconds_p50": side.seconds_p50,
        "seconds_p95": side.seconds_p95,
        "decisions": dict(side.decisions),
        **asdict(side.spent),
        "citations": side.citations,
        "imbalance": dict(side.imbalance),
        "feedback": _plain_marks(side.marks),
        "left_out": {str(reason): count for reason, count in left_out.items()},
    }


def pair_table(pairs: Iterable[AnswerPair], *, with_questions: bool) -> Table:
    """A row for each common question, with both answers."""
    table = Table("Question", "Corpora", "Decisions", "Seconds", "Cited by both", "Traces")
    for pair in pairs:
        both = (pair.first, pair.second)
        _add(
            table,
            pair.asked.question if with_questions else digest(pair.asked.question),
            pair.asked.corpus_filter,
            " / ".join(trace.decision for trace in both),
            " / ".join(f"{trace.seconds:.2f}" for trace in both),
            f"{pair.cited_by_both} of {pair.cited_by_either}",
            " / ".join(trace.trace_id for trace in both),
        )
    return table


def pair_document(pair: AnswerPair, *, with_question: bool) -> dict[str, Any]:
    """A common question, with both answers."""
    named = pair.asked.question if with_question else None
    return {
        **({"question": named} if named else {}),
        "question_digest": digest(pair.asked.question),
        "corpus_filter": pair.asked.corpus_filter,
        "mode": pair.asked.mode,
        "cited_by_both": pair.cited_by_both,
        "cited_by_either": pair.cited_by_either,
        "answers": [
            {
                **_named(trace),
                "decision": trace.decision,
                "seconds": trace.seconds,
                "citations": trace.citations,
            }
            for trace in (pair.first, pair.second)
        ],
    }


def _cells(row: Told) -> tuple[str, ...]:
    trace = row.trace
    return (
        _time(trace),
        trace.kind,
        _target(trace),
        f"{trace.seconds:.2f}",
        trace.outcome,
        _listed(trace.counts.candidates),
        _imbalance(trace.imbalance),
        _tokens(row.spent),
        _feedback(row.marks),
        trace.trace_id,
    )


def _row(trace: Trace) -> dict[str, object]:
    counts = {
        f"{stage}.{corpus}": count
        for stage in ("candidates", "kept", "cited")
        for corpus, count in getattr(trace.counts, stage).items()
    }
    return {
        **_named(trace),
        "corpus_filter": trace.corpus_filter,
        "outcome": trace.outcome,
        "seconds": round(trace.seconds, 3),
        **{f"imbalance.{stage}": trace.imbalance.get(stage) for stage in _STAGES},
        **counts,
    }


def _named(trace: Trace) -> dict[str, Any]:
    return {
        "trace_id": trace.trace_id,
        "started": trace.started.isoformat(),
        "kind": trace.kind,
        "target": trace.target,
        "composite_target": trace.composite_target,
    }


def _plain_depth(of: CorpusDepth) -> dict[str, int]:
    return {"dense": of.dense, "lexical": of.lexical, "due": of.due, "available": of.available}


def _plain_marks(marks: Mapping[str, Marks]) -> dict[str, Any]:
    return {name: asdict(each) for name, each in marks.items()}


def _add(table: Table, *cells: str) -> None:
    """A row of texts from Phoenix, which may hold anything."""
    table.add_row(*(escape(printable(cell)) for cell in cells))


def _time(trace: Trace) -> str:
    return f"{trace.started:%Y-%m-%d %H:%M:%S}"


def _target(trace: Trace) -> str:
    """The composite target, which says more."""
    return trace.composite_target or trace.target


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _imbalance(by_stage: Mapping[str, float]) -> str:
    return ", ".join(f"{stage} {by_stage[stage]:.2f}" for stage in _STAGES if stage in by_stage)


def _tokens(spent: Spent) -> str:
    any_tokens = spent.prompt_tokens or spent.completion_tokens
    return f"{spent.prompt_tokens}, {spent.completion_tokens}" if any_tokens else ""


def _feedback(marks: Mapping[str, Marks]) -> str:
    return ", ".join(f"{name} {each.mean:.2f} ({each.count})" for name, each in marks.items())


UNEQUAL = 1
UNCHECKED = 3
"""The status of a check that found nothing it could check; 2 is that of a wrong command."""

_AGO = re.compile(r"([1-9]\d{0,4})([mhd])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}


class ListFirst(TyperGroup):
    """Without the name of a command, `list` is meant."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: D102
        named = args and (not args[0].startswith("-") or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if named else ["list", *args])


traces_app = typer.Typer(cls=ListFirst, help="What Phoenix holds of requests; at first a list.")

Since = Annotated[
    str,
    typer.Option("--since", help="Begun then or later: a day, a time (UTC), or 30m, 24h, 7d ago"),
]
TargetChoice = Annotated[
    str, typer.Option("--target", help="Only of this target, or composite target")
]
WithQuestions = Annotated[
    bool, typer.Option("--questions", help="Show questions, where traces hold them")
]
Compared = Annotated[str, typer.Argument(help="A target, or a composite target")]


@traces_app.command("list")
def list_command(
    limit: Annotated[int, typer.Option(min=1, help="The last ones, so many")] = 20,
    since: Since = "",
    target: TargetChoice = "",
    kind: Annotated[
        list[str] | None, typer.Option("--kind", help="ask, search, create ...; repeatable")
    ] = None,
    questions: WithQuestions = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="A table to chart, the first begun first")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the last traces: what was asked of which target, what came of it, how evenly."""
    wanted = TraceFilter(kind or (), target, since_when(since, datetime.now(UTC)))
    phoenix = open_phoenix(load_settings())
    rows = list(phoenix.tell(islice(phoenix.traces(wanted), limit)))
    if as_json:
        documents = [trace_document(each, with_question=questions) for each in rows]
        print(printable_json({"traces": documents}))
        return
    if as_csv:
        print(trace_csv([each.trace for each in reversed(rows)]), end="")
        return
    print_whole(Console(), trace_table(rows, with_questions=questions))


@traces_app.command("check")
def check_command(since: Since = "7d", target: TargetChoice = "", as_json: AsJson = False) -> None:
    """Check that requests over all corpora were equally deep in each.

    Status 1 if one was not, 3 if none could be checked.
    """
    wanted = TraceFilter(SEARCHING, target, since_when(since, datetime.now(UTC)))
    check = check_depth(open_phoenix(load_settings()).traces(wanted))
    if as_json:
        print(printable_json(depth_document(check)))
    else:
        _print_check(Console(highlight=False), check)
    if check.unequal:
        sys.exit(UNEQUAL)
    if not check.checked:
        sys.exit(UNCHECKED)


@traces_app.command("compare")
def compare_command(
    first: Compared,
    second: Compared,
    since: Since = "30d",
    questions: WithQuestions = False,
    as_json: AsJson = False,
) -> None:
    """Set two targets side by side, over the questions that both were asked."""
    phoenix = open_phoenix(load_settings())
    pairs = _pair(phoenix, (first, second), since_when(since, datetime.now(UTC)))
    sides = compare_sides(pairs, phoenix.tell([*pairs.side(0), *pairs.side(1)]))
    if as_json:
        document = {
            "questions": len(pairs.pairs),
            "targets": [side_document(*each) for each in zip(sides, pairs.left_out, strict=True)],
            "pairs": [pair_document(pair, with_question=questions) for pair in pairs.pairs],
        }
        print(printable_json(document))
        return
    console = Console(highlight=False)
    print_whole(console, side_table(sides))
    _print_left_out(console, pairs)
    print_whole(console, pair_table(pairs.pairs, with_questions=questions))


def since_when(text: str, now: datetime) -> datetime | None:
    """The time that --since means; None if it is empty. Raises RequestError."""
    if not text:
        return None
    if ago := _AGO.fullmatch(text):
        return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise RequestError(
            f"--since {text}: give a day or time such as 2026-01-31 or 2026-01-31T12:00, or how "
            "long ago: 30m, 24h, 7d."
        ) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _pair(
    phoenix: PhoenixProject, names: tuple[str, str], since: datetime | None
) -> CommonQuestions:
    first, second = (phoenix.traces(TraceFilter(("ask",), name, since)) for name in names)
    return pair_traces(names, first, second)


def _print_check(console: Console, check: DepthCheck) -> None:
    if check.unequal:
        print_whole(console, depth_table(check.unequal))
    for sentence in depth_sentences(check):
        console.print(sentence, soft_wrap=True)


def depth_sentences(found: DepthCheck) -> Sequence[str]:
    """Say what was checked, what came of it, and what could not be checked."""
    verdicts = found.verdicts
    sentences = ["No request over all corpora was found that could be checked."]
    if found.first and found.last:
        time = f"{found.first:%Y-%m-%d %H:%M} to {found.last:%Y-%m-%d %H:%M} UTC"
        sentences = [
            f"{_requests(found.checked)} over all corpora {_were(found.checked)} checked, {time}: "
            f"{verdicts['unequal'] or 'none'} unequal."
        ]
    if verdicts["unfinished"]:
        count = verdicts["unfinished"]
        sentences.append(f"{count} more failed or {_were(count)} cancelled.")
    if verdicts["unknown"]:
        sentences.append(
            f"{verdicts['unknown']} more cannot be checked: an earlier version traced them."
        )
    return sentences


def _requests(count: int) -> str:
    return "1 request" if count == 1 else f"{count} requests"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _print_left_out(console: Console, pairs: CommonQuestions) -> None:
    for name, counts in zip(pairs.names, pairs.left_out, strict=True):
        if counts:
            reasons = ", ".join(f"{count} {REASONS[reason]}" for reason, count in counts.items())
            console.print(f"Answers of {name} left out: {reasons}.", markup=False, soft_wrap=True)
