"""The lines of PDF pages, as they are printed."""

import re
import sys
from collections.abc import Iterator, Sequence
from ctypes import byref, c_double
from dataclasses import dataclass
from statistics import median

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage, PdfTextPage

from atlas_search.readers.markup import plain
from atlas_search.readers.running_lines import running_lines

BROKEN = "\x02"
"""Stands at the end of a line whose last word goes on in the next one; so pdfium marks it."""

NEAR = 30.0  # points between the left ends of lines of one column

_MARGIN = 20
"""Numbers below each other from which on they count the lines of the page."""


_NUMBER_FIRST = re.compile(r"\s*\d+\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Line:
    """A printed line: the height of its base, and how far it reaches from left to right.

    One without text is a blank line. `words_left` and `words_right` are the ends of what stands
    between a number at its beginning and one at its end.
    """

    text: str
    height: float
    left: float
    right: float
    broken: bool
    words_left: float = 0.0
    words_right: float = 0.0


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
            words = [_origin(textpage, match.start() + at)[0] for at in _words(match[1])]
            yield Line(_text(match[1]), height, left, right, match[2] == BROKEN, *words)


def _words(characters: str) -> tuple[int, int]:
    """Where the text begins behind a number at its beginning, and ends before one at its end."""
    first = _NUMBER_FIRST.match(characters)
    bare = characters.rstrip()
    last = len(bare) - len(bare.rstrip("0123456789"))
    before = bare[: len(bare) - last].rstrip() if last else bare
    return first.end() if first else len(characters) - len(characters.lstrip()), len(before) - 1


def _without_margin(lines: list[Line]) -> list[Line]:
    """The lines without numbers that count them: 1, 2, 3, ... below each other at the left."""
    numbers = sorted((line for line in lines if line.text.isdecimal()), key=lambda line: line.left)
    column = [line for line in numbers if line.left - numbers[0].left <= NEAR]
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
