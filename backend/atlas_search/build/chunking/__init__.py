"""Cutting documents into passages with exact character spans.

    options     what may be chosen: splitter, size, overlap, unit
    measure     how far a number of characters or tokens reaches
    boundaries  where paragraphs, sentences and characters begin
    recursive   passages along the boundaries of the text
    fixed       windows that slide over it
    headings    context of passages, not passages
    passages    the passages of a document: pages and sections kept apart
    positions   page, line, section and speaker of each

Spans are computed, never searched for afterwards: a library that returns strings has to look
them up again, and finds the wrong place where a text repeats itself.
"""

from atlas_search.build.chunking.headings import is_title
from atlas_search.build.chunking.measure import TokenSpans
from atlas_search.build.chunking.options import Chunking, Splitter, Unit, chunking
from atlas_search.build.chunking.passages import passage_spans
from atlas_search.build.chunking.positions import Position, positions

__all__ = [
    "Chunking",
    "Position",
    "Splitter",
    "TokenSpans",
    "Unit",
    "chunking",
    "is_title",
    "passage_spans",
    "positions",
]
