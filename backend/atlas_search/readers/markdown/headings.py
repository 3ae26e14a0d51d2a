"""The headings of Markdown: sections, and the title."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from atlas_search.readers.markdown.blocks import blocks, line_starts
from atlas_search.readers.markup import Heading

_RUN_ON = re.compile(r"^(#{2,6})(?=[^\s#])", re.MULTILINE)
"""A heading without the blank that CommonMark asks for, and older Markdown does not."""

_BOLD = re.compile(
    r"(\*\*|__)(?=\S)([^*_\n\[\]<>|]{1,100}[^*_\n\[\]<>|\s.:;,!…。！：；，、।])(?<![.!…。！][\"”’»」])\1"
)
"""A line in bold that may be a heading: short, and it ends as no sentence and no label does."""

_BLANK_LINE = re.compile(r"[^\S\n]*(?:\n|\Z)")
_FEWEST = 3  # bold lines with text under them; one or two may be a title, or a warning


def headings(text: str) -> Sequence[Heading]:
    """Every heading `# ...` that is not inside code, a list or a quotation, in order.

    Where there is none, lines in bold between blank lines are headings of one level.
    """
    starts = line_starts(text)
    parts = list(pairwise(blocks(_RUN_ON.sub(r"\1 ", text))))
    marked = [
        Heading(starts[opening.map[0]], int(opening.tag[1]), " ".join(title.content.split()))
        for opening, title in parts
        if opening.type == "heading_open" and opening.level == 0 and opening.map
    ]
    if marked:
        return marked
    in_bold = [
        Heading(starts[opening.map[0]], 2, " ".join(bold[2].split()))
        for opening, line in parts
        if opening.type == "paragraph_open" and opening.level == 0 and opening.map
        if (bold := _BOLD.fullmatch(line.content)) and any(map(str.isalpha, bold[2]))
        if _BLANK_LINE.match(text, starts[opening.map[1]])
    ]
    return _sure(in_bold, text)


def _sure(in_bold: Sequence[Heading], text: str) -> Sequence[Heading]:
    """The lines in bold that occur once, if most do and enough of them have text under them.

    Who speaks and the labels of a form recur; the lines of a title page have nothing between them.
    """
    often = Counter(heading.title.casefold() for heading in in_bold)
    once = [heading for heading in in_bold if often[heading.title.casefold()] == 1]
    ends = [*(heading.start for heading in once[1:]), len(text)]
    filled = sum(
        "\n" in text[heading.start : end].strip() for heading, end in zip(once, ends, strict=False)
    )
    return once if filled >= _FEWEST and 2 * len(once) >= len(in_bold) else []


def title_of(found: Sequence[Heading], text: str) -> str:
    """The only heading `# ` of `text`, where more text follows than stands before it.

    Empty where there is none, or several: those are parts of the text. Lower headings are none.
    """
    tops = [heading for heading in found if heading.level == 1]
    return tops[0].title if len(tops) == 1 and 2 * tops[0].start < len(text) else ""
