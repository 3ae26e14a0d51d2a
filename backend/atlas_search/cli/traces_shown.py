"""What `atlas traces` prints: tables for people, documents for programs. Ids and figures; questions
only where they are asked for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.markup import escape
from rich.table import Table

from atlas_search.cli.printable import printable
from atlas_search.core.telemetry.span import digest
from atlas_search.documents.export import csv_text
from atlas_search.evaluation.traces.comparison import Side
from atlas_search.evaluation.traces.depth import CorpusDepth, DepthCheck, Unequal
from atlas_search.evaluation.traces.pairs import LeftOut, Pair
from atlas_search.evaluation.traces.trace import Marks, Spent, Told, Trace

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
"""Of a table to chart; counts by corpus come after them."""

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
    for told in traces:
        question = (told.trace.question,) if with_questions else ()
        _add(table, *_cells(told), *question)
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

    A cell is empty where nothing was told.
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
    """What a check found."""
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


def pair_table(pairs: Iterable[Pair], *, with_questions: bool) -> Table:
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


def pair_document(pair: Pair, *, with_question: bool) -> dict[str, Any]:
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


def _cells(told: Told) -> tuple[str, ...]:
    trace = told.trace
    return (
        _time(trace),
        trace.kind,
        _target(trace),
        f"{trace.seconds:.2f}",
        trace.outcome,
        _listed(trace.counts.candidates),
        _imbalance(trace.imbalance),
        _tokens(told.spent),
        _feedback(told.marks),
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
    told = spent.prompt_tokens or spent.completion_tokens
    return f"{spent.prompt_tokens}, {spent.completion_tokens}" if told else ""


def _feedback(marks: Mapping[str, Marks]) -> str:
    return ", ".join(f"{name} {each.mean:.2f} ({each.count})" for name, each in marks.items())
