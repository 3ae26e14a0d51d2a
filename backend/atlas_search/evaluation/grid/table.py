"""The one table of a grid: a block for each split, a row for each configuration."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.table import Column, Table
from rich.text import Text

from atlas_search.evaluation.grid.grid import Cell
from atlas_search.evaluation.runs.operations import Operations, operations
from atlas_search.evaluation.scored import Figure, summarise

FIGURES = {
    "F1": "f1",
    "Sem": "similarity",
    "SentG": "sentence_groundedness",
    "Gnd": "grounded",
    "Recall@k": "recall",
    "MRR": "mrr",
}
"""Figures by the heads of their columns. Those of retrieval are at the depth of the row's k."""

_OPTIONS = ("target", "reranker", "balance")
"""Columns that are shown where they differ."""

_TOLD = ("questions", "failed", "fallbacks", "tokens_per_second", "cost_per_100")
"""What a run took, in CSV and JSON."""


@dataclass(frozen=True)
class Row:
    """A configuration over a split: its values, and what came of its run."""

    folder: str
    split: str
    values: Mapping[str, str]
    figures: Mapping[str, Figure]
    took: Operations
    missing: int


def grid_rows(cells: Sequence[Cell]) -> list[Row]:
    """A row for each run, in their order."""
    return [_row(cell) for cell in cells]


def grid_tables(rows: Sequence[Row]) -> list[Table]:
    """One for each split."""
    return [_table(split, found, _named(rows)) for split, found in _by_split(rows).items()]


def grid_markdown(rows: Sequence[Row]) -> str:
    """The same as Markdown."""
    return "\n".join(_markdown(s, found, _named(rows)) for s, found in _by_split(rows).items())


def grid_csv(rows: Sequence[Row]) -> str:
    """A line for each run: every value, figures with their 95% intervals, and what it took."""
    written = io.StringIO()
    documents = [_flat(row) for row in rows]
    names = list(dict.fromkeys(name for document in documents for name in document))
    writer = csv.DictWriter(written, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(documents)
    return written.getvalue()


def grid_document(rows: Sequence[Row]) -> list[dict[str, object]]:
    """The same as JSON has it."""
    return [_flat(row) for row in rows]


def _row(cell: Cell) -> Row:
    run, options = cell.outcome.run, cell.outcome.run.spec.options
    k = options["search_k"]
    summary = summarise(run.scored)
    figures = {
        head: found
        for head, name in FIGURES.items()
        if (found := summary.get(f"{name}@{k}") or summary.get(name))
    }
    values = {
        "k": str(k),
        "model": options["llm_model"] or options["llm_provider"],
        "target": cell.run.configuration.target,
        "reranker": options["reranker"],
        "balance": options["balance"],
    }
    took = operations(run)
    return Row(cell.run.folder, cell.run.split, values, figures, took, cell.outcome.missing)


def _named(rows: Sequence[Row]) -> list[str]:
    """The values that name a row: k and model, and others where they differ."""
    differ = [name for name in _OPTIONS if len({row.values[name] for row in rows}) > 1]
    return ["k", "model", *differ]


def _by_split(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.split, []).append(row)
    return found


def _cells(row: Row, named: Sequence[str]) -> list[str]:
    asked = row.took.questions + row.missing
    seconds = row.took.seconds
    return [
        *(row.values[name] for name in named),
        str(asked) if not row.missing else f"{row.took.questions} of {asked}",
        *(_two(found.mean if (found := row.figures.get(head)) else None) for head in FIGURES),
        _two(seconds.p50 if seconds else None),
        _two(seconds.p95 if seconds else None),
        _two(row.took.tokens_per_second),
        _two(row.took.cost_per_100),
    ]


def _heads(named: Sequence[str]) -> list[str]:
    return [*named, "n", *FIGURES, "p50 s", "p95 s", "tok/s", "cost/100"]


def _table(split: str, rows: Sequence[Row], named: Sequence[str]) -> Table:
    heads = [
        Column(head, justify="left" if head in named else "right", no_wrap=head not in named)
        for head in _heads(named)
    ]
    table = Table(*heads, title=Text(split), box=None, padding=(0, 1, 0, 0))
    for row in rows:
        table.add_row(*map(Text, _cells(row, named)))  # no markup: a model may be called [x]
    return table


def _markdown(split: str, rows: Sequence[Row], named: Sequence[str]) -> str:
    lines = [_heads(named), ["---"] * len(_heads(named)), *(_cells(row, named) for row in rows)]
    return "\n".join([f"### {split}", "", *(f"| {' | '.join(line)} |" for line in lines), ""])


def _flat(row: Row) -> dict[str, object]:
    figures = {
        f"{head}{end}": value
        for head, figure in row.figures.items()
        for end, value in (("", figure.mean), (" low", figure.low), (" high", figure.high))
    }
    took = {name: value for name, value in vars(row.took).items() if name in _TOLD}
    seconds = row.took.seconds
    return {
        "split": row.split,
        **row.values,
        **figures,
        "p50 s": seconds.p50 if seconds else None,
        "p95 s": seconds.p95 if seconds else None,
        **took,
        "missing": row.missing,
        "run": row.folder,
    }


def _two(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
