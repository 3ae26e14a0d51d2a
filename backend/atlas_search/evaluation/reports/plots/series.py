"""What plots show."""

from collections.abc import Sequence
from typing import NamedTuple

from atlas_search.evaluation.scored import Figure


class Point(NamedTuple):
    """A value at a place, and the ends of its 95% interval."""

    x: float
    y: float
    low: float
    high: float


class Series(NamedTuple):
    """Points that belong together, in the order of their places."""

    name: str
    points: tuple[Point, ...]


class Panel(NamedTuple):
    """One of several pictures side by side."""

    title: str
    series: tuple[Series, ...]


class Row(NamedTuple):
    """A named line of a plot, with a figure of each series that has one."""

    name: str
    figures: tuple[Figure | None, ...]


class Count(NamedTuple):
    """A bin with the number of its answers."""

    low: float
    high: float
    answers: int


def point(x: float, figure: Figure) -> Point:
    """A figure at a place."""
    return Point(x, figure.mean, figure.low, figure.high)


def short(text: str, longest: int = 26) -> str:
    """A name as a plot has room for it."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def errors(points: Sequence[Point]) -> list[list[float]]:
    """How far the intervals reach below and above."""
    return [
        [max(each.y - each.low, 0.0) for each in points],
        [max(each.high - each.y, 0.0) for each in points],
    ]
