"""The lines that a page draws, and the grids that they form."""

from bisect import bisect
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from ctypes import byref, c_float, c_int
from math import inf
from typing import NamedTuple

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage

from atlas_search.readers.print import runs_of

_MOST = 5_000
"""Strokes of a page; a drawing has more, and no grid is looked for."""

_STRAIGHT = 1.0  # point by which the ends of a rule may stand above each other
_NEAR = 3.0  # points between rules, or their ends, that touch
_SHORTEST = 8.0  # points
_THICK = 2.0  # points, at most, from one edge of a thick rule to the other
_MOST_RULES = 300  # in each direction
_FEWEST = 2  # sides of a grid; with no more it is a box

Point = tuple[float, float]
Stroke = tuple[Point, Point]


class Rule(NamedTuple):
    """A straight line: its height, or how far to the right it stands, and its two ends."""

    at: float
    start: float
    end: float


class RuleGrid:
    """Rules that cross each other; rows are counted from below, columns from the left."""

    def __init__(self, across: Collection[Rule], down: Collection[Rule]) -> None:
        self.heights = _places([rule.at for rule in across] + [e for r in down for e in r[1:]])
        self.sides = _places([rule.at for rule in down] + [e for r in across for e in r[1:]])
        self._across = [_beside(across, height) for height in self.heights]
        self._down = [_beside(down, side) for side in self.sides]

    def cell(self, x: float, y: float) -> tuple[range, range] | None:
        """The rows and the columns of the cell at a place."""
        row, column = bisect(self.heights, y) - 1, bisect(self.sides, x) - 1
        if not (0 <= row < len(self.heights) - 1 and 0 <= column < len(self.sides) - 1):
            return None
        return _between(self._across, row, x), _between(self._down, column, y)

    def parts(self, end: float, begin: float, y: float) -> bool:
        """Say if a rule stands between the end of one text and the beginning of another."""
        at = bisect(self.sides, min(end, begin) - _STRAIGHT)
        is_between = at < len(self.sides) and self.sides[at] <= max(end, begin) + _STRAIGHT
        return is_between and _covers(self._down[at], y)


def _between(lines: Sequence[Sequence[Rule]], at: int, place: float) -> range:
    first, last = at, at + 1
    while first > 0 and not _covers(lines[first], place):
        first -= 1
    while last < len(lines) - 1 and not _covers(lines[last], place):
        last += 1
    return range(first, last)


def _covers(rules: Sequence[Rule], place: float) -> bool:
    return any(rule.start <= place <= rule.end for rule in rules)


def _beside(rules: Iterable[Rule], at: float) -> list[Rule]:
    return [rule for rule in rules if abs(rule.at - at) <= _NEAR]


def _places(places: Iterable[float]) -> list[float]:
    near = runs_of(sorted(places), lambda before, place: place - before <= _NEAR)
    return [sum(run) / len(run) for run in near]


def grids(page: PdfPage, turned: Callable[[float, float], Point]) -> list[RuleGrid]:
    """The grids of a page with several columns, in a page so `turned`."""
    across, down = map(_joined, _rules(_strokes(page)))
    if max(len(across), len(down)) > _MOST_RULES:
        return []
    strokes = [(turned(rule.start, rule.at), turned(rule.end, rule.at)) for rule in across]
    strokes += [(turned(rule.at, rule.start), turned(rule.at, rule.end)) for rule in down]
    found = (RuleGrid(*group) for group in _crossing(*_rules(strokes)))
    return [grid for grid in found if len(grid.sides) > _FEWEST and len(grid.heights) > _FEWEST]


def _rules(strokes: Iterable[Stroke]) -> tuple[list[Rule], list[Rule]]:
    across, down = [], []
    for (left, low), (right, high) in strokes:
        if abs(high - low) <= _STRAIGHT:
            across.append(Rule((low + high) / 2, *sorted((left, right))))
        elif abs(right - left) <= _STRAIGHT:
            down.append(Rule((left + right) / 2, *sorted((low, high))))
    return across, down


def _strokes(page: PdfPage) -> Iterator[Stroke]:
    """The straight strokes of all paths; an area without a frame, such as a shade, has none."""
    left = _MOST
    sides, fill, line = [c_float() for _ in range(4)], c_int(), c_int()
    references = list(map(byref, sides))
    for index in range(pdfium.FPDFPage_CountObjects(page)):
        path = pdfium.FPDFPage_GetObject(page, index)
        if pdfium.FPDFPageObj_GetType(path) != pdfium.FPDF_PAGEOBJ_PATH or left < 0:
            continue
        pdfium.FPDFPageObj_GetBounds(path, *references)
        x, y, right, top = (side.value for side in sides)
        if top - y <= _THICK:
            yield (x, (y + top) / 2), (right, (y + top) / 2)
        elif right - x <= _THICK:
            yield ((x + right) / 2, y), ((x + right) / 2, top)
        elif pdfium.FPDFPath_GetDrawMode(path, byref(fill), byref(line)) and line.value:
            left -= pdfium.FPDFPath_CountSegments(path)
            yield from _strokes_of(path) if left >= 0 else ()


def _strokes_of(path: pdfium.FPDF_PAGEOBJECT) -> Iterator[Stroke]:
    matrix, x, y = pdfium.FS_MATRIX(), c_float(), c_float()
    pdfium.FPDFPageObj_GetMatrix(path, byref(matrix))
    start = before = (0.0, 0.0)
    for index in range(pdfium.FPDFPath_CountSegments(path)):
        segment = pdfium.FPDFPath_GetPathSegment(path, index)
        pdfium.FPDFPathSegment_GetPoint(segment, byref(x), byref(y))
        point = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            start = point
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            yield before, point
        if pdfium.FPDFPathSegment_GetClose(segment):
            yield point, start
        before = point


def _joined(rules: Sequence[Rule]) -> list[Rule]:
    """The rules with those in one line that touch as one."""
    joined = []
    for line in runs_of(sorted(rules), lambda before, rule: rule.at - before.at <= _THICK):
        at = sum(rule.at for rule in line) / len(line)
        whole = Rule(at, inf, -inf)
        for rule in sorted(line, key=lambda rule: rule.start):
            if rule.start > whole.end + _NEAR:
                joined.append(whole)
                whole = Rule(at, *rule[1:])
            whole = whole._replace(end=max(whole.end, rule.end))
        joined.append(whole)
    return [rule for rule in joined if rule.end - rule.start >= _SHORTEST]


def _crossing(across: Iterable[Rule], down: Sequence[Rule]) -> list[tuple[list[Rule], set[Rule]]]:
    """The rules across and down of each group of those that touch."""
    groups: list[tuple[list[Rule], set[Rule]]] = []
    for rule in across:
        group = [rule], {other for other in down if _cross(rule, other)}
        for other in [each for each in groups if each[1] & group[1]]:
            groups.remove(other)
            group = [*group[0], *other[0]], group[1] | other[1]
        groups.append(group)
    return groups


def _cross(across: Rule, down: Rule) -> bool:
    return (
        across.start - _NEAR <= down.at <= across.end + _NEAR
        and down.start - _NEAR <= across.at <= down.end + _NEAR
    )
