"""Precision over coverage, drawn: a line for each set alone, and one for all together."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from benchmarks.truth.figures import Figures

FORMATS = (".svg", ".png", ".pdf")
SIZE = (8.0, 5.0)  # inches
LEAST = 0.05
"""Coverage from which a line is drawn: below it a few answers decide."""


def plot(found: Sequence[Figures], path: Path) -> None:
    """Write the lines of `found` into a file whose suffix is one of FORMATS."""
    # the same figures give the same bytes
    with rc_context({"svg.hashsalt": "truth", "svg.fonttype": "none"}):
        drawn = _draw(found)
        drawn.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)


def _draw(found: Sequence[Figures]) -> Figure:
    drawn = Figure(figsize=SIZE, layout="constrained")
    axes = drawn.add_subplot()
    for figures in found:
        points = [point for point in zip(*figures.curve, strict=True) if point[0] >= LEAST]
        together = figures.section == "together"
        name = f"together, {figures.name}" if together else figures.name
        label = f"{name} ({figures.area.mean:.3f})" if figures.area else name
        style = {"color": "black", "linewidth": 2.5} if together else {"linewidth": 1.5}
        axes.plot(*zip(*points, strict=True), label=label, **style)
    axes.set(
        xlim=(0, 1),
        ylim=(0, 1),
        xlabel="coverage: share of answerable questions that are answered",
        ylabel="precision: share of these answers that are right",
    )
    axes.grid(alpha=0.3)
    axes.legend(loc="lower left", title="set (area under the line)")
    return drawn
