"""Plots of runs, and the sections of a report with plots: confidence, categories, corpora."""

import io
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from atlas_search.core.registry import require
from atlas_search.evaluation.confidence import Bin
from atlas_search.evaluation.report_analysis import Analysis
from atlas_search.evaluation.report_blocks import (
    Block,
    Plot,
    ReportSection,
    ReportText,
    Table,
    of_runs,
)
from atlas_search.evaluation.scored import number, shortened, title_of, with_interval
from atlas_search.evaluation.statistics import Figure, share_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


class PlotPoint(NamedTuple):
    """A value at a place, and the ends of its 95% interval."""

    x: float
    y: float
    low: float
    high: float


class Series(NamedTuple):
    """Points that belong together, in the order of their places."""

    name: str
    points: tuple[PlotPoint, ...]


class PlotRow(NamedTuple):
    """A named line of a plot, with a figure of each series that has one."""

    name: str
    figures: tuple[Figure | None, ...]


def short(text: str, longest: int = 26) -> str:
    """A name as a plot has room for it."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


INK, FAINT, LINE, PANEL = "#fe0001", "#fe0002", "#fe0003", "#fe0004"
COLOURS = ("#fe0011", "#fe0012", "#fe0013", "#fe0014", "#fe0015", "#fe0016")
"""Of the series of a plot, in order."""

MARKERS = ("o", "s", "^", "D", "v", "P")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))
"""A series is known by its form too: not everybody sees colours, and paper has none."""

WIDTH = 5.6  # inches: on a telephone the words are still of a size to be read

_VARIABLES = {
    INK: "--ink",
    FAINT: "--faint",
    LINE: "--line",
    PANEL: "--panel",
    **{colour: f"--plot-{number}" for number, colour in enumerate(COLOURS, start=1)},
}
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "atlas",
    "text.parse_math": False,  # a category may be called $x$
    "font.family": "sans-serif",
    "font.size": 10.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.facecolor": "none",
    "axes.titlesize": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": LINE,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "figure.facecolor": "none",
    "legend.frameon": False,
    "errorbar.capsize": 3,
}


@contextmanager
def drawing() -> Iterator[None]:
    """Figures that are made and written in the block have the style of a report.

    Raises MissingLibrary without the extra.
    """
    require("eval", "A plot")
    import matplotlib

    with matplotlib.rc_context(_STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters its own fonts lack: the page has others
        yield


def svg_of(figure: "Canvas", id_: str) -> str:
    """The figure as an element for a page; its ids begin with `id_`, another for each plot."""
    written = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(written, format="svg", metadata=nothing)
    svg = written.getvalue()
    svg = svg[svg.index("<svg") :].rstrip()
    svg = re.sub(r"<metadata>.*?</metadata>\s*|<style.*?</style>", "", svg, flags=re.DOTALL)
    end = svg.index(">")
    svg = re.sub(r' (?:width|height)="[^"]*"', "", svg[:end]) + svg[end:]  # the page says it
    svg = re.sub(r'\bid="', f'id="{id_}-', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{id_}-", svg)
    for colour, variable in _VARIABLES.items():
        svg = svg.replace(colour, f"var({variable})")
    return svg


MOST = len(COLOURS)
"""Series that a plot can tell apart."""


def rows(id_: str, names: Sequence[str], shown: Sequence[PlotRow], x: str) -> str:
    """A line for each row, with a value of each series and its 95% interval."""
    with drawing():
        count = len(names)
        figure, ax = _figure(0.9 + len(shown) * (0.16 + 0.13 * count))
        for number, name in enumerate(names[:MOST]):
            aside = (number - (count - 1) / 2) * 0.8 / max(count, 2)
            known = [(place, row.figures[number]) for place, row in enumerate(shown)]
            places = [place + aside for place, figure_ in known if figure_]
            values = [figure_ for _, figure_ in known if figure_]
            ax.errorbar(
                [each.mean for each in values],
                places,
                xerr=_errors([(each.mean, each.low, each.high) for each in values]),
                fmt=MARKERS[number],
                color=COLOURS[number],
                label=short(name),
                markersize=5,
            )
        ax.set_yticks(range(len(shown)), [short(row.name) for row in shown])
        ax.set_ylim(len(shown) - 0.4, -0.6)
        ax.set_xlim(-0.02, 1.02)
        ax.set_xlabel(x)
        ax.grid(visible=False, axis="y")
        _legend(figure, _series_of(ax))
        return svg_of(figure, id_)


def bands(id_: str, series: Sequence[Series], x: str, y: str) -> str:
    """Values against `x`, both in [0, 1], with the 95% interval as a band."""
    with drawing():
        figure, ax = _figure(3.0)
        for number, each in enumerate(series[:MOST]):
            places = [one.x for one in each.points]
            ax.fill_between(
                places,
                [one.low for one in each.points],
                [one.high for one in each.points],
                color=COLOURS[number],
                alpha=0.18,
                linewidth=0,
            )
            ax.plot(
                places,
                [one.y for one in each.points],
                color=COLOURS[number],
                linestyle=DASHES[number],
                marker=MARKERS[number] if len(places) < 15 else None,
                markersize=4,
                label=short(each.name),
            )
        ax.set_xlabel(x)
        ax.set_ylabel(y)
        ax.set_xlim(0, 1.02)
        _from_0_to_1(ax)
        _legend(figure, _series_of(ax))
        return svg_of(figure, id_)


def calibration(id_: str, series: Sequence[Series], counts: Sequence[Sequence[Bin]]) -> str:
    """Share right against likelihood, and below it how many answers each bin has."""
    with drawing():
        from matplotlib.figure import Figure as Canvas

        figure = Canvas(figsize=(WIDTH, 3.9), layout="constrained")
        ax, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
        ax.plot([0, 1], [0, 1], color=FAINT, linestyle=":", linewidth=1.2)
        for number, (each, bins) in enumerate(zip(series[:MOST], counts[:MOST], strict=True)):
            ax.errorbar(
                [one.x for one in each.points],
                [one.y for one in each.points],
                yerr=_errors(one[1:] for one in each.points),
                color=COLOURS[number],
                marker=MARKERS[number],
                linestyle=DASHES[number],
                markersize=5,
                label=short(each.name),
            )
            width = 0.09 / len(series[:MOST])
            middles = [(one.low + one.high) / 2 for one in bins]
            shift = (number - (len(series[:MOST]) - 1) / 2) * width
            drawn = below.bar(
                [middle + shift for middle in middles],
                [one.answers for one in bins],
                width * 0.9,
                color=COLOURS[number],
            )
            if len(series) == 1:
                below.bar_label(drawn, color=INK, fontsize=9)
        below.margins(y=0.35)
        below.set_xlabel("Likelihood that was stated")
        below.set_ylabel("Answers")
        below.grid(visible=False, axis="x")
        ax.set_ylabel("Share right")
        ax.set_xlim(0, 1.02)
        _from_0_to_1(ax)
        _legend(figure, _series_of(ax))
        return svg_of(figure, id_)


def _figure(height: float) -> "tuple[Canvas, Axes]":
    from matplotlib.figure import Figure as Canvas

    figure = Canvas(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.subplots()


def _errors(values: Iterable[tuple[float, float, float]]) -> list[list[float]]:
    """Return how far intervals reach below and above: of a value, its low and its high end."""
    reach = [(max(y - low, 0.0), max(high - y, 0.0)) for y, low, high in values]
    return [list(ends) for ends in zip(*reach, strict=True)]


def _from_0_to_1(ax: "Axes") -> None:
    ax.set_ylim(-0.03, 1.03)


def _legend(figure: "Canvas", handles: Sequence[Any]) -> None:
    """Name the series, if there are several."""
    if len(handles) > 1:
        figure.legend(handles=handles, loc="outside upper left", ncols=2, fontsize=9.5)


def _series_of(ax: "Axes") -> list[Any]:
    return ax.get_legend_handles_labels()[0]


def confidence(runs: Sequence[Analysis]) -> ReportSection:
    """Reliability of the likelihood, and precision at each coverage."""
    return ReportSection("Confidence", (_reliability(runs), _coverage(runs)))


def _reliability(runs: Sequence[Analysis]) -> Block:
    told = [run for run in runs if run.reliability]
    if not told:
        return ReportText(
            "No answer that can be judged states a likelihood: nothing to be calibrated."
        )
    series = tuple(
        Series(
            run.name,
            tuple(
                PlotPoint(
                    each.likelihood,
                    each.right,
                    *share_interval(each.right * each.answers, each.answers),
                )
                for each in run.reliability
            ),
        )
        for run in told
    )
    cells = tuple(
        (
            run.name,
            f"{own.low:.1f} to {own.high:.1f}",
            str(own.answers),
            number(own.likelihood),
            number(each.y),
            f"{number(each.low)} to {number(each.high)}",
        )
        for run, line in zip(told, series, strict=True)
        for own, each in zip(run.reliability, line.points, strict=True)
    )
    said = "; ".join(f"{c[1]}: {c[4]} of {c[2]} answers right" for c in cells[:12])
    return Plot(
        "Reliability of the likelihood",
        "Share of right answers against the likelihood that they stated; on the dotted line both "
        f"are the same. Bars count the answers of each bin.{_first(len(told), 'runs')} {said}.",
        lambda: calibration("reliability", series, [run.reliability for run in told]),
        of_runs(
            len(runs),
            Table(
                "Answers by the likelihood that they stated (intervals by Wilson's score)",
                ("Run", "Likelihood", "Answers", "Its mean", "Share right", "95% interval"),
                cells,
                texts=2,
            ),
        ),
    )


def _coverage(runs: Sequence[Analysis]) -> Block:
    told = [run for run in runs if run.curve]
    if not told:
        return ReportText("No answer can be judged right or wrong: no precision to be told.")
    series = tuple(Series(run.name, _points(run)) for run in told)
    cells = tuple(
        (run.name, number(each.x), number(each.y), f"{number(each.low)} to {number(each.high)}")
        for run, line in zip(told, series, strict=True)
        for each in _some(line.points)
    )
    said = "; ".join(
        f"{line.name}: from {number(line.points[0].y)} at {number(line.points[0].x)} to "
        f"{number(line.points[-1].y)} at {number(line.points[-1].x)}"
        for line in series
    )
    return Plot(
        "Coverage against precision",
        "Precision of the answers against the share of all questions that is answered, as the "
        f"least confident answers are given up.{_first(len(told), 'runs')} Precision: {said}.",
        lambda: bands("coverage", series, "Coverage: share answered", "Precision: share right"),
        of_runs(
            len(runs),
            Table(
                "Precision at each coverage (intervals by Wilson's score)",
                ("Run", "Coverage", "Precision", "95% interval"),
                cells,
            ),
        ),
    )


def _points(run: Analysis) -> tuple[PlotPoint, ...]:
    found = []
    for each in run.curve:
        answers = each.coverage * run.judged_questions
        low, high = share_interval(each.precision * answers, answers)
        found.append(PlotPoint(each.coverage, each.precision, low, high))
    return tuple(found)


def _some(points: Sequence[PlotPoint], most: int = 10) -> list[PlotPoint]:
    """At most so many, evenly chosen, with the first and the last."""
    if len(points) <= most:
        return list(points)
    return [points[round(place * (len(points) - 1) / (most - 1))] for place in range(most)]


def _first(count: int, what: str) -> str:
    return "" if count <= MOST else f" The plot shows the first {MOST} {what}."


_SHOWN = ("decided", "recall", "f1", "cites_gold")
_DRAWN = ("decided", "recall", "f1")
_SLICED = ("f1", "decided", "recall")
_ROWS = 14  # that a plot shows; the table has all


def by_category(runs: Sequence[Analysis]) -> ReportSection:
    """A row for each category and run."""
    return ReportSection("By category", (_of_kind(runs, "category"),))


def by_corpus(runs: Sequence[Analysis]) -> ReportSection:
    """A row for the questions whose gold documents are in each corpus; then the balance."""
    return ReportSection("By corpus", (_of_kind(runs, "corpus"), _balance(runs)))


def by_split(runs: Sequence[Analysis]) -> ReportSection:
    """A row for each split and run."""
    return ReportSection("By split", (_of_kind(runs, "split", drawn=False),))


def _of_kind(runs: Sequence[Analysis], kind: str, *, drawn: bool = True) -> Block:
    """Draw the figures of one run in each slice; of several, the main figure of each."""
    every = dict.fromkeys(name for run in runs for name in run.slices)
    slices = [name for name in every if name.startswith(f"{kind}.")]
    if not slices:
        return ReportText(f"No question has a {kind}.")
    table, main = _table_of(runs, kind, slices), _main(runs)
    columns = (
        [(title_of(name), runs[0], name) for name in _DRAWN if name in runs[0].all]
        if len(runs) == 1
        else [(run.name, run, main) for run in runs[:MOST]]
    )
    names = [name for name, _, _ in columns]
    shown = [
        PlotRow(_own(each), tuple(run.figures.get(each, {}).get(name) for _, run, name in columns))
        for each in slices[:_ROWS]
    ]
    if not drawn or not any(figure for row in shown for figure in row.figures):
        return table
    x = "mean over the questions" if len(runs) == 1 else title_of(main)
    more = "" if len(slices) <= _ROWS else f" The plot shows the first {_ROWS} of {len(slices)}."
    told = "; ".join(f"{row.name}: {_told(names, row)}" for row in shown)
    return Plot(
        f"Quality by {kind}",
        f"Dots with 95% intervals: {x} by {kind}.{more} {told}.",
        lambda: rows(f"by-{kind}", names, shown, x),
        table,
    )


def _table_of(runs: Sequence[Analysis], kind: str, slices: Sequence[str]) -> Table:
    names = [name for name in _SHOWN if any(name in run.all for run in runs)]
    cells = tuple(
        (
            run.name,
            _own(name),
            str(len(run.slices[name])),
            *(with_interval(run.figures[name].get(figure)) for figure in names),
        )
        for name in slices
        for run in runs
        if name in run.slices
    )
    heads = ("Run", kind.title(), "Questions", *map(title_of, names))
    return of_runs(len(runs), Table(f"Figures by {kind}", heads, cells, texts=2))


def _main(runs: Sequence[Analysis]) -> str:
    return next((name for name in _SLICED if any(name in run.all for run in runs)), _SLICED[0])


def _balance(runs: Sequence[Analysis]) -> Block:
    told = [(run, corpora) for run in runs if (corpora := _shares(run.all))]
    if not told:
        return ReportText(
            "No question was asked of several corpora, so there is no balance to tell."
        )
    heads = ("Run", "Corpus", "Share of candidates", "Share of kept passages")
    cells = tuple(
        (run.name, corpus, *map(with_interval, pair))
        for run, corpora in told
        for corpus, pair in corpora.items()
    )
    shown = tuple(
        PlotRow(f"{run.name}: {corpus}" if len(runs) > 1 else corpus, pair)
        for run, corpora in told
        for corpus, pair in corpora.items()
    )[:_ROWS]
    return Plot(
        "Balance of the corpora",
        "Dots with 95% intervals: the mean share of each corpus among candidates and among kept "
        f"passages. {'; '.join(f'{row.name}: {_told(_STAGES, row)}' for row in shown)}.",
        lambda: rows("balance", _STAGES, shown, "mean share of the passages of a question"),
        of_runs(len(runs), Table("Share of each corpus", heads, cells, texts=2)),
    )


_STAGES = ("Candidates", "Kept")


def _shares(figures: Mapping[str, Figure]) -> dict[str, tuple[Figure | None, Figure | None]]:
    begin = "candidates_share.", "kept_share."
    corpora = dict.fromkeys(_own(name) for name in figures if name.startswith(begin))
    return {
        corpus: (figures.get(f"{begin[0]}{corpus}"), figures.get(f"{begin[1]}{corpus}"))
        for corpus in corpora
    }


def _own(name: str) -> str:
    return shortened(name.partition(".")[2], 80)


def _told(names: Sequence[str], row: PlotRow) -> str:
    pairs = zip(names, row.figures, strict=True)
    return ", ".join(f"{name} {number(figure.mean)}" for name, figure in pairs if figure)
