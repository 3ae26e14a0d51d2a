"""The headings of Markdown: sections, and the title."""

import re
from collections.abc import Sequence
from itertools import pairwise

from atlas_search.readers.markdown.blocks import blocks, line_starts
from atlas_search.readers.markup import Heading

_RUN_ON = re.compile(r"^(#{2,6})(?=[^\s#])", re.MULTILINE)
"""A heading without the blank that CommonMark asks for, and older Markdown does not."""


def headings(text: str) -> Sequence[Heading]:
    """Every heading `# ...` that is not inside code, a list or a quotation, in order."""
    starts = line_starts(text)
    return [
        Heading(starts[opening.map[0]], int(opening.tag[1]), " ".join(title.content.split()))
        for opening, title in pairwise(blocks(_RUN_ON.sub(r"\1 ", text)))
        if opening.type == "heading_open" and opening.level == 0 and opening.map
    ]


def title_of(found: Sequence[Heading], text: str) -> str:
    """The only heading `# ` of `text`, where more text follows than stands before it.

    Empty where there is none, or several: those are parts of the text. Lower headings are none.
    """
    tops = [heading for heading in found if heading.level == 1]
    return tops[0].title if len(tops) == 1 and 2 * tops[0].start < len(text) else ""
