"""Passages along the boundaries of the text."""

from collections.abc import Iterable, Iterator, Sequence

from atlas_search.build.chunking.boundaries import (
    Starts,
    last_cut,
    leads_in,
    line_starts,
    paragraph_starts,
    parts,
    sentence_starts,
    word_starts,
)
from atlas_search.build.chunking.measure import Measure
from atlas_search.language.text import TextSpan

LEVELS: tuple[Starts, ...] = (paragraph_starts, line_starts, sentence_starts, word_starts)


def recursive_spans(
    text: str,
    span: TextSpan,
    size: int,
    overlap: int,
    measure: Measure,
    levels: tuple[Starts, ...] = LEVELS,
) -> Iterator[TextSpan]:
    """Spans of at most `size` units, cut at the coarsest boundary that fits.

    Boundaries are those of `levels`, then characters. What leads in, a question or a function's
    name, stays with what it leads to. Neighbouring pieces are joined while they fit. A span repeats
    whole pieces of up to `overlap` units from the end of the one before: sentences where a
    paragraph had to be cut, nothing where two paragraphs part. Of 1000 characters with an overlap
    of 200, 84 % of the neighbours in running prose overlap (200 whole words would be repeated
    always, but four passages in five would begin inside a sentence, and so would the quotations
    from them). Requires 0 <= overlap < size.
    """
    if span.end <= measure.reach(span.start, size):
        return iter((span,))
    pieces = _pieces(text, span, size, measure, levels)
    return _join(_led(text, pieces, size, measure), size, overlap, measure)


def _join(
    pieces: Iterable[TextSpan], size: int, overlap: int, measure: Measure
) -> Iterator[TextSpan]:
    held: list[TextSpan] = []
    limit = 0
    for piece in pieces:
        if held and piece.end > limit:
            yield TextSpan(held[0].start, held[-1].end)
            held = _overlap_with(held, piece, size, overlap, measure) if overlap else []
        held.append(piece)
        limit = measure.reach(held[0].start, size)
    if held:
        yield TextSpan(held[0].start, held[-1].end)


def _overlap_with(
    held: list[TextSpan], following: TextSpan, size: int, overlap: int, measure: Measure
) -> list[TextSpan]:
    """The last of the pieces, within the overlap, that still fit with the piece to follow."""
    earliest = measure.back(held[-1].end, overlap)
    first = len(held)
    while (
        first > 0
        and held[first - 1].start >= earliest
        and following.end <= measure.reach(held[first - 1].start, size)
    ):
        first -= 1
    return held[first:]


def _pieces(
    text: str, span: TextSpan, size: int, measure: Measure, levels: tuple[Starts, ...]
) -> Iterator[TextSpan]:
    """What a span is made of that is too long itself, each at most `size` long."""
    if not levels:
        yield from _cut_word(text, span, size, measure)
        return
    for part in parts(text, span, levels[0]):
        if part.end <= measure.reach(part.start, size):
            yield part
        else:
            yield from _pieces(text, part, size, measure, levels[1:])


def _led(text: str, pieces: Iterable[TextSpan], size: int, measure: Measure) -> Iterator[TextSpan]:
    """The pieces, each that leads in joined with the next, or the sentences where they meet."""
    before: TextSpan | None = None
    for piece in pieces:
        if before:
            *earlier, piece = _meet(text, before, piece, size, measure)
            yield from earlier
        before = piece if leads_in(text, piece) else None
        if not before:
            yield piece
    if before:
        yield before


def _meet(
    text: str, before: TextSpan, after: TextSpan, size: int, measure: Measure
) -> Sequence[TextSpan]:
    """Two pieces as one, or the last sentence of one with the first line or sentence of the other.

    Or both as they are, where nothing fits.
    """
    if after.end <= measure.reach(before.start, size):
        return (TextSpan(before.start, after.end),)
    *earlier, last = parts(text, before, sentence_starts)
    limit = measure.reach(last.start, size)
    if after.end <= limit:
        return (*earlier, TextSpan(last.start, after.end))
    first, *later = _lines_or_sentences(text, after)
    if first.end <= limit:
        return (*earlier, TextSpan(last.start, first.end), *later)
    return (before, after)


def _lines_or_sentences(text: str, span: TextSpan) -> list[TextSpan]:
    """Its lines, or the sentences of its only one: not of a table's header with its first row."""
    found = list(parts(text, span, line_starts))
    whole = len(found) > 1 or text.find("|", *span) >= 0
    return found if whole else list(parts(text, span, sentence_starts))


def _cut_word(text: str, word: TextSpan, size: int, measure: Measure) -> Iterator[TextSpan]:
    start = word.start
    while start < word.end:
        limit = measure.reach(start, size)
        end = last_cut(text, start, limit) if limit < word.end else word.end
        yield TextSpan(start, end)
        start = end
