"""A line of a printed page, and which lines are prose."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from atlas_search.readers.print import are_prose, goes_on, nearly_widest, raised

BROKEN = "\x02"
"""Stands at the end of a line whose last word goes on in the next one; so pdfium marks it."""

BREAK = re.compile(r"[^\W\d_]-\Z")
LEAST_LINE = 25  # characters; where all lines are shorter they are cells
LEAST_RISE = 1.5  # points from the base of a line to that of its raised numbers
SAME = 2.5  # points between the left ends of lines that stand below each other


@dataclass(frozen=True, slots=True)
class PrintedLine:
    """A printed line: the height of its base, and how far it reaches from left to right.

    One without text is a blank line. `words_left` and `words_right` are the ends of what stands
    between a number at its beginning and one at its end. `turn` is not 0 where it is turned against
    most lines of the page, by which angle in degrees; its places are those of the page so turned.
    `size` is that of its type in points. The `row` of a table is how its cells are written.
    """

    text: str
    height: float
    left: float
    right: float
    broken: bool
    words_left: float = 0.0
    words_right: float = 0.0
    turn: int = 0
    size: float = 0.0
    row: str = ""


def whole(parts: Sequence[PrintedLine]) -> PrintedLine:
    """A line of these parts, of which one may be the raised number of a note."""
    texts = [parts[0].text]
    for before, part in pairwise(parts):
        is_call = part.height - before.height > LEAST_RISE and part.text.isdecimal()
        texts.append(raised(part.text, before.text) if is_call else f" {part.text}")
    right = parts[-1].right
    return replace(
        parts[0], text="".join(texts), right=right, words_right=right, broken=parts[-1].broken
    )


def is_prose(lines: Sequence[PrintedLine]) -> bool:
    """Say if sentences go on from line to line, and from full ones."""
    if max((len(line.text) for line in lines), default=0) < LEAST_LINE:
        return False
    first = min(line.left for line in lines)
    width = nearly_widest(line.right - first for line in lines)
    pairs = pairwise(lines)
    open_ = [before.right - first for before, after in pairs if goes_on(before.text, after.text)]
    return are_prose(open_, len(lines) - 1, width)
