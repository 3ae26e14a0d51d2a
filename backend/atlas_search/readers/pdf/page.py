"""The text of PDF pages: their paragraphs, where the spacing and length of lines shows them."""

import re
import sys
from collections.abc import Collection, Iterator, Sequence
from ctypes import byref, c_double
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage, PdfTextPage

from atlas_search.readers.markup import plain
from atlas_search.readers.running_lines import running_lines

BROKEN = "\x02"
"""Stands at the end of a line whose last word goes on in the next one; so pdfium marks it."""

_WIDER = 1.4
"""How much wider than the next gap between lines the gap between two paragraphs is."""

_LEAST_GAP = 5.0  # points; what is nearer to a line than that is its superscript or index


_LEAST_LINE = 25  # characters; shorter lines are verses, names or cells, not a column of prose

_FULL = 0.8
"""The share of a paragraph's width from which a line is full: the next word did not fit."""

_FEW = 3
"""Lines of a paragraph whose width is taken from its column, too: none of them need be full."""

_INDENT = 30.0  # points between the left ends of lines of one column

_MARGIN = 20
"""Numbers below each other from which on they count the lines of the page."""

_ITEM = re.compile(r"[•◦▪‣*–—-]\s|\(?(?:\d{1,3}|[a-z]|[ivxlc]{1,5})[.)]\s")


@dataclass(frozen=True, slots=True)
class Line:
    """A printed line: the height of its base, and how far it reaches from left to right.

    One without text is a blank line.
    """

    text: str
    height: float
    left: float
    right: float
    broken: bool


def printed_lines(page: PdfPage) -> list[Line]:
    """The lines of a page as pdfium orders them.

    Text outside the visible area, such as printers' marks, is left out, and so are the numbers of
    lines in the margin of a pleading.
    """
    textpage = page.get_textpage()
    try:
        return _without_margin(list(_lines(textpage, page.get_bbox())))
    finally:
        textpage.close()


def without_running_lines(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """The lines of all pages without running heads and feet."""
    filled = [[line for line in page if line.text] for page in pages]
    from_top = [sorted(page, key=lambda line: (-line.height, line.left)) for page in filled]
    running = running_lines([[line.text for line in page] for page in from_top])
    dropped = {
        id(page[number])
        for page, numbers in zip(from_top, running, strict=True)
        for number in numbers
    }
    return [[line for line in page if id(line) not in dropped] for page in pages]


def page_text(lines: Sequence[Line]) -> str:
    """The text of a page, each paragraph on one line.

    A line that ends short of the others of its paragraph keeps its end: a heading, an item of a
    list, a verse.
    """
    filled = [line for line in lines if line.text]
    opening = _after_blanks(lines) | _after_gaps([line.height for line in filled])
    running = _running(filled, opening)
    pieces: list[str] = []
    for number, line in enumerate(filled):
        if number and filled[number - 1].broken:
            pieces.append(f"{BROKEN}\n")
        elif number:
            pieces.append("\n\n" if number in opening else " " if number in running else "\n")
        pieces.append(line.text)
    return "".join(pieces)


def _lines(textpage: PdfTextPage, area: Sequence[float]) -> Iterator[Line]:
    """Lines in order."""
    characters = page_characters(textpage)
    for match in re.finditer(rf"([^\n{BROKEN}]*)([\n{BROKEN}]|$)", characters):
        filled = [match.start() + blank.start() for blank in re.finditer(r"\S", match[1])]
        if not filled:
            yield Line("", 0.0, 0.0, 0.0, broken=False)
            continue
        sample = [filled[0], filled[len(filled) // 2], filled[-1]]
        places = [_origin(textpage, index) for index in sample]
        if _is_within(places[1], area):
            height = median(y for _, y in places)
            left, right = places[0][0], places[2][0]
            yield Line(_text(match[1]), height, left, right, broken=match[2] == BROKEN)


def _without_margin(lines: list[Line]) -> list[Line]:
    """The lines without numbers that count them: 1, 2, 3, ... below each other at the left."""
    numbers = sorted((line for line in lines if line.text.isdecimal()), key=lambda line: line.left)
    column = [line for line in numbers if line.left - numbers[0].left <= _INDENT]
    column.sort(key=lambda line: -line.height)
    counted = [str(number) for number in range(1, len(column) + 1)]
    if len(column) < _MARGIN or [line.text for line in column] != counted:
        return lines
    margin = set(map(id, column))
    return [line for line in lines if id(line) not in margin]


def page_characters(textpage: PdfTextPage) -> str:
    """One character for each that pdfium counts, so that an index into it is one for pdfium.

    Line ends are `\\n`; of the usual two characters the other is a blank.
    """
    raw = textpage.raw
    codes = [pdfium.FPDFText_GetUnicode(raw, index) for index in range(textpage.count_chars())]
    for index, code in enumerate(codes):
        if code > sys.maxunicode or (
            code == ord(BROKEN) and not pdfium.FPDFText_IsHyphen(raw, index)
        ):
            codes[index] = 0
    return "".join(map(chr, codes)).replace("\r\n", " \n").replace("\r", "\n")


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


def _running(lines: Sequence[Line], opening: Collection[int]) -> set[int]:
    """The numbers of lines that go on where the line before was full.

    Before a small letter it may be as short as its own paragraph is narrow.
    """
    starts = [0, *sorted(opening), len(lines)]
    found = set()
    for first, end in pairwise(starts):
        paragraph = lines[first:end]
        left = min((line.left for line in paragraph), default=0.0)
        own = max((line.right - left for line in paragraph), default=0.0)
        column = own if len(paragraph) > _FEW else max(own, _column(left, lines))
        found |= {
            first + number
            for number, (before, line) in enumerate(pairwise(paragraph), start=1)
            if len(before.text) >= _LEAST_LINE
            and before.right - left >= _FULL * (own if line.text[0].islower() else column)
            and not _ITEM.match(line.text)
        }
    return found


def _column(left: float, lines: Sequence[Line]) -> float:
    """How wide the lines are that begin near `left`, but for the widest quarter of them."""
    widths = sorted(line.right - left for line in lines if abs(line.left - left) <= _INDENT)
    return widths[len(widths) * 3 // 4] if widths else 0.0


def _after_blanks(lines: Sequence[Line]) -> set[int]:
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
