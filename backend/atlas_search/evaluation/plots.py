"""Plots of a run."""

import io
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from atlas_search.core.registry import require
from atlas_search.evaluation.statistics import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from atlas_search.evaluation.confidence import Bin


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


def calibration(id_: str, series: Sequence[Series], counts: Sequence[Sequence["Bin"]]) -> str:
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
