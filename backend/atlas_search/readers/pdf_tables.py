"""The tables of a printed page, told by their white space."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise, takewhile
from statistics import median
from typing import NamedTuple

from atlas_search.readers.markup import MOST_COLUMNS, header_of, write_row
from atlas_search.readers.pdf_line import (
    BREAK,
    BROKEN,
    LEAST_LINE,
    SAME,
    PrintedLine,
    is_prose,
    whole,
)
from atlas_search.readers.print import runs_of

_ONE_BASE = 2.0  # points between the bases of one row
_NEXT = 40.0  # points, at most, from a row to the next one
_APART = 0.8  # of the size of the type: what is nearer is in one cell
_FARTHER = 2.2
"""The ratio of the distance to the next row to the usual one from which on it is none of the table:
a running head, or a caption."""

_FULL = 0.8  # of the width of its column, from which on a line of a cell goes on in the next one
_PITCH = 1.7  # of the size of the type, at most, from a line of a cell to the next one
_ROWS = 3  # of several cells
_ALIGNED = 0.6  # share of the cells of a column that begin, end or have their middle at one place
_FIGURES = 0.5  # share of the cells of a column that are figures
_IN_ORDER = 0.9  # share of the cells that were drawn after the one before, if row by row
_SHORT = 30  # characters of half of the cells, at most
_HEADS = 3  # rows
_LETTER = re.compile(r"[^\W\d_]")
_MARK = re.compile(r"[•◦▪●○■□‣⁃∙*]|\(?(?:\d{1,2}|[a-z]|[ivx]{2,5})[.)]")  # of an item of a list
_NAME = re.compile(r"[^\W\d_]{2}")
_HEAD = re.compile(r"[^\W\d_]|[%#№€$£]")
_BRACKETED = re.compile(r"\(.*\)")
_FILLER = 4  # characters for no figure: `n.a.`

Row = list[PrintedLine]
Columns = list[list[PrintedLine]]
Edges = list[tuple[float, float]]
"""The left and the right end of each column."""


class Table(NamedTuple):
    """The parts of lines that are cells of a table, and a line for each of its rows."""

    parts: list[PrintedLine]
    rows: list[PrintedLine]


def tables(parts: Sequence[PrintedLine]) -> Iterator[Table]:
    """The tables among parts of lines in the order in which they were drawn.

    Cells that stand below each other, apart from others, are a column. A table has figures in one
    that is not the first, or three columns and was drawn row by row; most columns are aligned,
    their cells short, and none is prose. What was drawn apart from the rows beside it is none of
    them.
    """
    rows, pieces = _rows([part for part in parts if not part.turn and part.left < part.right])
    number = {id(part): at for at, part in enumerate(parts)}
    drawn = {cell: number[id(own[0])] for cell, own in pieces.items()}
    for above, lines, edges in _regions(rows):
        region = _with_wrapped(lines, edges, pieces, drawn)
        start, end = _trim(region, pieces)
        above, region = region[start - 1] if start else above, region[start:end]
        columns = _columns(region, edges)
        cells = [cell for row in region for cell in row]
        left = _drawn_apart(cells, columns, drawn)
        sides = [
            [cell for cell in cells if (id(cell) in left) == is_left] for is_left in (True, False)
        ]
        own = [
            sorted(
                (part for cell in side for part in pieces[id(cell)]),
                key=lambda part: number[id(part)],
            )
            for side in sides
        ]
        if left:
            yield from chain(*map(tables, own))
        elif _is_table(region, columns, [drawn[id(cell)] for cell in cells]):
            yield Table(own[1], _written(region, columns, above))


def _drawn_apart(
    cells: Sequence[PrintedLine], columns: Columns, drawn: Mapping[int, int]
) -> set[int]:
    """The cells of the first columns, if they and the others were drawn one after the other, and
    several columns of one side row by row: they are not of one table."""
    for at in range(1, len(columns)):
        left = {id(cell) for column in columns[:at] for cell in column}
        one = [drawn[id(cell)] for cell in cells if id(cell) in left]
        other = [drawn[id(cell)] for cell in cells if id(cell) not in left]
        are_rows = (at > 1 and _are_in_order(one)) or (
            at < len(columns) - 1 and _are_in_order(other)
        )
        if are_rows and (max(one) < min(other) or max(other) < min(one)):
            return left
    return set()


def _are_in_order(places: Sequence[int]) -> bool:
    in_order = sum(before < place for before, place in pairwise(places))
    return in_order >= _IN_ORDER * (len(places) - 1)


def _rows(parts: Sequence[PrintedLine]) -> tuple[list[Row], dict[int, list[PrintedLine]]]:
    """The rows from top to bottom, their cells from left to right, and the parts of each cell."""
    pieces: dict[int, list[PrintedLine]] = {}
    rows = []
    ordered = sorted(parts, key=lambda part: -part.height)
    for row in runs_of(ordered, lambda before, part: before.height - part.height <= _ONE_BASE):
        row.sort(key=lambda part: part.left)
        cells = runs_of(row, _is_in_cell)
        rows.append([whole(cell) for cell in cells])
        pieces |= {id(cell): own for cell, own in zip(rows[-1], cells, strict=True)}
    return rows, pieces


def _is_in_cell(before: PrintedLine, part: PrintedLine) -> bool:
    is_near = part.left - before.right < _APART * part.size
    return is_near or _MARK.fullmatch(before.text) is not None


def _regions(rows: Sequence[Row]) -> Iterator[tuple[Row, list[Row], Edges]]:
    """The rows that follow each other and have their cells in the same columns, with that above
    them; alone in its row a cell belongs to a column that others have."""
    first, edges = 0, Edges()
    for number, row in enumerate([*rows, []]):
        is_next = not number or (row and rows[number - 1][0].height - row[0].height <= _NEXT)
        fitting = _fit(edges, row) if is_next else None
        if fitting is None and number:
            yield rows[first - 1] if first else [], list(rows[first:number]), edges
            first, fitting = number, _fit([], row)
        edges = fitting or []


def _with_wrapped(
    rows: Sequence[Row],
    edges: Edges,
    pieces: dict[int, list[PrintedLine]],
    drawn: dict[int, int],
) -> list[Row]:
    """The rows, with each line on which all cells go on that are full in the line above."""
    merged: list[dict[int, PrintedLine]] = []
    ends: dict[int, PrintedLine] = {}
    first = min((left for left, _ in edges), default=0.0)
    for row in rows:
        places = {_over(cell, edges)[0]: cell for cell in row}
        if merged and all(
            at in ends and _goes_on(ends[at], cell, edges[at], is_first=edges[at][0] == first)
            for at, cell in places.items()
        ):
            for at, cell in places.items():
                before = merged[-1][at]
                is_broken = BREAK.search(text := before.text + "-" * before.broken)
                text = f"{text[:-1]}{BROKEN}\n" if is_broken else f"{text} "
                now = replace(cell, text=text + cell.text, left=min(before.left, cell.left))
                merged[-1][at] = replace(
                    now, height=before.height, right=max(before.right, cell.right)
                )
                pieces[id(merged[-1][at])] = [*pieces[id(before)], *pieces[id(cell)]]
                drawn[id(merged[-1][at])] = drawn[id(before)]
        else:
            merged.append(dict(places))
            ends = {}
        ends |= places
    return [list(row.values()) for row in merged]


def _goes_on(
    before: PrintedLine, cell: PrintedLine, edges: tuple[float, float], *, is_first: bool
) -> bool:
    left, right = edges
    is_full = before.right - left >= _FULL * (right - left)
    is_near = before.height - cell.height <= _PITCH * cell.size
    may_go_on = cell.text[0].islower() or (not is_first and len(before.text) >= LEAST_LINE)
    return is_full and is_near and may_go_on and not _is_figure(cell.text)


def _fit(edges: Edges, row: Row) -> Edges | None:
    """The edges of columns with those of the cells of a row; None if it has other columns."""
    now = list(edges)
    taken: set[int] = set()
    for cell in row if len(row) <= MOST_COLUMNS else ():
        over = _over(cell, now)
        if len(over) > 1 or not taken.isdisjoint(over) or (edges and len(row) == 1 and not over):
            return None
        if over:
            left, right = now[over[0]]
            now[over[0]] = min(left, cell.left), max(right, cell.right)
        else:
            now.append((cell.left, cell.right))
        taken.add(over[0] if over else len(now) - 1)
    return now if taken and len(now) <= MOST_COLUMNS else None


def _over(cell: PrintedLine, edges: Edges) -> list[int]:
    return [n for n, (left, right) in enumerate(edges) if cell.left < right and left < cell.right]


def _trim(rows: Sequence[Row], pieces: Mapping[int, Sequence[PrintedLine]]) -> tuple[int, int]:
    """Where rows begin and end without those that hold one cell, or stand far from the others."""
    ends = [min(part.height for cell in row for part in pieces[id(cell)]) for row in rows]
    gaps = [end - below[0].height for end, below in zip(ends, rows[1:], strict=False)]
    far = _FARTHER * median(gaps) if gaps else 0.0
    start, end = 0, len(rows)
    while start < end and (len(rows[start]) == 1 or (start + 1 < end and gaps[start] > far)):
        start += 1
    while end > start and (len(rows[end - 1]) == 1 or (end - 2 >= start and gaps[end - 2] > far)):
        end -= 1
    return start, end


def _columns(rows: Sequence[Row], edges: Edges) -> Columns:
    columns: defaultdict[int, list[PrintedLine]] = defaultdict(list)
    for cell in (cell for row in rows for cell in row):
        columns[_over(cell, edges)[0]].append(cell)
    return sorted(columns.values(), key=lambda column: min(cell.left for cell in column))


def _is_table(rows: Sequence[Row], columns: Columns, places: Sequence[int]) -> bool:
    """Say if rows are those of a table; `places` of their cells are those in which they were
    drawn."""
    several = [row for row in rows if len(row) > 1]
    cells = [cell for row in rows for cell in row]
    if len(several) < max(_ROWS, len(rows) / 2) or len(columns) < 2:
        return False
    if median(len(cell.text) for cell in cells) > _SHORT:
        return False
    if any(map(is_prose, columns)):
        return False
    if sum(map(_is_aligned, columns)) < max(2, len(columns) / 2):
        return False
    if any(map(_are_figures, columns[1:])):
        return True
    return len(columns) > 2 and _are_in_order(places)


def _is_aligned(column: Sequence[PrintedLine]) -> bool:
    places = (
        [cell.left for cell in column],
        [cell.right for cell in column],
        [(cell.left + cell.right) / 2 for cell in column],
    )
    return any(
        sum(abs(place - at) <= SAME for place in of) >= _ALIGNED * len(of)
        for of in places
        for at in (median(of), Counter(map(round, of)).most_common(1)[0][0])
    )


def _are_figures(column: Sequence[PrintedLine]) -> bool:
    figures = sum(_is_figure(cell.text) for cell in column)
    return figures >= _ROWS and figures >= _FIGURES * len(column)


def _is_figure(text: str) -> bool:
    """Say if a cell is a figure, maybe with its unit: `9 m`, `$0.44M`."""
    digits = sum(map(str.isdecimal, text))
    return digits > 0 and sum(map(str.isalpha, text)) <= digits


def is_row(parts: Sequence[PrintedLine]) -> bool:
    """Say if parts of one line are a row, be it the only one: a name with a figure well behind it,
    or three short cells."""
    wide = [
        after.left - before.right > 2 * _APART * after.size for before, after in pairwise(parts)
    ]
    if not wide or not all(wide) or max(len(part.text) for part in parts) > 2 * _SHORT:
        return False
    is_named = _LETTER.search(parts[0].text) and not _is_figure(parts[0].text)
    return len(parts) > 2 or bool(is_named and _is_figure(parts[-1].text))


def _written(rows: Sequence[Row], columns: Columns, above: Row) -> list[PrintedLine]:
    """A line for each row, its cells behind the heads of their columns if the table has such.

    No head is sure below a row that may head several columns, nor below other heads.
    """
    column_of = {id(cell): n for n, column in enumerate(columns) for cell in column}
    texts = [[""] * len(columns) for _ in rows]
    for cells, row in zip(texts, rows, strict=True):
        for cell in row:
            cells[column_of[id(cell)]] = cell.text + "-" * cell.broken
    figures = [n for n, column in enumerate(columns) if n and _are_figures(column)]
    is_near = above and above[0].height - rows[0][0].height <= _NEXT
    may_span = is_near and (len(above) > 1 or above[0].left >= columns[1][0].left)
    last, header = (0, ()) if may_span or not figures else _heads(texts, figures)
    lines = []
    for number, (row, cells) in enumerate(zip(rows, texts, strict=True)):
        header = () if number >= last and _are_letters([cells[n] for n in figures]) else header
        is_named = header and number >= last and len(row) > 1
        written = write_row(cells, header) if is_named else write_row([*filter(None, cells)])
        line = replace(row[0], text=" ".join(filter(None, cells)), row=written, broken=False)
        lines.append(replace(line, right=row[-1].right, words_right=row[-1].words_right))
    return lines


def _heads(texts: Sequence[Sequence[str]], figures: Sequence[int]) -> tuple[int, tuple[str, ...]]:
    """The number of rows of heads, and the heads; none where they are not sure.

    They are letters above all columns of figures; in further rows those above go on.
    """
    over = [[cells[n] for n in figures] for cells in texts]
    last = len(list(takewhile(_are_letters, over)))
    if last == 0 and len(figures) > 1 and not any(map(_NAME.match, chain(*over[1:]))):
        last = all(map(_NAME.match, over[0]))  # `FY 2007`, above figures alone
    names = [" ".join(filter(None, of)) for of in zip(*texts[:last], strict=True)]
    is_sure = (
        0 < last <= _HEADS
        and all(_is_figure(text) or len(text) <= _FILLER for text in over[last])
        and not any(cells[0] for cells in texts[1:last])
        and all(map(_HEAD.search, names[1:]))
        and len(set(names)) == len(names)
    )
    return (last, header_of(names)) if is_sure else (0, ())


def _are_letters(cells: Sequence[str]) -> bool:
    """Say if cells above figures, or among them, are none; `(000)` or `(n = 9)` may be a unit."""
    return any(cells) and not any(
        _is_figure(cell) and not _BRACKETED.fullmatch(cell) for cell in cells
    )
