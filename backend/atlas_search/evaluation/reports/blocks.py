"""What a report is made of, whatever it is written as. Every text is plain text."""

from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Words:
    """A paragraph; `warning` for what takes from the worth of the figures."""

    text: str
    warning: bool = False


@dataclass(frozen=True)
class Listing:
    """Sentences, one below the other."""

    items: tuple[str, ...]


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
        """Whether a column, from 0, holds numbers."""
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
class Section:
    """Blocks under a title."""

    title: str
    blocks: tuple["Block", ...]


Block = Words | Listing | Table | Plot | Section


@dataclass(frozen=True)
class Report:
    """A whole report."""

    title: str
    sections: tuple[Section, ...]
