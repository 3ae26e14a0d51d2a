"""Cutting documents into passages with exact character spans.

Spans are computed, never searched for afterwards: a library that returns strings has to look
them up again, and finds the wrong place where a text repeats itself.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import pairwise

from backend.domain import Document
from backend.text import Span, sentences, trimmed

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_HEADING = re.compile(r"#{1,6} [^\n]+|[A-Z][A-Z0-9 ,.'’&()-]{1,80}")
_LINE = re.compile(r"\n")
_BLANK = re.compile(r"\s+")


def recursive_spans(text: str, size: int, overlap: int) -> list[Span]:
    """Spans of at most `size` characters, cut at the coarsest boundary that fits.

    Boundaries are paragraphs, lines, sentences, words, then characters. Neighbouring pieces are
    joined while they fit; a span repeats whole pieces of up to `overlap` characters from the end
    of the one before. Requires 0 <= overlap < size. Spans are trimmed and never empty.
    """
    # trimmed before they are measured: blanks must not push two spans onto the same words
    pieces = [trimmed(text, *piece) for piece in _pieces(text, 0, len(text), size, _LEVELS)]
    pieces = [piece for piece in pieces if piece.start < piece.end]
    spans: list[Span] = []
    first = 0
    for index, piece in enumerate(pieces):
        if first < index and piece.end - pieces[first].start > size:
            spans.append(Span(pieces[first].start, pieces[index - 1].end))
            end = pieces[index - 1].end
            first = index
            while (
                first > 0
                and end - pieces[first - 1].start <= overlap
                and piece.end - pieces[first - 1].start <= size
            ):
                first -= 1
    if pieces:
        spans.append(Span(pieces[first].start, pieces[-1].end))
    return spans


def passage_spans(document: Document, size: int, overlap: int) -> list[Span]:
    """The passages of a document; none crosses a page, so each is cited with its own."""
    bounds = [*document.pages, len(document.text)]
    return [
        Span(begin + span.start, begin + span.end)
        for begin, end in pairwise(bounds)
        for span in recursive_spans(document.text[begin:end], size, overlap)
    ]


def line_of(text: str, start: int) -> int:
    """The line, from 1, on which character `start` stands."""
    return text.count("\n", 0, start) + 1


def page_of(document: Document, start: int) -> int:
    """The page, from 1, on which character `start` stands."""
    return max(bisect_right(document.pages, start), 1)


def _pieces(
    text: str, start: int, end: int, size: int, levels: tuple[Callable[[str], list[int]], ...]
) -> Iterator[Span]:
    """Contiguous spans from `start` to `end`, each at most `size` long once trimmed."""
    span = trimmed(text, start, end)
    if span.end - span.start <= size:
        yield Span(start, end)
        return
    if not levels:
        yield from (Span(at, min(at + size, end)) for at in range(start, end, size))
        return
    cuts = [start, *(start + cut for cut in levels[0](text[start:end])), end]
    for left, right in pairwise(cuts):
        if left < right:
            yield from _pieces(text, left, right, size, levels[1:])


def _after(pattern: re.Pattern[str]) -> Callable[[str], list[int]]:
    return lambda text: [match.end() for match in pattern.finditer(text)]


def _sentence_starts(text: str) -> list[int]:
    return [span.start for span in sentences(text)][1:]


def _paragraph_starts(text: str) -> list[int]:
    """Where paragraphs begin, except after a heading: it belongs to what follows."""
    cuts = []
    start = 0
    for match in _PARAGRAPH.finditer(text):
        if not _HEADING.fullmatch(text, start, match.start()):
            cuts.append(match.end())
        start = match.end()
    return cuts


_LEVELS = (_paragraph_starts, _after(_LINE), _sentence_starts, _after(_BLANK))
