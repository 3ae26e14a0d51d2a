"""The passages of a document."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from atlas_search.build.chunking.boundaries import Starts, paragraph_starts, parts, sentence_starts
from atlas_search.build.chunking.fixed import fixed_spans
from atlas_search.build.chunking.headings import without_headings
from atlas_search.build.chunking.measure import Characters, Measure, Tokens, TokenSpans
from atlas_search.build.chunking.options import Chunking
from atlas_search.build.chunking.recursive import LEVELS, recursive_spans
from atlas_search.core.domain import Document, Segment
from atlas_search.core.locator import root
from atlas_search.language.text import TextSpan, trim

_Split = Callable[[TextSpan], Iterator[TextSpan]]


def passage_spans(
    document: Document, chunking: Chunking, token_spans: TokenSpans | None
) -> list[TextSpan]:
    """The passages of a document, trimmed, in order, none inside another.

    Every character but blanks and headings is in one of them. None is longer than the size, except
    a single character of more tokens, and one with headings that have no text under them.
    `token_spans` is asked once, and only if the unit is tokens.
    """
    split = _splitter(document, chunking, token_spans)
    regions = (trim(document.text, *region) for region in pairwise(_bounds(document, chunking)))
    spans = [span for region in regions if region.start < region.end for span in split(region)]
    return spans if chunking.splitter == "whole" else without_headings(document, spans)


def _bounds(document: Document, chunking: Chunking) -> Sequence[int]:
    """Where no passage may run on, both ends of the text among them."""
    bounds = {0, len(document.text)}
    if chunking.splitter == "whole":
        return sorted(bounds)
    if not chunking.across_pages:
        bounds.update(document.pages)
    if not chunking.across_sections:
        structural = chunking.splitter == "structural"
        bounds.update(
            segment.start
            for before, segment in pairwise((Segment(0), *document.segments))
            if structural
            or segment.speaker != before.speaker
            or root(segment.locator) != root(before.locator)
        )
    return sorted(bounds)


def _splitter(document: Document, chunking: Chunking, token_spans: TokenSpans | None) -> _Split:
    """What cuts one region of the document."""
    if chunking.splitter == "whole":
        return lambda region: iter((region,))
    text, size, overlap = document.text, chunking.size, chunking.overlap
    measure = _measure(text, chunking, token_spans)
    if chunking.splitter == "fixed":
        return lambda region: fixed_spans(text, region, size, overlap, measure)
    if chunking.splitter == "structural":
        levels = (_segment_starts(document), *LEVELS)
        return lambda region: recursive_spans(text, region, size, overlap, measure, levels)
    if chunking.splitter == "recursive":
        return lambda region: recursive_spans(text, region, size, overlap, measure)
    starts = paragraph_starts if chunking.splitter == "paragraph" else sentence_starts
    return lambda region: (
        span
        for part in parts(text, region, starts)
        for span in recursive_spans(text, part, size, overlap, measure)
    )


def _measure(text: str, chunking: Chunking, token_spans: TokenSpans | None) -> Measure:
    if chunking.unit == "characters":
        return Characters()
    if token_spans is None:
        raise ValueError("passages measured in tokens need the token spans of the model")
    return Tokens(token_spans(text))


def _segment_starts(document: Document) -> Starts:
    starts = [segment.start for segment in document.segments]
    return lambda _, span: starts[bisect_right(starts, span.start) : bisect_left(starts, span.end)]
