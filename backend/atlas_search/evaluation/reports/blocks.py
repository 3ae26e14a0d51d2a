"""What a report is made of, whatever it is written as. Every text is plain text."""

from collections.abc import Callable
from dataclasses import dataclass


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
    """Cells in rows. The first `texts` columns are words, the others numbers.

    A `folded` one is opened by who wants it.
    """

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: int = 1
    folded: bool = False


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
