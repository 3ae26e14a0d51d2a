"""A matplotlib figure as SVG that stands in a page: its colours are the page's, its words text.

matplotlib writes colours as they are given to it. Each colour of the page has one here that nobody
would choose, which is replaced by the page's variable afterwards: so a plot is readable in a dark
page and in a light one.
"""

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from atlas_search.core.registry import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


def svg_of(figure: "Figure", id_: str) -> str:
    """The figure as an element for a page; its ids begin with `id_`, another for each plot."""
    written = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(written, format="svg", metadata=nothing)
    svg = written.getvalue()
    svg = svg[svg.index("<svg") :].rstrip()
    svg = re.sub(r"<metadata>.*?</metadata>\s*|<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(
        r'(<svg[^>]*?) width="[^"]*" height="[^"]*"|(<svg[^>]*?) height="[^"]*"', r"\1\2", svg
    )
    end = svg.index(">")
    svg = re.sub(r' (?:width|height)="[^"]*"', "", svg[:end]) + svg[end:]  # the page says it
    svg = re.sub(r'\bid="', f'id="{id_}-', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{id_}-", svg)
    for colour, variable in _VARIABLES.items():
        svg = svg.replace(colour, f"var({variable})")
    return svg
