"""A PDF page as a picture, and where characters of a document's text stand on it."""

import struct
import unicodedata
import zlib
from bisect import bisect_right
from collections.abc import Sequence
from ctypes import byref, c_double, c_int
from typing import NamedTuple

import numpy as np
import pypdfium2.raw as pdfium
from numpy.typing import NDArray
from pypdfium2 import PdfPage, PdfTextPage

from atlas_search.readers.pdf_lines import page_characters

MOST_PIXELS = 6_000_000
"""A page may be as large as its file says: what does not fit into these is shown smaller."""

_GRID = 1_000_000  # places on a page's width and height, of which boxes are shares
_AHEAD = 16  # characters that must agree where text was left out or moved
_NEAR = 4
_SPEED = 6  # of zlib


class Box(NamedTuple):
    """A rectangle on a page, from its left upper corner, in shares of its width and height."""

    left: float
    top: float
    width: float
    height: float


def picture(page: PdfPage, width: int) -> bytes:
    """The page as a PNG of this width in pixels, or less. Raises ValueError if it has no size."""
    across, down = page.get_size()
    if not (0 < across < float("inf") and 0 < down < float("inf")):
        raise ValueError("The page has no size.")
    scale = min(width / across, (MOST_PIXELS / across / down) ** 0.5)
    if across * scale < 1 or down * scale < 1:
        raise ValueError("The page is too narrow to be shown.")
    return _png(page.render(scale=scale, rev_byteorder=True).to_numpy())


def boxes(page: PdfPage, text: str, start: int, end: int) -> list[Box]:
    """Find the boxes of the characters `start` to `end` of `text`, which was read from this page.

    One box for each line or part of one, in reading order.
    """
    textpage = page.get_textpage()
    try:
        places = _aligned(text, page_characters(textpage))[max(0, start) : max(0, end)]
        characters = [_box(page, textpage, place) for place in places if place >= 0]
    finally:
        textpage.close()
    return _joined([box for box in characters if box.width > 0 and box.height > 0])


def _aligned(text: str, printed: str) -> list[int]:
    """For each character of `text` its index in `printed`; -1 for blanks and what is not there.

    The text lacks running heads, and the hyphens of broken words; blanks differ anywhere.
    """
    (own, own_at), (theirs, theirs_at) = _solid(text), _solid(printed)
    places = [-1] * len(text)
    here = there = 0
    reached = -1  # in `printed`, by what was found
    while here < len(own):
        if there >= len(theirs) or own[here] != theirs[there]:
            there = _next(own[here : here + _AHEAD], theirs, there)
            if there < 0:
                here, there = here + 1, bisect_right(theirs_at, reached)
                continue
        places[own_at[here]] = theirs_at[there]
        reached = max(reached, theirs_at[there])
        here, there = here + 1, there + 1
    return places


def _next(piece: str, theirs: str, there: int) -> int:
    """Find these characters: a few places further, far further or, if moved, anywhere."""
    for near in range(there + 1, there + _NEAR):
        if theirs.startswith(piece[:_NEAR], near):
            return near
    further = theirs.find(piece, there)
    return further if further >= 0 else theirs.find(piece)


def _solid(text: str) -> tuple[str, list[int]]:
    """The letters and signs of a text in compatibility decomposition, and where each stands."""
    letters, at = [], []
    for index, character in enumerate(text):
        if character <= " ":
            continue
        for part in unicodedata.normalize("NFKD", character):
            if not (part.isspace() or unicodedata.combining(part)):
                letters.append(part)
                at.append(index)
    return "".join(letters), at


def _box(page: PdfPage, textpage: PdfTextPage, index: int) -> Box:
    rectangle = pdfium.FS_RECTF()
    if not pdfium.FPDFText_GetLooseCharBox(textpage, index, byref(rectangle)):
        return Box(0, 0, 0, 0)
    corners = [
        _shown_at(page, rectangle.left, rectangle.top),
        _shown_at(page, rectangle.right, rectangle.bottom),
    ]
    (left, right), (top, bottom) = (sorted(each) for each in zip(*corners, strict=True))
    left, right, top, bottom = (min(1.0, max(0.0, side)) for side in (left, right, top, bottom))
    return Box(left, top, right - left, bottom - top)


def _shown_at(page: PdfPage, x: float, y: float) -> tuple[float, float]:
    """A point as it is shown: pages may be turned, and cut."""
    across, down = c_int(), c_int()
    pdfium.FPDF_PageToDevice(
        page, 0, 0, _GRID, _GRID, 0, c_double(x), c_double(y), byref(across), byref(down)
    )
    return across.value / _GRID, down.value / _GRID


def _joined(characters: Sequence[Box]) -> list[Box]:
    """The boxes of characters that follow each other on one line as one."""
    lines: list[Box] = []
    for box in characters:
        if lines and _continues(lines[-1], box):
            lines[-1] = _around(lines[-1], box)
        else:
            lines.append(box)
    return lines


def _continues(line: Box, box: Box) -> bool:
    shared = min(line.top + line.height, box.top + box.height) - max(line.top, box.top)
    gap = box.left - (line.left + line.width)
    return shared > min(line.height, box.height) / 2 and -box.width < gap < 3 * box.height


def _around(one: Box, other: Box) -> Box:
    left, top = min(one.left, other.left), min(one.top, other.top)
    right = max(one.left + one.width, other.left + other.width)
    bottom = max(one.top + one.height, other.top + other.height)
    return Box(left, top, right - left, bottom - top)


def _png(pixels: NDArray[np.uint8]) -> bytes:
    """Pixels as a PNG: grey where nothing has a colour, which takes a third of the room."""
    colours = np.ascontiguousarray(pixels[..., :3])
    is_grey = bool((colours == colours[..., :1]).all())
    rows = colours[..., 0] if is_grey else colours.reshape(len(colours), -1)
    filtered = np.zeros((rows.shape[0], rows.shape[1] + 1), np.uint8)  # filter 0, then the row
    filtered[:, 1:] = rows
    head = struct.pack(
        ">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 0 if is_grey else 2, 0, 0, 0
    )
    parts = {b"IHDR": head, b"IDAT": zlib.compress(filtered.tobytes(), _SPEED), b"IEND": b""}
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts.items())


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)
