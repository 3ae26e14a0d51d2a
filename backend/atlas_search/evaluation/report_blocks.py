"""Blocks of a report, and the report as HTML and Markdown by two templates."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from atlas_search.documents.export import escape_line
from atlas_search.evaluation.report_analysis import Faults, ReportFault
from atlas_search.evaluation.scored import visible


@dataclass(frozen=True)
class ReportText:
    """A paragraph; `warning` for what takes from the worth of the figures."""

    text: str
    warning: bool = False


@dataclass(frozen=True)
class Table:
    """Cells in rows. The first `texts` columns are words, the others numbers, but for a last
    `remark`.

    A `folded` one is opened by who wants it. The heads of one with two columns that are a name and
    its value are empty.
    """

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: int = 1
    folded: bool = False
    remark: bool = False

    def is_number(self, column: int) -> bool:
        """Return whether a column, from 0, holds numbers."""
        return self.texts <= column < len(self.heads) - self.remark


def of_runs(runs: int, table: Table) -> Table:
    """`table`, whose first column names the run; without it where there is only one."""
    if runs > 1:
        return table
    rows = tuple(row[1:] for row in table.rows)
    return replace(table, heads=table.heads[1:], rows=rows, texts=table.texts - 1)


@dataclass(frozen=True)
class Plot:
    """A picture with the figures that it shows. `alt` says what is to be seen, with numbers.

    `draw` gives SVG, and may raise anything.
    """

    title: str
    alt: str
    draw: Callable[[], str]
    table: Table


@dataclass(frozen=True)
class ReportSection:
    """Blocks under a title."""

    title: str
    blocks: tuple["Block", ...]

    @property
    def id(self) -> str:
        """Address of the section within the page."""
        return re.sub(r"[^a-z]+", "-", self.title.lower()).strip("-")


Block = ReportText | Table | Plot | ReportSection


@dataclass(frozen=True)
class Report:
    """A whole report."""

    title: str
    sections: tuple[ReportSection, ...]


def as_html(report: Report, faults: Faults) -> str:
    """Return the page. A plot that cannot be drawn is told as a fault; its figures are there."""

    def text(value: str) -> Markup:
        return escape(visible(value))

    def breakable(cell: str) -> Markup:
        """Names may go on in the next line at a `_`."""
        return text(cell).replace("_", Markup("_<wbr>"))

    def figure(cell: str) -> Markup:
        """An interval stands below its value."""
        value, bracket, interval = text(cell).partition(" [")
        return value + Markup("<small>[{}</small>").format(interval) if bracket else value

    def picture(plot: Plot) -> Markup:
        drawn = faults.attempt("report.html", plot.title, plot.draw)
        if isinstance(drawn, ReportFault):
            told = f"This plot could not be drawn: {drawn.error}"
            return Markup('<p class="warning">{}</p>').format(text(told))
        label = f'<svg role="img" aria-label="{text(plot.alt)}"'
        return Markup(drawn.replace("<svg", label, 1))

    templates = _templates()
    filters = {"text": text, "breakable": breakable, "figure": figure, "picture": picture}
    templates.filters.update(filters)
    return templates.get_template("report.html.jinja").render(report=report)


def as_markdown(report: Report) -> str:
    """Return the text, without markup but its own."""
    templates = _templates()
    templates.filters["line"] = lambda text: escape_line(visible(text))
    return templates.get_template("report.md.jinja").render(report=report)


def _templates() -> Environment:
    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=lambda name: name == "report.html.jinja",
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    kinds = {"table_block": Table, "plot_block": Plot, "section_block": ReportSection}
    for name, kind in kinds.items():
        templates.tests[name] = lambda block, kind=kind: isinstance(block, kind)
    return templates
