"""The tables of a printed page, told by their rules or by their white space."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise, takewhile
from statistics import median
from typing import NamedTuple

from atlas_search.readers.markup import LONGEST_SPAN, MOST_COLUMNS, header_of, write_row
from atlas_search.readers.pdf_rules import RuleGrid
from atlas_search.readers.print import (
    BREAK,
    BROKEN,
    LEAST_LINE,
    SAME,
    PrintedLine,
    is_prose,
    runs_of,
    whole,
)

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
_OWN = 0.75  # share of the rows of a grid that have a cell for themselves
_SHORT_LINE = 0.6  # of the width of its column: the next word would have stood on it
_LONGEST = 20  # lines of a cell; more are those of a page in a frame
_LETTER = re.compile(r"[^\W\d_]")
_MARK = re.compile(r"[•◦▪●○■□‣⁃∙*]|\(?(?:\d{1,2}|[a-z]|[ivx]{2,5})[.)]")  # of an item of a list
_NAME = re.compile(r"[^\W\d_]{2}")
_HEAD = re.compile(r"[^\W\d_]|[%#№€$£]")
_BRACKETED = re.compile(r"\(.*\)")
_FILLER = 4  # characters for no figure: `n.a.`

Place = tuple[range, range]
"""The rows and the columns of a cell in a grid."""

Lines = list[list[PrintedLine]]
"""The parts of each line of a cell."""

Edges = list[tuple[float, float]]
"""The left and the right end of each column."""

_FIRST = range(1)  # until the columns of a cell are known


class _Cell:
    """A cell, its parts, and the last of its lines; the first of its `columns` is its own."""

    def __init__(self, parts: Sequence[PrintedLine], columns: range = _FIRST) -> None:
        self.parts = list(parts)
        self.line = self.last = whole(parts)
        self.columns = columns

    @property
    def column(self) -> int:
        """Its place, counted from the left."""
        return self.columns.start

    def add(self, below: "_Cell") -> None:
        """Let the text go on in the cell on the line below."""
        text = self.line.text + "-" * self.line.broken
        text = f"{text[:-1]}{BROKEN}\n" if BREAK.search(text[-2:]) else f"{text} "
        ends = min(self.line.left, below.line.left), max(self.line.right, below.line.right)
        line = replace(below.line, text=text + below.line.text, height=self.line.height)
        self.line, self.last = replace(line, left=ends[0], right=ends[1]), below.line
        self.parts += below.parts


Row = list[_Cell]


class PrintedTable(NamedTuple):
    """The parts of lines that are cells of a table, and a line for each of its rows."""

    parts: list[PrintedLine]
    rows: list[PrintedLine]


def tables(parts: Sequence[PrintedLine], grids: Iterable[RuleGrid] = ()) -> Iterator[PrintedTable]:
    """The tables among parts of lines in the order in which they were drawn, those in grids first.

    Cells that stand below each other, apart from others, are a column. A table has figures in one
    that is not the first, or three columns and was drawn row by row; most columns are aligned,
    their cells short, and none is prose. What was drawn apart from the rows beside it is none of
    them.
    """
    for grid in grids:
        if table := _ruled(parts, grid):
            yield table
            own = set(map(id, table.parts))
            parts = [part for part in parts if id(part) not in own]
    drawn = {id(part): at for at, part in enumerate(parts)}
    for above, lines, edges in _regions(_rows(parts)):
        for cell in chain(*lines):
            (column,) = _over(cell, edges)
            cell.columns = range(column, column + 1)
        rows = _with_wrapped(lines, edges)
        start, end = _within(rows)
        above, rows = rows[start - 1] if start else above, rows[start:end]
        cells = [(cell, drawn[id(cell.parts[0])]) for row in rows for cell in row]
        own = {id(part) for cell, _ in cells for part in cell.parts}
        if at := _drawn_apart(cells, len(edges)):
            left = {id(part) for cell, _ in cells if cell.column < at for part in cell.parts}
            for side in (left, own - left):
                yield from tables([part for part in parts if id(part) in side])
        elif len(rows) >= _ROWS:
            columns = _columns(rows)
            if _is_table(rows, columns, [place for _, place in cells]):
                yield PrintedTable(
                    [part for part in parts if id(part) in own], _written(rows, columns, above)
                )


def _ruled(parts: Sequence[PrintedLine], grid: RuleGrid) -> PrintedTable | None:
    """The table in a grid, if it is one: what stands between the same rules is a cell."""
    inside: dict[Place, list[PrintedLine]] = defaultdict(list)
    for part in parts:
        middle = (part.left + part.right) / 2
        place = None if part.turn else grid.cell(middle, part.height + part.size / 4)
        if place:
            inside[place].append(part)
    lines = {place: _lines(of) for place, of in inside.items()}
    if not _are_parted(lines):
        return None
    rows = list(_between_rules(lines, grid))
    columns = _columns(rows)
    several = sum(len(row) > 1 for row in rows)
    if several < max(2, len(rows) / 2) or not 1 < len(columns) <= MOST_COLUMNS:
        return None
    return PrintedTable(list(chain(*inside.values())), _written(rows, columns, []))


def _are_parted(cells: Mapping[Place, Lines]) -> bool:
    """Say if rules part all cells: of a drawing they part few rows, of some tables no columns of
    figures, of a page in a frame nothing."""
    beside = Counter(
        columns
        for (_, columns), lines in cells.items()
        for line in lines
        if any(_is_figure(whole(run).text) for run in runs_of(line, _is_in_cell)[1:])
    )
    rows = {row for across, _ in cells for row in across}
    own = {across[0] for across, _ in cells if len(across) == 1}
    return (
        max(beside.values(), default=0) < _ROWS
        and max(map(len, cells.values()), default=0) <= _LONGEST
        and len(own) >= _OWN * len(rows)
    )


def _between_rules(cells: Mapping[Place, Lines], grid: RuleGrid) -> Iterator[Row]:
    """The rows from top to bottom. A cell stands in each that it spans, unless it is too long."""
    for number in reversed(range(len(grid.heights) - 1)):
        own = {place: lines for place, lines in cells.items() if number in place[0]}
        first = {place: lines for place, lines in own.items() if place[0][-1] == number}
        row = [
            cell
            for place, lines in own.items()
            if len((cell := _cell(lines, place[1])).line.text) <= LONGEST_SPAN or place in first
        ]
        rows = [row] if row else []
        if _are_several(own, grid):
            single = [_Cell(line, place[1]) for place, lines in first.items() for line in lines]
            single.sort(key=lambda cell: -cell.line.height)
            rows = _with_wrapped(runs_of(single, _is_beside), list(pairwise(grid.sides)))
        yield from (sorted(each, key=lambda cell: cell.column) for each in rows)


def _is_beside(before: _Cell, cell: _Cell) -> bool:
    return before.line.height - cell.line.height <= _ONE_BASE


def _are_several(cells: Mapping[Place, Lines], grid: RuleGrid) -> bool:
    """Say if cells between two rules hold several rows: figures below each other, or lines that
    stand beside others and are too short to go on."""
    single = {place: lines for place, lines in cells.items() if len(place[0]) == 1}
    bases = Counter(tuple(round(line[0].height) for line in lines) for lines in single.values())
    for (_, columns), lines in single.items():
        width = grid.sides[columns[-1] + 1] - grid.sides[columns[0]]
        are_short = max(line[-1].right - line[0].left for line in lines) < _SHORT_LINE * width
        is_beside = bases[tuple(round(line[0].height) for line in lines)] > 1
        figures = sum(_is_figure(whole(line).text) for line in lines)
        if len(lines) >= _ROWS and are_short and is_beside:
            return True
        if figures >= min(_ROWS, max(2, len(lines))):
            return True
    return False


def _lines(parts: Sequence[PrintedLine]) -> Lines:
    """The parts of each line of a cell."""
    ordered = sorted(parts, key=lambda part: -part.height)
    lines = runs_of(ordered, lambda before, part: before.height - part.height <= _ONE_BASE)
    return [sorted(line, key=lambda part: part.left) for line in lines]


def _cell(lines: Lines, columns: range) -> _Cell:
    cell, *below = (_Cell(line, columns) for line in lines)
    for each in below:
        cell.add(each)
    return cell


def _columns(rows: Sequence[Row]) -> list[Row]:
    """The cells of each column from left to right."""
    columns: dict[int, Row] = defaultdict(list)
    for cell in chain(*rows):
        columns[cell.column].append(cell)
    return [columns[number] for number in sorted(columns)]


def _drawn_apart(cells: Sequence[tuple[_Cell, int]], columns: int) -> int:
    """The column from which on all was drawn before or after what is to its left, if several
    columns of one side were drawn row by row; else 0."""
    for at in range(1, columns):
        one = [place for cell, place in cells if cell.column < at]
        other = [place for cell, place in cells if cell.column >= at]
        sides = [side for side, count in ((one, at), (other, columns - at)) if count > 1]
        is_apart = bool(one and other) and (max(one) < min(other) or max(other) < min(one))
        if is_apart and any(map(_are_in_order, sides)):
            return at
    return 0


def _are_in_order(places: Sequence[int]) -> bool:
    in_order = sum(before < place for before, place in pairwise(places))
    return in_order >= _IN_ORDER * (len(places) - 1)


def _rows(parts: Sequence[PrintedLine]) -> list[Row]:
    """The rows from top to bottom, their cells from left to right."""
    upright = [part for part in parts if not part.turn and part.left < part.right]
    return [list(map(_Cell, runs_of(row, _is_in_cell))) for row in _lines(upright)]


def _is_in_cell(before: PrintedLine, part: PrintedLine) -> bool:
    is_near = part.left - before.right < _APART * part.size
    return is_near or _MARK.fullmatch(before.text) is not None


def _regions(rows: Sequence[Row]) -> Iterator[tuple[Row, list[Row], Edges]]:
    """The rows that follow each other and have their cells in the same columns, with that above
    them; alone in its row a cell belongs to a column that others have."""
    first, edges = 0, Edges()
    for number, row in enumerate([*rows, []]):
        fitting = _fit(edges, row) if not number or _is_next(rows[number - 1], row) else None
        if fitting is None and number:
            if edges:  # none has a row of too many cells
                yield rows[first - 1] if first else [], list(rows[first:number]), sorted(edges)
            first, fitting = number, _fit([], row)
        edges = fitting or []


def _is_next(above: Row, row: Row) -> bool:
    return bool(above and row) and above[0].line.height - row[0].line.height <= _NEXT


def _fit(edges: Edges, row: Row) -> Edges | None:
    """The edges of columns with those of the cells of a row; None if it has other columns."""
    now = list(edges)
    taken: set[int] = set()
    for cell in row if len(row) <= MOST_COLUMNS else ():
        over = _over(cell, now)
        if len(over) > 1 or not taken.isdisjoint(over) or (edges and len(row) == 1 and not over):
            return None
        at = over[0] if over else len(now)
        left, right = now[at] if over else (cell.line.left, cell.line.right)
        now[at : at + 1] = [(min(left, cell.line.left), max(right, cell.line.right))]
        taken.add(at)
    return now if taken and len(now) <= MOST_COLUMNS else None


def _over(cell: _Cell, edges: Edges) -> list[int]:
    line = cell.line
    return [n for n, (left, right) in enumerate(edges) if line.left < right and left < line.right]


def _with_wrapped(rows: Sequence[Row], edges: Edges) -> list[Row]:
    """The rows, with each line on which all cells go on that are full in the line above."""
    merged: list[Row] = []
    above: dict[int, _Cell] = {}
    for row in rows:
        if merged and all(
            cell.column in above and _goes_on(above[cell.column].last, cell, edges) for cell in row
        ):
            for cell in row:
                above[cell.column].add(cell)
        else:
            merged.append(row)
            above = {cell.column: cell for cell in row}
    return merged


def _goes_on(before: PrintedLine, cell: _Cell, edges: Edges) -> bool:
    left, right = edges[cell.column]
    is_full = before.right - left >= _FULL * (right - left)
    is_near = before.height - cell.line.height <= _PITCH * cell.line.size
    may_go_on = cell.line.text[0].islower() or (cell.column and len(before.text) >= LEAST_LINE)
    return bool(is_full and is_near and may_go_on) and not _is_figure(cell.line.text)


def _within(rows: Sequence[Row]) -> tuple[int, int]:
    """Where rows begin and end without those that hold one cell, or stand far from the others."""
    ends = [min(cell.last.height for cell in row) for row in rows]
    gaps = [end - below[0].line.height for end, below in zip(ends, rows[1:], strict=False)]
    far = _FARTHER * median(gaps) if gaps else 0.0
    start, end = 0, len(rows)
    while start < end and (len(rows[start]) == 1 or (start + 1 < end and gaps[start] > far)):
        start += 1
    while end > start and (len(rows[end - 1]) == 1 or (end - 2 >= start and gaps[end - 2] > far)):
        end -= 1
    return start, end


def _is_table(rows: Sequence[Row], columns: Sequence[Row], places: Sequence[int]) -> bool:
    """Say if rows are those of a table; their cells were drawn in these `places`."""
    lines = [[cell.line for cell in column] for column in columns]
    several = sum(len(row) > 1 for row in rows)
    return (
        several >= max(_ROWS, len(rows) / 2)
        and len(columns) > 1
        and median(len(line.text) for line in chain(*lines)) <= _SHORT
        and not any(map(is_prose, lines))
        and sum(map(_is_aligned, lines)) >= max(2, len(columns) / 2)
        and (any(map(_are_figures, columns[1:])) or (len(columns) > 2 and _are_in_order(places)))
    )


def _is_aligned(lines: Sequence[PrintedLine]) -> bool:
    for places in (
        [line.left for line in lines],
        [line.right for line in lines],
        [(line.left + line.right) / 2 for line in lines],
    ):
        at = Counter(map(round, places)).most_common(1)[0][0]
        if sum(abs(place - at) <= SAME for place in places) >= _ALIGNED * len(places):
            return True
    return False


def _are_figures(column: Sequence[_Cell]) -> bool:
    figures = sum(_is_figure(cell.line.text) for cell in column)
    return figures >= _ROWS and figures >= _FIGURES * len(column)


def _is_figure(text: str) -> bool:
    """Say if a cell is a figure, maybe with its unit: `9 m`, `$0.44M`."""
    digits = sum(map(str.isdecimal, text))
    return digits > 0 and sum(map(str.isalpha, text)) <= digits


def is_row(parts: Sequence[PrintedLine]) -> bool:
    """Say if a line is a row, be it the only one: a name with figures well behind it."""
    gaps = [after.left - before.right for before, after in pairwise(parts)]
    return (
        len(parts) > 1
        and all(gap > 2 * _APART * parts[0].size for gap in gaps)
        and all(_is_figure(part.text) for part in parts[1:])
        and len(parts[0].text) <= 2 * _SHORT
        and _LETTER.search(parts[0].text) is not None
        and not _is_figure(parts[0].text)
    )


def _written(rows: Sequence[Row], columns: Sequence[Row], above: Row) -> list[PrintedLine]:
    """A line for each row, its cells behind the heads of their columns if the table has such.

    No head is sure below a row that may head several columns, nor below other heads.
    """
    figures = [n for n, column in enumerate(columns) if n and _are_figures(column)]
    texts, over_columns = [], []
    for row in rows:
        own = {cell.column: cell.line.text + "-" * cell.line.broken for cell in row}
        over = {number: own[cell.column] for cell in row for number in cell.columns}
        texts.append([own.get(column[0].column, "") for column in columns])
        over_columns.append([over.get(column[0].column, "") for column in columns])
    first = next((n for n, row in enumerate(rows) if len(row) > 1), 0)  # behind a title
    may_span = _is_next(above, rows[0]) and (
        len(above) > 1 or above[0].line.left >= columns[1][0].line.left
    )
    last, header = (0, ()) if may_span or not figures else _heads(over_columns[first:], figures)
    last += first
    result = []
    for number, (row, cells) in enumerate(zip(rows, texts, strict=True)):
        header = () if number >= last and _are_letters([cells[n] for n in figures]) else header
        is_named = header and number >= last and len(row) > 1
        written = write_row(cells, header) if is_named else write_row([*filter(None, cells)])
        right = row[-1].line.right
        line = replace(row[0].line, right=right, words_right=right, broken=False, row=written)
        result.append(replace(line, text=" ".join(filter(None, cells))))
    return result


def _heads(texts: Sequence[Sequence[str]], figures: Sequence[int]) -> tuple[int, tuple[str, ...]]:
    """The number of rows of heads, and the heads; none where they are not sure.

    They are letters above all columns of figures; in further rows those above go on.
    """
    over = [[cells[n] for n in figures] for cells in texts]
    last = len(list(takewhile(_are_letters, over)))
    if last == 0 and len(figures) > 1 and not any(map(_NAME.match, chain(*over[1:]))):
        last = all(map(_NAME.match, over[0]))  # `FY 2007`, above figures alone
    names = [" ".join(dict.fromkeys(filter(None, of))) for of in zip(*texts[:last], strict=True)]
    is_sure = (
        0 < last <= _HEADS
        and all(_is_figure(text) or len(text) <= _FILLER for text in over[last])
        and all(cells[0] in ("", texts[0][0]) for cells in texts[1:last])
        and all(map(_HEAD.search, names[1:]))
        and len(set(names)) == len(names)
    )
    return (last, header_of(names)) if is_sure else (0, ())


def _are_letters(cells: Sequence[str]) -> bool:
    """Say if cells above figures, or among them, are none; `(000)` or `(n = 9)` may be a unit."""
    return any(cells) and not any(
        _is_figure(cell) and not _BRACKETED.fullmatch(cell) for cell in cells
    )
