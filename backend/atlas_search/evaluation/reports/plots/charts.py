"""The kinds of plots."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from atlas_search.evaluation.reports.plots.canvas import (
    COLOURS,
    DASHES,
    FAINT,
    INK,
    MARKERS,
    WIDTH,
    drawing,
    svg_of,
)
from atlas_search.evaluation.reports.plots.series import (
    Count,
    Panel,
    Row,
    Series,
    errors,
    short,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = len(COLOURS)
"""Series that a plot can tell apart."""

_HEIGHT = 2.7


def lines(id_: str, panels: Sequence[Panel], x: str) -> str:
    """Values against `x`, a panel for each figure, with 95% intervals.

    Series of one name look the same in all panels; some may lack them.
    """
    names = list(dict.fromkeys(series.name for panel in panels for series in panel.series))[:MOST]
    with drawing():
        figure, axes = _figure(len(panels))
        drawn: dict[str, Any] = {}
        for panel, ax in zip(panels, axes, strict=True):
            for series in panel.series:
                if series.name in names:
                    number = names.index(series.name)
                    drawn[series.name] = _errorbar(ax, series, number, line=True)
            ax.set_title(panel.title, loc="left")
            if panel in panels[-2:]:
                ax.set_xlabel(x)
            ax.set_xticks(sorted({each.x for series in panel.series for each in series.points}))
            _from_0_to_1(ax)
        _legend(figure, [drawn[name] for name in names])
        return svg_of(figure, id_)


def points(id_: str, series: Sequence[Series], x: str, y: str) -> str:
    """Values against `x` that no line joins, with 95% intervals."""
    with drawing():
        figure, (ax,) = _figure(1)
        for number, each in enumerate(series[:MOST]):
            _errorbar(ax, each, number, line=False)
        ax.set_xlabel(x)
        ax.set_ylabel(y)
        ax.set_xlim(left=0)
        _from_0_to_1(ax)
        _legend(figure, _series_of(ax))
        return svg_of(figure, id_)


def rows(id_: str, names: Sequence[str], shown: Sequence[Row], x: str) -> str:
    """A line for each row, with a value of each series and its 95% interval."""
    with drawing():
        count = len(names)
        figure, (ax,) = _figure(1, height=0.9 + len(shown) * (0.16 + 0.13 * count))
        for number, name in enumerate(names[:MOST]):
            aside = (number - (count - 1) / 2) * 0.8 / max(count, 2)
            known = [(place, row.figures[number]) for place, row in enumerate(shown)]
            places = [place + aside for place, figure_ in known if figure_]
            values = [figure_ for _, figure_ in known if figure_]
            below = [max(each.mean - each.low, 0.0) for each in values]
            above = [max(each.high - each.mean, 0.0) for each in values]
            ax.errorbar(
                [each.mean for each in values],
                places,
                xerr=[below, above],
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
        figure, (ax,) = _figure(1, height=3.0)
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


def calibration(id_: str, series: Sequence[Series], counts: Sequence[Sequence[Count]]) -> str:
    """Share right against likelihood, and below it how many answers each bin has."""
    with drawing():
        from matplotlib.figure import Figure as Canvas

        figure = Canvas(figsize=(WIDTH, 3.9), layout="constrained")
        ax, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
        ax.plot([0, 1], [0, 1], color=FAINT, linestyle=":", linewidth=1.2)
        for number, (each, bins) in enumerate(zip(series[:MOST], counts[:MOST], strict=True)):
            _errorbar(ax, each, number, line=True)
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


def _figure(panels: int, height: float = _HEIGHT) -> "tuple[Figure, list[Axes]]":
    """One or two panels beside each other, the others below."""
    from matplotlib.figure import Figure as Canvas

    across = min(panels, 2)
    down = -(-panels // across)
    figure = Canvas(figsize=(WIDTH, height * (0.85 * down + 0.15)), layout="constrained")
    grid = figure.subplots(down, across, squeeze=False)
    axes = [ax for line in grid for ax in line]
    for ax in axes[panels:]:
        figure.delaxes(ax)
    return figure, axes[:panels]


def _errorbar(ax: "Axes", series: Series, number: int, *, line: bool) -> Any:
    style: dict[str, Any] = {"linestyle": DASHES[number]} if line else {"linestyle": "none"}
    return ax.errorbar(
        [each.x for each in series.points],
        [each.y for each in series.points],
        yerr=errors(series.points),
        color=COLOURS[number],
        marker=MARKERS[number],
        markersize=5,
        label=short(series.name),
        **style,
    )


def _from_0_to_1(ax: "Axes") -> None:
    ax.set_ylim(-0.03, 1.03)


def _legend(figure: "Figure", handles: Sequence[Any]) -> None:
    """Name the series, if there are several."""
    if len(handles) > 1:
        figure.legend(handles=handles, loc="outside upper left", ncols=2, fontsize=9.5)


def _series_of(ax: "Axes") -> list[Any]:
    return ax.get_legend_handles_labels()[0]
