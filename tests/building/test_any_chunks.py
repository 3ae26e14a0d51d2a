"""Promises that hold for the spans of any document, however it is cut."""

from bisect import bisect_right
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atlas_search.building.chunking import (
    LIMITS,
    Chunking,
    Splitter,
    Unit,
    chunking,
    passage_spans,
    positions,
)
from atlas_search.core.domain import Document, Segment
from atlas_search.language.text import TextSpan
from tests.cuts import document, token_spans

SPLITTERS: list[Splitter] = [
    *("recursive", "fixed", "paragraph", "sentence", "structural", "whole")
]
UNITS: list[Unit] = ["characters", "tokens"]

BLOCKS = [
    *("word ", "A sentence. ", "No. ", "x" * 30, "y" * 70, "I. THE FACTS\n\n", "我来了。你好吗？"),
    *("\n", "\n\n", "\f", " " * 40, "\u3000", "\t", "é", "e\u0301", "😀", "👩\u200d👩\u200d👧"),
]

TEXTS = st.lists(st.sampled_from(BLOCKS) | st.text(max_size=8), max_size=60).map("".join) | st.text(
    max_size=300
)

# what a reader sees as one character
CHARACTERS = ["a", "e\u0301", "षि", "👩\u200d👩\u200d👧", "👍🏽", "❤\ufe0f", "。", "\n", " "]

Case = tuple[Document, Chunking]


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """A text with pages and speeches that begin anywhere in it."""
    text = draw(TEXTS)
    offsets = st.integers(0, len(text))
    pages = (0, *sorted(draw(st.lists(offsets, max_size=4))))
    starts = sorted(draw(st.sets(offsets, max_size=5)))
    names = st.sampled_from(["", "Ash", "Birch"])
    return document(text, pages, *(Segment(start, f"§{start}", draw(names)) for start in starts))


@st.composite
def chunkings(draw: st.DrawFn) -> Chunking:
    """Whatever the build accepts."""
    splitter, unit = draw(st.sampled_from(SPLITTERS)), draw(st.sampled_from(UNITS))
    pages, sections = draw(st.booleans()), draw(st.booleans())
    if splitter == "whole":
        return chunking("whole", unit=unit, across_pages=pages, across_sections=sections)
    least = LIMITS[unit][0]
    size = draw(st.integers(least, 4 * least))
    return chunking(splitter, size, draw(st.integers(0, size // 2)), unit, pages, sections)


CASES = st.tuples(documents(), chunkings())

EXAMPLES: list[Case] = [
    # a text that begins with blanks, then a short paragraph that fits with the next one
    (
        document("\n" * 10 + "a" * 20 + "\n\n" + "b" * 25 + "\n\n" + "c" * 40),
        chunking(size=50, overlap=25),
    ),
    # the same, with blanks on both sides of a line short enough to be repeated
    (
        document("\n\n" + " " * 68 + "A dog.\n" + " " * 34 + "w" * 111),
        chunking(size=110, overlap=32),
    ),
    (document("A dog.  A dog." + " " * 39 + "S. \n\n\n\n\u3000"), chunking(size=52, overlap=13)),
    # the window after the blanks would end where the one before ended
    (document("word " * 9 + "w" + " " * 60 + "end"), chunking("fixed", 50, 25)),
    (document(("x" * 19 + " ") * 2 + "y" * 90), chunking("fixed", 50, 25)),
]


def spans_of(case: Case) -> list[TextSpan]:
    return passage_spans(*case, token_spans)


def length(text: str, start: int, end: int, unit: Unit) -> int:
    if unit == "characters":
        return max(end - start, 0)
    return sum(left < end and right > start for left, right in token_spans(text))


def check_spans(case: Case, spans: list[TextSpan]) -> None:
    """Check that they are trimmed, fit, and hold every character but blanks."""
    text, chosen = case[0].text, case[1]
    for start, end in spans:
        assert 0 <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        fits = length(text, start, end, chosen.unit) <= chosen.size
        assert fits or chosen.splitter == "whole"
    covered = {at for span in spans for at in range(*span)}
    assert {at for at, character in enumerate(text) if not character.isspace()} <= covered


def check_neighbours(case: Case, spans: list[TextSpan]) -> None:
    """Check that none lies inside another, and that they share at most the overlap."""
    text, chosen = case[0].text, case[1]
    for before, after in pairwise(spans):
        assert before.start < after.start
        assert before.end < after.end
        if after.start < before.end:
            assert length(text, after.start, before.end, chosen.unit) <= chosen.overlap


def check_walls(case: Case, spans: list[TextSpan]) -> None:
    """Check that pages, speeches and sections are crossed only where that was chosen."""
    source, chosen = case
    walls: set[int] = set()
    if not chosen.across_pages and chosen.splitter != "whole":
        walls.update(source.pages)
    if not chosen.across_sections and chosen.splitter != "whole":
        speaker = ""
        for segment in source.segments:
            if chosen.splitter == "structural" or segment.speaker != speaker:
                walls.add(segment.start)
            speaker = segment.speaker
    assert not any(start < wall < end for start, end in spans for wall in walls)


def check_positions(case: Case, spans: list[TextSpan]) -> None:
    """Check page, line, section and speakers by counting."""
    source = case[0]
    segments = source.segments
    ends = [*(segment.start for segment in segments[1:]), len(source.text)]
    for span, position in zip(spans, positions(source, spans), strict=True):
        assert position.page == bisect_right(source.pages, span.start)
        assert position.line == source.text[: span.start].count("\n") + 1
        sections = [segment.section for segment in segments if segment.start <= span.start]
        assert position.section == (sections[-1] if sections else "")
        speakers = [
            segment.speaker
            for segment, end in zip(segments, ends, strict=False)
            if segment.speaker and any(segment.start <= at < end for at in range(*span))
        ]
        assert position.speaker == "; ".join(dict.fromkeys(speakers))


def check(case: Case) -> None:
    spans = spans_of(case)
    check_spans(case, spans)
    check_neighbours(case, spans)
    check_walls(case, spans)
    check_positions(case, spans)


@pytest.mark.parametrize("case", EXAMPLES)
def test_known_texts_are_cut_well(case: Case) -> None:
    check(case)


@settings(max_examples=200)
@given(CASES)
def test_any_text_is_cut_well(case: Case) -> None:
    check(case)


@settings(max_examples=100)
@given(st.lists(st.sampled_from(CHARACTERS), max_size=120), chunkings())
def test_no_character_is_cut_from_its_marks(characters: list[str], chosen: Chunking) -> None:
    text = "".join(characters)
    ends = [0]
    for character in characters:
        ends.append(ends[-1] + len(character))
    for span in spans_of((document(text), chosen)):
        assert {*span} <= {*ends}


@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("text", ["", " \n\n\t \f"])
def test_a_blank_text_has_no_spans(text: str, splitter: Splitter) -> None:
    assert passage_spans(document(text, (0, len(text))), chunking(splitter), None) == []
