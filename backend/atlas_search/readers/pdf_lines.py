"""The lines of a printed page in the order in which they are read."""

import re
import sys
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from ctypes import byref, c_double, c_ushort
from dataclasses import replace
from itertools import chain, pairwise
from math import cos, degrees, hypot, radians, sin
from statistics import median, mode
from typing import NamedTuple

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage, PdfTextPage

from atlas_search.readers.markup import plain
from atlas_search.readers.pdf_rules import RuleGrid, grids
from atlas_search.readers.pdf_tables import is_row, tables
from atlas_search.readers.print import (
    BREAK,
    BROKEN,
    LEAST_LINE,
    LEAST_RISE,
    SAME,
    PrintedLine,
    is_prose,
    raised,
    runs_of,
    whole,
)

NEAR = 30.0  # points between the left ends of lines of one column
_MARGIN = 20
"""Numbers below each other from which on they count the lines of the page."""

_NUMBER_FIRST = re.compile(r"\s*\d+\s+(?=\S)")

_ASKEW = 10  # degrees by which scanned pages may be
_DOWNWARD = 90
_RISE = 40.0  # points; what stands higher than that begins a column
BELOW = 20_000.0  # points, more than the highest page has, by which turned lines stand lower
_GUTTER = 6.0  # points; what is nearer on one line is in one column
_BASE = 6.0  # points from the base of a line to that of its raised numbers
_OUT = 12.0  # points by which lines may begin before the left edge of their column
_NARROWEST = 60.0  # points from one edge of columns to the next
_ALIGNED = 3  # lines that begin at the edge of a column
_PIECES = 1.3  # parts of a line of a column: those of a table and of lines set wide have more
_EVERY = 3  # of the lines of a page, in which gaps are looked for before they are in all
_MOST_EDGES = 8  # that are tried
_CHANGES = 1.25
"""Changes of the column for each line of the shortest from which on lines alternate: row by row
there are two, and one where cells of two lines are drawn each in one piece."""

_WORD = re.compile(r"\S+")
_UNSURE = re.compile("[\x02\u0250-\u1fff\u2070-\uffff]")
"""Of the text that pdfium gives at once: the hyphens of broken words, and what may be half a code
that is none."""

_FROM_RIGHT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")  # letters of Hebrew, Arabic
_DIGITS = re.compile(r"[1-9]\d*(?:[,–-]\d{1,3})*(?![\w/⁄])")
_WORD_BEFORE = 12  # characters by which the word before a raised number is known


_Word = tuple[int, int]
"""Where a word begins and ends among the characters of a page."""

Column = list[PrintedLine]
Places = Mapping[int, tuple[int, int]]
"""The number of the line of each part, by its id, and the number of the part in that."""


class _Frame:
    """A page turned so that text of one angle runs from left to right; its lower left is (0, 0).

    It is mirrored where text runs from right to left: lines begin at the left on any page.
    """

    def __init__(
        self, textpage: PdfTextPage, area: Sequence[float], turn: int, *, mirrored: bool
    ) -> None:
        self._textpage, self._turn, self._mirrored = textpage, turn, mirrored
        self._cos, self._sin = cos(radians(turn)), sin(radians(turn))
        self._left = self._bottom = 0.0
        corners = [self.at(x, y) for x in area[::2] for y in area[1::2]]
        self._left, self._bottom = map(min, zip(*corners, strict=True))

    def origin(self, index: int) -> tuple[float, float]:
        """Where a character stands on its base."""
        return self.at(*_origin(self._textpage, index))

    def sides(self, index: int) -> tuple[float, float]:
        """Where a character begins and ends from left to right."""
        left, right, bottom, top = c_double(), c_double(), c_double(), c_double()
        pdfium.FPDFText_GetCharBox(
            self._textpage, index, byref(left), byref(right), byref(bottom), byref(top)
        )
        if not self._turn and not self._mirrored:
            return left.value - self._left, right.value - self._left
        one, other = self.at(left.value, bottom.value), self.at(right.value, top.value)
        return min(one[0], other[0]), max(one[0], other[0])

    def reach(self, first: _Word, last: _Word) -> tuple[float, float, float]:
        """Where the text from one word to another begins and ends, and its height.

        In a mirror figures run against the other words.
        """
        left, height = self.origin(first[0])
        if not self._mirrored:
            return left, self.sides(last[1] - 1)[1], height
        ends = chain(*(self.sides(at) for word in (first, last) for at in (word[0], word[1] - 1)))
        return min(places := list(ends)), max(places), height

    def between(self, before: _Word, word: _Word) -> tuple[float, float]:
        """Where a word ends and the next one begins, on the side on which that stands."""
        if not self._mirrored:
            return self.sides(before[1] - 1)[1], self.sides(word[0])[0]
        left, right, _ = self.reach(before, before)
        next_left, next_right, _ = self.reach(word, word)
        return (right, next_left) if next_left - right > left - next_right else (left, next_right)

    def size(self, index: int) -> float:
        """The size of the type of a character in points."""
        matrix = pdfium.FS_MATRIX()
        pdfium.FPDFText_GetMatrix(self._textpage, index, byref(matrix))
        return float(pdfium.FPDFText_GetFontSize(self._textpage, index)) * hypot(matrix.c, matrix.d)

    def at(self, x: float, y: float) -> tuple[float, float]:
        across, up = x * self._cos - y * self._sin, x * self._sin + y * self._cos
        return (-across if self._mirrored else across) - self._left, up - self._bottom


class _Line(NamedTuple):
    """A line, the parts of it that stand apart, and its angle in degrees.

    A line without gaps is its only part.
    """

    whole: PrintedLine
    parts: Sequence[PrintedLine] = ()
    turn: int = 0
    frame: _Frame | None = None
    words: Sequence[_Word] = ()


def printed_lines(page: PdfPage) -> list[PrintedLine]:
    """The lines of a page as pdfium orders them, but columns that were drawn row by row one after
    the other, and what is turned against the rest last.

    Text outside the visible area, such as printers' marks, is left out, and so are the numbers of
    lines in the margin of a pleading.
    """
    textpage = page.get_textpage()
    try:
        characters = page_characters(textpage)
        lines = list(_lines(textpage, characters, page.get_bbox()))
        filled = [line for line in lines if line.words]
        main = _main_turn(filled)
        frame = next((line.frame for line in filled if line.turn == main), None)
        ruled = grids(page, frame.at) if frame else []
        # to look for gaps in all lines takes half as long again
        if ruled or any(len(_pieces(line)) > 1 for line in filled[::_EVERY]):
            lines = [line._replace(parts=_parts(line, characters, ruled)) for line in lines]
    finally:
        textpage.close()
    return _without_margin(_by_column(_turned_last(lines, -page.get_rotation() % 360), ruled))


def _turned_last(lines: Sequence[_Line], upright: int) -> list[_Line]:
    """The lines, with those that are turned against most of the page below it.

    A head or foot that is upright as the page is shown, beside a wide table, keeps its height.
    """
    main = _main_turn(lines)
    along = [line for line in lines if line.turn == main or not line.whole.text]
    if (main - upright) % 360 == _DOWNWARD:  # pdfium puts the lower of two such lines first
        along = list(chain(*(reversed(run) for run in runs_of(along, _stands_above))))
    turned = [
        replace(
            line.whole,
            turn=(line.turn - main) % 360,
            height=line.whole.height - BELOW * (line.turn != upright),
        )
        for line in lines
        if line.turn != main and line.whole.text
    ]
    return [*along, *map(_Line, turned)]


def _main_turn(lines: Sequence[_Line]) -> int:
    letters: Counter[int] = Counter()
    for line in lines:
        letters[line.turn] += len(line.whole.text)
    return max(letters, key=lambda turn: letters[turn], default=0)


def _stands_above(before: _Line, line: _Line) -> bool:
    """Say if a line stands a little above the one before."""
    is_blank = not (before.whole.text and line.whole.text)
    return not is_blank and 0 < line.whole.height - before.whole.height < _RISE


def _lines(textpage: PdfTextPage, characters: str, area: Sequence[float]) -> Iterator[_Line]:
    """Lines in order, each its only part."""
    frames: dict[int, _Frame] = {}
    from_right = len(_FROM_RIGHT.findall(characters))
    mirrored = from_right > 0 and 2 * from_right > sum(map(str.isalpha, characters))
    for match in re.finditer(rf"([^\n{BROKEN}]*)([\n{BROKEN}]|$)", characters):
        words = [word.span() for word in _WORD.finditer(characters, *match.span(1))]
        if not words:
            yield _Line(PrintedLine("", 0.0, 0.0, 0.0, broken=False))
            continue
        middle = _middle(words)
        if _is_within(_origin(textpage, middle), area):
            turn = _turn(textpage, middle)
            if turn not in frames:
                frames[turn] = _Frame(textpage, area, turn, mirrored=mirrored)
            frame = frames[turn]
            left, part_right, first = frame.reach(words[0], words[-1])
            right, last = frame.origin(words[-1][1] - 1)
            height = median((first, frame.origin(middle)[1], last))
            first_word, last_word = (match.start() + at for at in _page_words(match[1]))
            line = PrintedLine(
                _text(_with_raised(frame, characters, *match.span(1))),
                height,
                left,
                part_right if mirrored else right,
                match[2] == BROKEN,
                frame.origin(first_word)[0],
                frame.origin(last_word)[0],
                size=max(frame.size(middle), frame.size(words[-1][1] - 1)),
            )
            part = replace(line, right=part_right)
            yield _Line(line, [part] if line.text else [], turn, frame, words)


def _turn(textpage: PdfTextPage, index: int) -> int:
    """The angle of a character, clockwise in degrees; a page that lies askew is none."""
    angle = round(degrees(pdfium.FPDFText_GetCharAngle(textpage, index)))
    quarter = 90 * round(angle / 90)
    return (quarter if abs(angle - quarter) <= _ASKEW else angle) % 360


def _with_raised(frame: _Frame, characters: str, start: int, end: int) -> str:
    """The characters `start` to `end`, with each raised number apart from its word."""
    text, done = "", start
    for digits in _DIGITS.finditer(characters, start, end):
        first, last = digits.start(), digits.end() - 1
        is_behind = first > start and not characters[first - 1].isspace()
        if is_behind or last > first:
            height = frame.origin(last)[1]
            first = next(
                (at + 1 for at in range(last - 1, first - 1, -1) if _is_raised(frame, at, height)),
                first,
            )
            number = characters[first : last + 1]
            is_behind = is_behind or first > digits.start()
            if is_behind and number[0].isdecimal() and _is_raised(frame, first - 1, height):
                text += characters[done:first]
                is_one = number.isdecimal()
                text += raised(number, text[-_WORD_BEFORE:]) if is_one else f"[{number}]"
                done = last + 1
    return text + characters[done:end]


def _is_raised(frame: _Frame, before: int, height: float) -> bool:
    """Say if `height` is the base of a raised number behind the character `before`."""
    return LEAST_RISE < height - frame.origin(before)[1] < _BASE


def _middle(words: Sequence[tuple[int, int]]) -> int:
    """The index of the character with as many before it as behind it, blanks aside."""
    at = sum(end - start for start, end in words) // 2
    for start, end in words:
        if at < end - start:
            break
        at -= end - start
    return start + at


def _pieces(line: _Line, ruled: Sequence[RuleGrid] = ()) -> list[list[_Word]]:
    """The words of each part between wide gaps, and between rules."""
    frame = line.frame
    if frame is None:
        return []

    def follows(before: _Word, word: _Word) -> bool:
        end, begin = frame.between(before, word)
        if abs(begin - end) > _GUTTER:  # a line may go back, too: maybe to a line below
            return False
        return not ruled or not any(grid.parts(end, begin, height) for grid in ruled)

    height = line.whole.height
    return runs_of(line.words, follows)


def _parts(line: _Line, characters: str, ruled: Sequence[RuleGrid]) -> Sequence[PrintedLine]:
    pieces, frame = _pieces(line, ruled), line.frame
    if frame is None or len(pieces) == 1:
        return line.parts
    parts = []
    for words in pieces:
        start, end = words[0][0], words[-1][1]
        left, right, height = frame.reach(words[0], words[-1])
        text = _text(_with_raised(frame, characters, start, end))
        is_turned = len(words) > 1 and frame.reach(words[-1], words[-1])[0] == left
        if is_turned and all(map(_FROM_RIGHT.match, text.split())):
            text = " ".join(reversed(text.split()))  # the other words of the line are Latin
        ends_broken = line.whole.broken and words is pieces[-1]
        ends = left, right, ends_broken, left, right
        parts.append(PrintedLine(text, height, *ends, size=frame.size(start)))
    return [part for part in parts if part.text]


def _by_column(lines: Sequence[_Line], ruled: Sequence[RuleGrid]) -> list[PrintedLine]:
    """The lines, with the rows of a table, and all columns of a block that was drawn row by row, at
    its first line."""
    parts = [part for line in lines for part in line.parts]
    found = list(tables(parts, ruled))
    in_table = {id(part): n for n, table in enumerate(found) for part in table.parts}
    places = {
        id(part): (number, at)
        for number, line in enumerate(lines)
        for at, part in enumerate(line.parts)
    }
    blocks = _blocks([part for part in parts if id(part) not in in_table], places)
    block_of = in_table | {
        id(part): n for n, block in enumerate(blocks, start=len(found)) for part in chain(*block)
    }
    result: list[PrintedLine] = []
    placed: set[int] = set()
    for line in lines:
        own = {block_of[id(part)] for part in line.parts if id(part) in block_of}
        for number in sorted(own - placed):
            if number < len(found):
                result += found[number].rows
            else:
                result += chain(*(_joined(of, places) for of in blocks[number - len(found)]))
        placed |= own
        rest = [part for part in line.parts if id(part) not in block_of]
        as_row = line.whole.text if is_row(line.parts) else ""
        result += _joined(rest, places) if own else [replace(line.whole, row=as_row)]
    return result


def _joined(parts: Sequence[PrintedLine], places: Places) -> list[PrintedLine]:
    """The lines that a column has of these parts.

    pdfium marks no broken word where another column follows, and puts lines of two bases in one.
    """

    def goes_on(before: PrintedLine, part: PrintedLine) -> bool:
        is_on_base = abs(part.height - before.height) < _BASE
        is_in_line = places[id(before)][0] == places[id(part)][0]
        return is_in_line and is_on_base and part.left > before.left

    lines = [whole(run) for run in runs_of(parts, goes_on)]
    for number, (line, after) in enumerate(pairwise(lines)):
        if BREAK.search(line.text) and after.text[0].isalpha():
            lines[number] = replace(line, text=line.text[:-1], broken=True)
    return lines


def _blocks(parts: Sequence[PrintedLine], places: Places) -> list[list[Column]]:
    """The columns of each block whose lines alternate between them.

    Of the edges at which the right one may begin, that with the most lines in columns counts.
    """
    best: list[list[Column]] = []
    for edge in _edges(parts):
        blocks = [
            columns
            for block in _between_crossing(parts, edge)
            if (columns := _columns(block, edge, places))
        ]
        if _size(blocks) > _size(best):
            best = blocks
    return [columns for columns in best if _alternate(columns, places)]


def _size(blocks: Sequence[Sequence[Column]]) -> int:
    return sum(len(column) for columns in blocks for column in columns)


def _edges(parts: Sequence[PrintedLine]) -> list[int]:
    """The places, further to the right than the first, at which most lines or parts begin."""
    at = Counter(round(part.left) for part in parts)
    near = {left: sum(at[left + by] for by in (-2, -1, 0, 1, 2)) for left in at}
    first = min(at, default=0)
    edges = [left for left in at if near[left] >= _ALIGNED and left - first >= _NARROWEST]
    return sorted(edges, key=lambda left: (-near[left], left))[:_MOST_EDGES]


def _between_crossing(parts: Sequence[PrintedLine], edge: float) -> list[Column]:
    """The parts above, between and below those that stand on both sides of the edge."""
    crossing = sorted(part.height for part in parts if _is_left(part, edge) and part.right > edge)
    blocks: defaultdict[int, Column] = defaultdict(list)
    for part in parts:
        if part.right <= edge or not _is_left(part, edge):
            blocks[bisect(crossing, part.height)].append(part)
    return list(blocks.values())


def _is_left(part: PrintedLine, edge: float) -> bool:
    return part.left < edge - _OUT


def _columns(parts: Column, edge: float, places: Places) -> list[Column]:
    """The columns of prose on both sides of the edge, from left to right; none if one is none."""
    left = [part for part in parts if _is_left(part, edge)]
    right = [part for part in parts if not _is_left(part, edge)]
    if not _is_column(left, places):
        return []
    if _is_column(right, places):
        return [left, right]
    further = (_columns(right, next_, places) for next_ in _edges(right))
    return next(([left, *columns] for columns in further if columns), [])


def _is_column(parts: Column, places: Places) -> bool:
    """Say if the parts are whole lines of prose, most of them long and from one edge on."""
    lines = _joined(parts, places)
    if not is_prose(lines) or len(parts) > _PIECES * len(lines):
        return False
    edge = mode(round(line.left) for line in lines)
    at_edge = sum(abs(line.left - edge) <= SAME for line in lines)
    is_wide = median(len(line.text) for line in lines) >= LEAST_LINE
    return is_wide and at_edge >= len(lines) / 2


def _alternate(columns: Sequence[Column], places: Places) -> bool:
    """Say if they were drawn row by row, not each in one piece or cell by cell."""
    column_of = {id(part): at for at, column in enumerate(columns) for part in column}
    drawn = sorted(chain(*columns), key=lambda part: places[id(part)])
    changes = sum(column_of[id(one)] != column_of[id(next_)] for one, next_ in pairwise(drawn))
    return changes > _CHANGES * min(len(_joined(column, places)) for column in columns)


def _page_words(characters: str) -> tuple[int, int]:
    """Return the indices of the first and the last character between numbers at either end."""
    first = _NUMBER_FIRST.match(characters)
    bare = characters.rstrip()
    last = len(bare) - len(bare.rstrip("0123456789"))
    before = bare[: len(bare) - last].rstrip() if last else bare
    return first.end() if first else len(characters) - len(characters.lstrip()), len(before) - 1


def _without_margin(lines: list[PrintedLine]) -> list[PrintedLine]:
    """The lines without numbers that count them: 1, 2, 3, ... below each other at the left."""
    numbers = sorted((line for line in lines if line.text.isdecimal()), key=lambda line: line.left)
    column = [line for line in numbers if line.left - numbers[0].left <= NEAR]
    column.sort(key=lambda line: -line.height)
    sequence = [str(number) for number in range(1, len(column) + 1)]
    if len(column) < _MARGIN or [line.text for line in column] != sequence:
        return lines
    margin = set(map(id, column))
    return [line for line in lines if id(line) not in margin]


def page_characters(textpage: PdfTextPage) -> str:
    """One character for each that pdfium counts, so that an index into it is one for pdfium.

    Line ends are `\\n`; of the usual two characters the other is a blank.
    """
    raw, count = textpage.raw, textpage.count_chars()
    buffer = (c_ushort * (count + 1))()
    size = pdfium.FPDFText_GetText(raw, 0, count, buffer) - 1
    text = bytes(buffer)[: 2 * size].decode("utf-16-le", "surrogatepass")
    if len(text) != count:
        text = BROKEN * count  # some have none: each is asked for, which takes 20 times as long

    def single(sign: re.Match[str]) -> str:
        code = pdfium.FPDFText_GetUnicode(raw, sign.start())
        is_none = code == ord(BROKEN) and not pdfium.FPDFText_IsHyphen(raw, sign.start())
        return "\0" if is_none or code > sys.maxunicode else chr(code)

    text = _UNSURE.sub(single, text)
    return text.replace("\r\n", " \n").replace("\r", "\n")


def _text(characters: str) -> str:
    # halves of a character that a damaged font table names cannot be written as UTF-8
    whole = characters.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return plain(whole).strip()


def _origin(textpage: PdfTextPage, index: int) -> tuple[float, float]:
    x, y = c_double(), c_double()
    pdfium.FPDFText_GetCharOrigin(textpage, index, byref(x), byref(y))
    return x.value, y.value


def _is_within(place: tuple[float, float], area: Sequence[float]) -> bool:
    left, bottom, right, top = area
    return left <= place[0] <= right and bottom <= place[1] <= top
