"""The paragraphs of a printed page, where the spacing, the indents and the length of lines show
them."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby, pairwise, zip_longest
from operator import attrgetter
from typing import Literal

from atlas_search.readers.pdf_lines import NEAR
from atlas_search.readers.print import (
    BROKEN,
    LEAST_LINE,
    SAME,
    PrintedLine,
    goes_on,
    is_prose,
    runs_of,
)
from atlas_search.readers.speech_openings import begins_speech

_STEP = 5
_LEAST = 3
"""Numbers below each other (5, 10, 15) from which on they count lines; fewer do on a page of a
document that has such a column elsewhere."""

_BETWEEN = range(2, 8)
"""Lines between two numbers: the rows of a table that counts by fives stand closer."""

_ABOVE = range(2, 12)
"""Lines above the first number of so short a column, the head of the page among them: a note of
this number stands below more."""

_APART = 12.0  # points from a number to the words of its line
_ALIGNED = 8.0  # points between numbers below each other: 5 and 10 align at the left or the right
_ONE_BASE = 2.0  # points between the bases of one line
_AT = {"left": re.compile(r"\A\d{1,3}(?=\s)"), "right": re.compile(r"(?<=\s)\d{1,3}\Z")}


@dataclass(frozen=True, slots=True)
class _Number:
    """A number at one end of a line: where it stands, and the line without it."""

    value: int
    place: float
    line: PrintedLine
    rest: PrintedLine


def without_line_numbers(pages: Sequence[Sequence[PrintedLine]]) -> list[list[PrintedLine]]:
    """The lines of all pages without the numbers 5, 10, 15 ... that count them."""
    by_page = [_columns(page, _LEAST) for page in pages]
    places = [number.place for columns in by_page for column in columns for number in column]
    return [_without(page, _columns(page, 1, places) if places else []) for page in pages]


def _without(
    page: Sequence[PrintedLine], columns: Sequence[Sequence[_Number]]
) -> list[PrintedLine]:
    rest = {id(number.line): number.rest for column in columns for number in column}
    lines = [rest.get(id(line), line) for line in page]
    return [now for line, now in zip(page, lines, strict=True) if now.text or not line.text]


def _columns(
    page: Sequence[PrintedLine], least: int, places: Sequence[float] = ()
) -> list[list[_Number]]:
    """The columns of numbers at the left and at the right; `places` are those to look at."""
    filled = [line for line in page if line.text]
    sides = (_numbers(filled, "left"), _numbers(filled, "right"))
    columns = (_counting(list(numbers), filled, places) for numbers in sides)
    return [column for column in columns if len(column) >= least]


def _numbers(lines: Sequence[PrintedLine], side: Literal["left", "right"]) -> Iterator[_Number]:
    for line in lines:
        gaps = {"left": line.words_left - line.left, "right": line.right - line.words_right}
        place, words = getattr(line, side), getattr(line, f"words_{side}")
        if match := _AT[side].search(line.text):
            if gaps[side] >= _APART:
                text = (line.text[: match.start()] + line.text[match.end() :]).strip()
                rest = replace(line, text=text, row="", **{side: words})
                yield _Number(int(match[0]), place, line, rest)
        elif line.text.isdecimal():
            yield _Number(int(line.text[:9]), place, line, replace(line, text="", row=""))


def _counting(
    numbers: Sequence[_Number], lines: Sequence[PrintedLine], places: Sequence[float]
) -> list[_Number]:
    """The numbers 5, 10, 15 ... from the top, if they stand outside the text they count."""
    column: list[_Number] = []
    for number in sorted(numbers, key=lambda number: -number.line.height):
        near = [column[0].place] if column else places or [number.place]
        is_near = any(abs(number.place - place) <= _ALIGNED for place in near)
        if number.value == _STEP * (len(column) + 1) and is_near:
            column.append(number)
    if not column:
        return []
    beside = _beside(column, lines)
    is_column = _is_outside(column, beside) and _counts(column, lines)
    is_sure = is_prose(beside) if len(column) >= _LEAST else _is_at_top(column[0], lines)
    return column if is_column and is_sure else []


def _beside(numbers: Sequence[_Number], lines: Sequence[PrintedLine]) -> list[PrintedLine]:
    """Return the lines at the height of the numbers and between them, without them."""
    top, bottom = numbers[0].line.height + _ONE_BASE, numbers[-1].line.height - _ONE_BASE
    rest = {id(number.line): number.rest for number in numbers}
    beside = (rest.get(id(line), line) for line in lines if bottom <= line.height <= top)
    return [line for line in beside if line.text]


def _is_outside(numbers: Sequence[_Number], beside: Sequence[PrintedLine]) -> bool:
    left, right = (pick(number.place for number in numbers) for pick in (max, min))
    return all(line.left > left for line in beside) or all(line.right < right for line in beside)


def _is_at_top(number: _Number, lines: Sequence[PrintedLine]) -> bool:
    above = {
        round(line.height / _ONE_BASE)
        for line in lines
        if line.height > number.line.height + _ONE_BASE
    }
    return len(above) in _ABOVE


def _counts(numbers: Sequence[_Number], lines: Sequence[PrintedLine]) -> bool:
    """Say if as many lines stand above each number and between two as they say."""
    bases = sorted({round(line.height / _ONE_BASE) for line in lines}, reverse=True)
    heights = [round(number.line.height / _ONE_BASE) for number in numbers]
    between = [
        sum(below + 1 < base < above - 1 for base in bases) for above, below in pairwise(heights)
    ]
    return all(count in _BETWEEN for count in between)


_WIDER = 1.4
"""The ratio of the gap between two paragraphs to the next gap between lines."""

_LEAST_GAP = 5.0  # points; what is nearer to a line than that is its superscript or index

_RISE = 20.0  # points; a line that stands so much higher than the one before begins a column

_FULL_LINE = 0.8
"""The share of a paragraph's width from which a line is full: the next word did not fit."""

_FEW = 3
"""Lines of a paragraph whose width is taken from its column, too: none of them need be full."""

_INDENTS = (6.0, 75.0)
"""Points by which the first line of a paragraph may stand further in than the next one."""


_AT_EDGE = 1 / 3  # the share of lines near a column's left end that begin at it

_HANGING = 0.15
"""The share of sentences that go on from which indented lines begin no paragraph."""

_LONGEST = 100  # characters of a heading

_SMALL = 0.93
"""The share of the usual size of type under which that of notes is: 9 points of 10."""

_NOTE = re.compile(r"(\d{1,3}|[*†‡§¶]{1,3})[.)]?\s*(?=[^\W\d]|[“\"‘'(])")
_LEAST_OPEN = 40
"""Characters of a paragraph without a full stop that goes on over the page; a heading has fewer."""

_ITEM = re.compile(r"[•◦▪‣*–—-]\s|\(?(?:\d{1,3}|[a-z]|[ivxlc]{1,5})[.)]\s")
_NUMBERED = re.compile(r"(?:\d{1,2}(?:\.\d{1,2}){0,3}\.|\d{1,2}(?:\.\d{1,2}){1,3}|[IVX]{1,5}\.)\s+")
_NAMED = re.compile(
    r"(?:article|section|chapter|part|title|schedule|annex|appendix|artikel|art[ií]culo|articolo"
    r"|kapitel|chapitre|titre)\s+(?:\d{1,4}[a-z]{0,2}|[ivxlc]{1,7})\b(?:\s*[.:–—-])?(?:\s+|$)",
    re.IGNORECASE,
)
_STOP = re.compile(r"[.!?][\"”’»)\]]*(?=\s+[^\W\d_a-z])")
_ENDS = tuple('.!?:;"”’»)]')


def usual_size(pages: Iterable[Iterable[PrintedLine]]) -> float:
    """The size of the type in which most is printed."""
    letters: Counter[float] = Counter()
    for line in chain(*pages):
        letters[line.size] += len(line.text)
    return max(letters, key=lambda size: letters[size], default=0.0)


def page_text(lines: Sequence[PrintedLine], size: float = 0.0) -> str:
    """The text of a page, each paragraph on one line; what is turned, and notes in a smaller type
    than `size`, stand apart."""
    turned = (line for line in lines if line.turn)
    aside = [list(of) for _, of in groupby(turned, key=lambda line: line.turn)]
    along = [line for line in lines if not line.turn]
    notes = _notes(along, size)
    noted = {id(line) for note in notes for line in note}
    body = [line for line in along if id(line) not in noted]
    return _with_aside(_paragraphs(body), list(map(_paragraphs, [*notes, *aside])))


def _notes(lines: Sequence[PrintedLine], size: float) -> list[list[PrintedLine]]:
    """The lines at the foot of each column that are smaller than `size`, if one begins with the
    number or sign by which a line above calls it, those of each such note apart; and those that
    nobody calls, if they stand between columns as a note does."""
    feet: list[tuple[list[PrintedLine], bool]] = []
    foot: list[PrintedLine] = []
    filled = [line for line in lines if line.text]
    for number, (line, after) in enumerate(zip_longest(filled, filled[1:])):
        is_below = number == 0 or line.height < filled[number - 1].height
        foot = [*foot, line] if 0 < line.size < _SMALL * size and (is_below or foot) else []
        if foot and (after is None or _begins_column(line, after)):
            before = filled[number - len(foot)] if number >= len(foot) else None
            is_note = (
                before is not None
                and after is not None
                and after.size >= _SMALL * size
                and _parts_prose(before, foot, after)
            )
            feet.append((foot, is_note))
            foot = []
    below = {id(line) for foot, _ in feet for line in foot}
    above = "".join(line.text for line in filled if id(line) not in below)
    notes: list[list[PrintedLine]] = []
    for foot, is_note in feet:
        if any(_is_called(line.text, above) for line in foot):
            notes += runs_of(foot, lambda _, line: not _is_called(line.text, above))
        elif is_note:
            notes.append(foot)
    return notes


def _parts_prose(before: PrintedLine, foot: Sequence[PrintedLine], after: PrintedLine) -> bool:
    """Say if a foot stands between columns of prose, and begins as a note, or parts a sentence."""
    longest = max(len(line.text) for line in foot)
    is_prose = min(len(before.text), longest, len(after.text)) >= LEAST_LINE
    is_note = any(_NOTE.match(line.text) and not line.row for line in foot)
    return is_prose and (is_note or before.broken or goes_on(before.text, after.text))


def _is_called(note: str, text: str) -> bool:
    match = _NOTE.match(note)
    return match is not None and (f"[{match[1]}]" if match[1].isdecimal() else match[1]) in text


def _with_aside(body: str, aside: Sequence[str]) -> str:
    """The body with other texts behind it, or before a last paragraph that goes on over the page.

    Where it is the only one they stand behind its last sentence.
    """
    end = len(body)
    last = body.rpartition("\n\n")[2]
    if aside and not body.endswith(_ENDS) and len(last) >= _LEAST_OPEN and " | " not in last:
        end = body.rfind("\n\n")
        if end < 0:
            end = max((stop.end() for stop in _STOP.finditer(body)), default=len(body))
    texts = [body[:end], *aside, body[end:]]
    return "\n\n".join(stripped for text in texts if (stripped := text.strip()))


def _paragraphs(lines: Sequence[PrintedLine]) -> str:
    """The paragraphs of lines, and tables with a line for each row."""
    pieces = []
    for is_table, of in groupby(lines, key=lambda line: line.row != ""):
        own = list(of)
        pieces.append("\n".join(line.row for line in own) if is_table else _prose(own))
    return "\n\n".join(piece.strip() for piece in pieces if piece.strip())


def _prose(lines: Sequence[PrintedLine]) -> str:
    """The paragraphs of lines.

    A line that ends short of the others of its paragraph keeps its end: an item of a list, a
    verse. A numbered heading is a paragraph of its own.
    """
    filled = [line for line in lines if line.text]
    columns = _Columns(sorted(filled, key=_left))
    opening = _after_blanks(lines) | _after_gaps([line.height for line in filled])
    opening |= _indented(filled, opening, columns)
    opening |= _speeches(filled)
    opening |= _around_headings(filled, opening, columns)
    running = _running(filled, opening, columns)
    pieces: list[str] = []
    for number, line in enumerate(filled):
        if number and filled[number - 1].broken:
            pieces.append(f"{BROKEN}\n")
        elif number:
            pieces.append("\n\n" if number in opening else " " if number in running else "\n")
        pieces.append(line.text)
    is_torn = bool(filled) and filled[-1].broken  # by a table, or what stands aside
    return "".join([*pieces, "-" * is_torn])


_left = attrgetter("left")


@dataclass(frozen=True, slots=True)
class _Columns:
    """The reach of the lines of a page, by the left end of their column, to the nearest point.

    `lines` are ordered by their left ends.
    """

    lines: Sequence[PrintedLine]
    widths: dict[int, float] = field(default_factory=dict)
    edges: dict[int, bool] = field(default_factory=dict)

    def width(self, left: float) -> float:
        """The width of the lines that begin near `left`, but for the widest quarter of them."""
        point = round(left)
        if point not in self.widths:
            widths = sorted(line.right - left for line in self._near(left))
            self.widths[point] = widths[len(widths) * 3 // 4] if widths else 0.0
        return self.widths[point]

    def is_full(self, line: PrintedLine, left: float) -> bool:
        """Say if the line reaches as far as those of the column that begins at `left`."""
        return line.right - left >= _FULL_LINE * self.width(left)

    def is_edge(self, left: float) -> bool:
        """Say if many of the lines near `left` begin there, as those of centred text do not."""
        point = round(left)
        if point not in self.edges:
            near = self._near(left)
            at = sum(abs(line.left - left) <= SAME for line in near)
            self.edges[point] = at >= _AT_EDGE * len(near)
        return self.edges[point]

    def _near(self, left: float) -> list[PrintedLine]:
        """The lines that begin near `left`: on a wide page of many columns few do."""
        first = bisect_left(self.lines, left - NEAR - 1, key=_left)
        last = bisect_right(self.lines, left + NEAR + 1, key=_left)
        return [line for line in self.lines[first:last] if abs(line.left - left) <= NEAR]


def _running(lines: Sequence[PrintedLine], opening: Collection[int], columns: _Columns) -> set[int]:
    """The numbers of lines that go on where the line before was full.

    Before a small letter it may be as short as its own paragraph is narrow. Of a paragraph that
    goes on in the next column each part is as wide as its column.
    """
    tops = {n for n in range(1, len(lines)) if _begins_column(lines[n - 1], lines[n])}
    starts = [0, *sorted(tops.union(opening)), len(lines)]
    running = set()
    for first, end in pairwise(starts):
        paragraph = lines[first:end]
        left = min((line.left for line in paragraph), default=0.0)
        own = max((line.right - left for line in paragraph), default=0.0)
        column = own if len(paragraph) > _FEW else max(own, columns.width(left))
        last = end + (end in tops and end not in opening and len(paragraph) >= _FEW)
        for number, (before, line) in enumerate(pairwise(lines[first:last]), start=first + 1):
            width = own if line.text[0].islower() else column
            is_full = before.right - left >= _FULL_LINE * width
            if len(before.text) >= LEAST_LINE and is_full and not _ITEM.match(line.text):
                running.add(number)
    return running


def _begins_column(before: PrintedLine, line: PrintedLine) -> bool:
    return line.height - before.height > _RISE


def _speeches(lines: Sequence[PrintedLine]) -> set[int]:
    """The numbers of lines with which a speech begins: `Hon. Hay (Northport, AB): Yes.`"""
    return {
        number
        for number, (before, line) in enumerate(pairwise(lines), start=1)
        if before.text.endswith(_ENDS)
        and not before.broken
        and begins_speech(" ".join(each.text for each in lines[number : number + 2]))
    }


def _indented(
    lines: Sequence[PrintedLine], opening: Collection[int], columns: _Columns
) -> set[int]:
    """The numbers of lines that stand further in than the lines around them: they begin a
    paragraph.

    A line of its own is one if it stands as far in as others that begin several. Where many seem
    to go on a sentence the first lines of paragraphs stand out, as in bibliographies.
    """
    pairs = list(pairwise(lines))
    indents = {n for n in range(len(pairs)) if _is_indented(lines, n, columns)}
    going_on = sum(_goes_on(lines, number, columns) for number in indents)
    if going_on > _HANGING * len(indents):
        return set()
    usual = {round(lines[number].left) for number in indents}
    closed = indents.union(opening, [len(lines)])
    single = {
        number
        for number, (before, line) in enumerate(pairs, start=1)
        if number + 1 in closed
        and round(line.left) in usual
        and _INDENTS[0] <= line.left - before.left <= _INDENTS[1]
        and not line.text[0].islower()
    }
    return {number for number in indents | single if number and not lines[number - 1].broken}


def _is_indented(lines: Sequence[PrintedLine], number: int, columns: _Columns) -> bool:
    """Say if the line may be the first of a paragraph of several."""
    line, after = lines[number], lines[number + 1]
    is_in = _INDENTS[0] <= line.left - after.left <= _INDENTS[1] and after.height < line.height
    if not (is_in and len(line.text) >= LEAST_LINE and columns.is_full(line, after.left)):
        return False
    if not columns.is_edge(after.left):
        return False
    if not number or _begins_column(lines[number - 1], line):
        return True
    before = lines[number - 1]
    if abs(before.left - line.left) <= SAME:  # a short paragraph, not the lines of a quotation
        return not columns.is_full(before, after.left)
    return abs(before.left - after.left) <= SAME


def _goes_on(lines: Sequence[PrintedLine], number: int, columns: _Columns) -> bool:
    """Say if the sentence of the line before seems to go on."""
    before = lines[number - 1] if number else None
    is_open = before is not None and columns.is_full(before, before.left)
    return lines[number].text[0].islower() or (
        before is not None and is_open and not before.text.endswith(_ENDS)
    )


def _around_headings(
    lines: Sequence[PrintedLine], opening: Collection[int], columns: _Columns
) -> set[int]:
    """The numbers of lines that are a numbered heading, and of those that follow one.

    A provision that begins with its name and goes on (`Article 5. Ships ...`) begins a paragraph,
    too. Lines of one kind below each other are a list, such as a table of contents.
    """
    kinds = ["", *(_kind(line.text) for line in lines), ""]
    beginnings = set()
    for number, kind in enumerate(kinds[1:-1]):
        is_listed = kind in (kinds[number], kinds[number + 2])
        if kind and not is_listed and _may_begin(lines, number, opening, columns):
            is_heading = _is_heading(lines, number, columns, may_stop=kind == "named")
            beginnings |= {number} if is_heading or kind == "named" else set()
            beginnings |= {number + 1} if is_heading else set()
    return beginnings & set(range(1, len(lines)))


def _kind(text: str) -> str:
    """Say if a text begins with the name of a provision or with the number of a heading."""
    if text[0].isupper() and _NAMED.match(text):
        return "named"
    numbered = _NUMBERED.match(text)
    if numbered and text[numbered.end() :][:1].isupper():
        return "roman" if text[0].isalpha() else "decimal"
    return ""


def _may_begin(
    lines: Sequence[PrintedLine], number: int, opening: Collection[int], columns: _Columns
) -> bool:
    """Say if the line before ends a paragraph, as far as can be seen."""
    if number == 0 or number in opening or _begins_column(lines[number - 1], lines[number]):
        return True
    before = lines[number - 1]
    return before.text.endswith(_ENDS) or not columns.is_full(before, before.left)


def _is_heading(
    lines: Sequence[PrintedLine], number: int, columns: _Columns, *, may_stop: bool
) -> bool:
    """Say if a line stands short above another paragraph; it `may_stop` with a full stop."""
    if number + 1 == len(lines):
        return False
    line, after = lines[number], lines[number + 1]
    goes_on = after.text[0].islower() or (line.text.isupper() and after.text.isupper())
    is_sentence = line.text.endswith(tuple(",;:-–" if may_stop else ".,;:-–"))
    if goes_on or line.broken or len(line.text) > _LONGEST or is_sentence:
        return False
    return not columns.is_full(line, min(line.left, after.left))


def _after_blanks(lines: Sequence[PrintedLine]) -> set[int]:
    """The numbers, among lines with text, of those that follow one without."""
    found, number = set(), 0
    for before, line in pairwise(lines):
        number += bool(before.text)
        if line.text and not before.text:
            found.add(number)
    return found


def _after_gaps(heights: Sequence[float]) -> set[int]:
    """The numbers of lines that stand further from the one before than the lines around them.

    Compared with the neighbours only, since a page may hold text of several sizes. A line that
    stands higher than the one before begins a column and tells nothing.
    """
    gaps = [above - below for above, below in pairwise(heights)]
    around = zip([0.0, *gaps], gaps, [*gaps[1:], 0.0], strict=False)
    return {
        number
        for number, (before, gap, after) in enumerate(around, start=1)
        if (near := [other for other in (before, after) if other >= _LEAST_GAP])
        and gap > _WIDER * min(near)
    }
