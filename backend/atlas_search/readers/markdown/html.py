"""The HTML inside Markdown."""

from bisect import bisect_right
from collections.abc import Sequence

from atlas_search.readers.markdown.blocks import blocks, line_starts
from atlas_search.readers.text_files import clean


def without_comments(text: str) -> str:
    """`text` without what HTML comments of Markdown hide, but with their lines.

    In code they are shown.
    """
    if "<!--" not in text:
        return text
    starts = line_starts(text)
    code = [
        range(starts[token.map[0]], starts[token.map[1]])
        for token in blocks(text)
        if token.type in ("fence", "code_block") and token.map
    ]

    kept, at = list[str](), 0
    # no pattern: of a thousand comments without an end each would be looked for to the end
    while (begin := text.find("<!--", at)) >= 0 and (end := text.find("-->", begin) + 3) > 2:
        is_shown = text[begin - 1 : begin] == "`" or _is_in(code, begin)
        comment = text[begin:end]
        hidden = "".join(char for char in comment if char in "\n\f")
        kept += [text[at:begin], comment if is_shown else hidden]
        at = end
    return clean("".join([*kept, text[at:]]))


def _is_in(blocks: Sequence[range], at: int) -> bool:
    """Whether one of `blocks`, in order and apart, holds a place."""
    last = bisect_right(blocks, at, key=lambda block: block.start) - 1
    return last >= 0 and at in blocks[last]
