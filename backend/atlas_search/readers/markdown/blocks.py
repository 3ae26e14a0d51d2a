"""The blocks of Markdown, with the characters at which their lines begin."""

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it.token import Token


def blocks(text: str) -> "Sequence[Token]":
    """The blocks of Markdown in order, each with its lines."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").disable(["lheading", "reference"])
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser.parse(_as_lines(text))


def line_starts(text: str) -> Sequence[int]:
    """Where each line of `text` begins, as `blocks` counts them."""
    return list(accumulate((len(line) + 1 for line in _as_lines(text).split("\n")), initial=0))


def _as_lines(text: str) -> str:
    """A page break ends a line, but Markdown does not know."""
    return text.replace("\f", "\n")
