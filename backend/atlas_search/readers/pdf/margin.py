"""Numbers in the margin that count the lines of a page, as in bills and law reports: no text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from atlas_search.readers.pdf.page import Line

_STEP = 5
_LEAST = 3
"""Numbers below each other (5, 10, 15) from which on they count lines; fewer do on a page of a
document that has such a column elsewhere."""

_BETWEEN = range(2, 8)
"""Lines between two numbers: the rows of a table that counts by fives stand closer."""

_ABOVE = range(2, 12)
"""Lines above the first number of so short a column, the head of the page among them: a note of
this number stands below more."""

_GOING_ON, _FULL, _MOST_FULL = 0.2, 0.75, 0.7
"""The share of lines of prose that go on with the one before; the share of the width from which
that is full, and of such lines that are: rows of a table go on from short ones."""

_LEAST_LINE = 25  # characters; where all lines are shorter they are cells

_APART = 12.0  # points from a number to the words of its line
_ALIGNED = 8.0  # points between numbers below each other: 5 and 10 align at the left or the right
_ONE_BASE = 2.0  # points between the bases of one line
_FIRST = re.compile(r"\d{1,3}(?=\s)")
_ENDED = re.compile(r"[.:;!?…][\"'”’)\]]{0,3}$")
_LAST = re.compile(r"(?<=\s)\d{1,3}\Z")


@dataclass(frozen=True, slots=True)
class _Number:
    """A number at one end of a line: where it stands, and the line without it."""

    value: int
    place: float
    line: Line
    rest: Line


def without_line_numbers(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """The lines of all pages without the numbers 5, 10, 15 ... that count them."""
    found = [_columns(page, _LEAST) for page in pages]
    places = [number.place for columns in found for column in columns for number in column]
    return [_without(page, _columns(page, 1, places) if places else []) for page in pages]


def _without(page: Sequence[Line], columns: Sequence[Sequence[_Number]]) -> list[Line]:
    rest = {id(number.line): number.rest for column in columns for number in column}
    kept = [rest.get(id(line), line) for line in page]
    return [now for line, now in zip(page, kept, strict=True) if now.text or not line.text]


def _columns(page: Sequence[Line], least: int, places: Sequence[float] = ()) -> list[list[_Number]]:
    """The columns of numbers at the left and at the right; `places` are those to look at."""
    filled = [line for line in page if line.text]
    sides = (_at_left(filled), _at_right(filled))
    found = (_counting(list(numbers), filled, places) for numbers in sides)
    return [column for column in found if len(column) >= least]


def _at_left(lines: Sequence[Line]) -> Iterator[_Number]:
    for line in lines:
        if match := _FIRST.match(line.text):
            if line.words_left - line.left >= _APART:
                rest = replace(line, text=line.text[match.end() :].lstrip(), left=line.words_left)
                yield _Number(int(match[0]), line.left, line, rest)
        elif line.text.isdecimal():
            yield _Number(int(line.text[:9]), line.left, line, replace(line, text=""))


def _at_right(lines: Sequence[Line]) -> Iterator[_Number]:
    for line in lines:
        if match := _LAST.search(line.text):
            if line.right - line.words_right >= _APART:
                rest = replace(
                    line, text=line.text[: match.start()].rstrip(), right=line.words_right
                )
                yield _Number(int(match[0]), line.right, line, rest)
        elif line.text.isdecimal():
            yield _Number(int(line.text[:9]), line.right, line, replace(line, text=""))


def _counting(
    numbers: Sequence[_Number], lines: Sequence[Line], places: Sequence[float]
) -> list[_Number]:
    """The numbers 5, 10, 15 ... from the top, if they stand outside the text they count."""
    found: list[_Number] = []
    for number in sorted(numbers, key=lambda number: -number.line.height):
        near = [found[0].place] if found else places or [number.place]
        is_near = any(abs(number.place - place) <= _ALIGNED for place in near)
        if number.value == _STEP * (len(found) + 1) and is_near:
            found.append(number)
    if not found:
        return []
    beside = _beside(found, lines)
    is_column = _is_outside(found, beside) and _counts(found, lines)
    is_sure = _is_prose(beside) if len(found) >= _LEAST else _is_at_top(found[0], lines)
    return found if is_column and is_sure else []


def _beside(numbers: Sequence[_Number], lines: Sequence[Line]) -> list[Line]:
    """What stands at the height of the numbers and between them, without them."""
    top, bottom = numbers[0].line.height + _ONE_BASE, numbers[-1].line.height - _ONE_BASE
    rest = {id(number.line): number.rest for number in numbers}
    beside = (rest.get(id(line), line) for line in lines if bottom <= line.height <= top)
    return [line for line in beside if line.text]


def _is_outside(numbers: Sequence[_Number], beside: Sequence[Line]) -> bool:
    left, right = (pick(number.place for number in numbers) for pick in (max, min))
    return all(line.left > left for line in beside) or all(line.right < right for line in beside)


def _is_prose(lines: Sequence[Line]) -> bool:
    """Whether sentences go on from line to line, and from full ones."""
    if max((len(line.text) for line in lines), default=0) < _LEAST_LINE:
        return False
    first = min(line.left for line in lines)
    ends = sorted(line.right - first for line in lines)
    width = ends[len(ends) * 9 // 10]
    open_ = [
        before
        for before, after in pairwise(lines)
        if after.text[0].islower() and not _ENDED.search(before.text)
    ]
    full = sum(line.right - first >= _FULL * width for line in open_)
    return len(open_) > _GOING_ON * (len(lines) - 1) and full >= _MOST_FULL * len(open_)


def _is_at_top(number: _Number, lines: Sequence[Line]) -> bool:
    above = {
        round(line.height / _ONE_BASE)
        for line in lines
        if line.height > number.line.height + _ONE_BASE
    }
    return len(above) in _ABOVE


def _counts(numbers: Sequence[_Number], lines: Sequence[Line]) -> bool:
    """Whether as many lines stand above each number and between two as they say."""
    bases = sorted({round(line.height / _ONE_BASE) for line in lines}, reverse=True)
    heights = [round(number.line.height / _ONE_BASE) for number in numbers]
    between = [
        sum(below + 1 < base < above - 1 for base in bases) for above, below in pairwise(heights)
    ]
    return all(count in _BETWEEN for count in between)
