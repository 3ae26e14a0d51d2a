"""Documents to cut, and tokens to count."""

import re

from atlas_search.building.chunking import Splitter, chunking, passage_spans
from atlas_search.core.domain import Document, Segment


def token_spans(text: str) -> list[tuple[int, int]]:
    """Words in pieces of four letters, and marks: what a tokenizer makes of a text."""
    return [match.span() for match in re.finditer(r"\w{1,4}|[^\w\s]", text)]


def document(text: str, pages: tuple[int, ...] = (0,), *segments: Segment) -> Document:
    return Document("d", "c", "Title", text, {}, "c/d.txt", pages, segments)


def pieces(text: str, size: int, overlap: int = 0, splitter: Splitter = "recursive") -> list[str]:
    spans = passage_spans(document(text), chunking(splitter, size, overlap), None)
    return [text[start:end] for start, end in spans]
