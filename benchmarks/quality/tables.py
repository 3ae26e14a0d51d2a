"""The figures as tables for people and as JSON for machines."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby

from rich.table import Table

from benchmarks.quality.figures import Comparison, Cost, Figure
from benchmarks.quality.measures import MAIN, MEASURES
from benchmarks.quality.runs import DEFAULT
from benchmarks.quality.scopes import Section
from benchmarks.quality.statistics import CONFIDENCE, Estimate

TITLES: Mapping[Section, str] = {
    "alone": "Each set alone",
    "pooled": "Pooled: the questions of a set put to all sets",
    "filtered": "Filtered: only where the question is from",
}


def tables(figures: Sequence[Figure], costs: Sequence[Cost]) -> Iterator[Table]:
    """A table a section, then what pooling costs."""
    for section, rows in groupby(figures, key=lambda figure: figure.section):
        yield _section(section, list(rows))
    yield _pooling(costs)


def as_json(figures: Sequence[Figure], costs: Sequence[Cost]) -> dict[str, object]:
    """The same, with full precision."""
    return {
        "figures": [asdict(figure) for figure in figures],
        "pooling": [asdict(cost) for cost in costs],
        "confidence": CONFIDENCE,
    }


def _section(section: Section, figures: Sequence[Figure]) -> Table:
    table = Table(
        title=TITLES[section],
        caption=f"{CONFIDENCE:.0%} bootstrap intervals; gain is the default's in {MAIN}, "
        "p of a paired permutation test",
    )
    table.add_column("set (questions)", no_wrap=True)
    table.add_column("run", no_wrap=True)
    for header in (*map(str, MEASURES), "default's gain", "p"):
        table.add_column(header, justify="right", no_wrap=True)
    for name, rows in groupby(figures, key=lambda figure: figure.set_name):
        table.add_section()
        for number, figure in enumerate(rows):
            table.add_row(
                f"{name} ({figure.queries})" if number == 0 else "",
                figure.run,
                *(_estimate(figure.metrics[str(measure)]) for measure in MEASURES),
                *(_comparison(figure.gain) if figure.gain else ("", "")),
                style="bold" if figure.run == DEFAULT else "",
            )
    return table


def _pooling(costs: Sequence[Cost]) -> Table:
    table = Table(title=f"What pooling costs the default: {MAIN} alone minus pooled")
    table.add_column("set", no_wrap=True)
    table.add_column("loss", justify="right", no_wrap=True)
    table.add_column("p", justify="right", no_wrap=True)
    for cost in costs:
        table.add_row(cost.set_name, *_comparison(cost.loss))
    return table


def _comparison(comparison: Comparison) -> tuple[str, str]:
    return _estimate(comparison.difference, "+"), f"{comparison.p:.4f}"


def _estimate(found: Estimate, sign: str = "") -> str:
    return f"{found.mean:{sign}.3f} [dim]{found.low:{sign}.3f} {found.high:{sign}.3f}[/dim]"
