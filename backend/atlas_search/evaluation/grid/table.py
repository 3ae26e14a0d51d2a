"""The one table of a grid: a block for each split, a row for each configuration."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.table import Column, Table
from rich.text import Text

from atlas_search.evaluation.grid.grid import Cell
from atlas_search.evaluation.reports.wording import with_ends
from atlas_search.evaluation.runs.operations import Ends, Operations, operations
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

_NOTHING = (None, None)

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


def _named_cells(row: Row, named: Sequence[str]) -> list[str]:
    asked = row.took.questions + row.missing
    count = str(asked) if not row.missing else f"{row.took.questions} of {asked}"
    return [*(row.values[name] for name in named), count]


def _values(row: Row) -> list[tuple[float, Ends] | None]:
    """Each figure and what its run took, with their intervals; None where there is none."""
    figures = (row.figures.get(head) for head in FIGURES)
    took, seconds = row.took, row.took.seconds
    return [
        *((one.mean, (one.low, one.high)) if one else None for one in figures),
        (seconds.p50, seconds.p50_interval) if seconds else None,
        (seconds.p95, seconds.p95_interval) if seconds else None,
        _known(took.tokens_per_second, took.tokens_per_second_interval),
        _known(took.cost_per_100, took.cost_per_100_interval),
    ]


def _known(value: float | None, ends: Ends | None) -> tuple[float, Ends] | None:
    return None if value is None or ends is None else (value, ends)


def _heads(named: Sequence[str]) -> list[str]:
    return [*named, "n", *FIGURES, "p50 s", "p95 s", "tok/s", "cost/100"]


def _table(split: str, rows: Sequence[Row], named: Sequence[str]) -> Table:
    heads = [
        Column(head, justify="left" if head in named else "right", no_wrap=head not in named)
        for head in _heads(named)
    ]
    table = Table(*heads, title=Text(split), box=None, padding=(0, 1, 0, 0))
    for row in rows:
        # no markup: a model may be called [x]
        table.add_row(*map(Text, _named_cells(row, named)), *map(_two_lines, _values(row)))
    return table


def _markdown(split: str, rows: Sequence[Row], named: Sequence[str]) -> str:
    lines = [_heads(named), ["---"] * len(_heads(named))]
    lines += [[*_named_cells(row, named), *map(_in_line, _values(row))] for row in rows]
    return "\n".join([f"### {split}", "", *(f"| {' | '.join(line)} |" for line in lines), ""])


def _flat(row: Row) -> dict[str, object]:
    figures = {
        f"{head}{end}": value
        for head, figure in row.figures.items()
        for end, value in (("", figure.mean), (" low", figure.low), (" high", figure.high))
    }
    took = {name: value for name, value in vars(row.took).items() if name in _TOLD}
    for name in ("tokens_per_second", "cost_per_100"):
        took |= _with_ends(name, took[name], getattr(row.took, f"{name}_interval"))
    seconds = row.took.seconds
    return {
        "split": row.split,
        **row.values,
        **figures,
        **_with_ends("p50 s", *((seconds.p50, seconds.p50_interval) if seconds else _NOTHING)),
        **_with_ends("p95 s", *((seconds.p95, seconds.p95_interval) if seconds else _NOTHING)),
        **took,
        "missing": row.missing,
        "run": row.folder,
    }


def _with_ends(name: str, value: float | None, ends: Ends | None) -> dict[str, float | None]:
    low, high = ends or (None, None)
    return {name: value, f"{name} low": low, f"{name} high": high}


def _two_lines(known: tuple[float, Ends] | None) -> Text:
    """A value, and below it its interval."""
    if known is None:
        return Text("-")
    value, (low, high) = known
    return Text(f"{value:.2f}\n{low:.2f}-{high:.2f}")


def _in_line(known: tuple[float, Ends] | None) -> str:
    return with_ends(*known) if known else "-"
