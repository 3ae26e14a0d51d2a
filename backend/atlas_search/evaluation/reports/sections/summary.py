"""The figures over all questions."""

from collections.abc import Iterable, Mapping, Sequence

from atlas_search.evaluation.metrics.catalogue import METRICS
from atlas_search.evaluation.reports.analysis import Analysis
from atlas_search.evaluation.reports.blocks import Block, Section, Table, Words
from atlas_search.evaluation.reports.wording import (
    TITLES,
    between,
    known_metric,
    number,
    present,
    title_of,
    with_interval,
)
from atlas_search.evaluation.scored import Figure

INTERVALS = (
    "Every figure is a mean over the questions that it says something of (n). Of 100 intervals "
    "made like these (bootstrap), about 95 hold the mean over all such questions; of few questions "
    "or of ones that all went alike, fewer do."
)

_SIDE_BY_SIDE = (
    "decided",
    "recall",
    "mrr",
    "f1",
    "similarity",
    "cites_gold",
    "sentence_groundedness",
)


def summary(runs: Sequence[Analysis]) -> Section:
    """The figures that matter most; of several runs a row for each."""
    blocks: list[Block] = [Words(INTERVALS)]
    if len(runs) > 1:
        blocks.append(_side_by_side(runs))
    elif named := _named(runs[0]):
        blocks.append(_figures("Figures over all questions", runs[0], named))
    else:
        blocks = [Words("No question has a figure.", warning=True)]
    return Section("Summary", tuple(blocks))


def all_figures(runs: Sequence[Analysis]) -> Section:
    """Everything that was measured."""
    tables = tuple(
        _figures(f"All figures of {run.name}", run, in_order(run.all), folded=True) for run in runs
    )
    return Section("All figures", tables)


def in_order(figures: Iterable[str]) -> list[str]:
    """Names of figures as the catalogue has them, then by name; unknown ones last."""
    places = {name: place for place, name in enumerate(METRICS)}

    def place(name: str) -> tuple[int, int, str]:
        known = known_metric(name)
        depth = name.partition("@")[2]
        return (places[known.name] if known else len(places), int(depth or 0), name)

    return sorted(figures, key=place)


def _named(run: Analysis) -> list[str]:
    estimates = [name for name in in_order(run.sources) if name in run.all]
    return [*present(tuple(TITLES), run.all), *(name for name in estimates if name not in TITLES)]


def _figures(caption: str, run: Analysis, names: Sequence[str], *, folded: bool = False) -> Table:
    rows = tuple(_row(name, run.all[name], run.sources) for name in names)
    heads = ("Figure", "Value", "95% interval", "n", "Says")
    return Table(caption, heads, rows, folded=folded, remark=True)


def _row(name: str, figure: Figure, sources: Mapping[str, str]) -> tuple[str, ...]:
    metric = known_metric(name)
    says = f"{metric.description}. Of: {metric.of}." if metric else "Not known to this version."
    if metric and metric.better == "lower":
        says += " Lower is better."
    if name in sources:
        says += f" By: {sources[name]}."
    return (title_of(name), number(figure.mean, 3), between(figure), str(figure.questions), says)


def _side_by_side(runs: Sequence[Analysis]) -> Table:
    names = [name for name in _SIDE_BY_SIDE if any(name in run.all for run in runs)]
    rows = tuple(
        (
            run.name,
            str(run.of.k or "-"),
            str(len(run.of.scored)),
            *(with_interval(run.all.get(name)) for name in names),
        )
        for run in runs
    )
    heads = ("Run", "k", "Questions", *map(title_of, names))
    return Table("The runs side by side", heads, rows)
