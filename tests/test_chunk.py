"""Passages: exact spans of a limited size that lose nothing and cross nothing they must not."""

import re
from bisect import bisect_right
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from atlas_search.build.chunking import (
    Chunking,
    Position,
    Splitter,
    Unit,
    chunking,
    passage_spans,
    positions,
)
from atlas_search.build.chunking.options import LIMITS
from atlas_search.core.domain import Document, Segment
from atlas_search.core.errors import SourceError
from atlas_search.language.text import Span, sentences

SPLITTERS: list[Splitter] = [
    "recursive",
    "fixed",
    "paragraph",
    "sentence",
    "structural",
    "whole",
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


def token_spans(text: str) -> list[tuple[int, int]]:
    """Words in pieces of four letters, and marks: what a tokenizer makes of a text."""
    return [match.span() for match in re.finditer(r"\w{1,4}|[^\w\s]", text)]


def document(text: str, pages: tuple[int, ...] = (0,), *segments: Segment) -> Document:
    return Document("d", "c", "Title", text, {}, "c/d.txt", pages, segments)


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
def chunkings(draw: st.DrawFn, splitters: list[Splitter] = SPLITTERS) -> Chunking:
    """Whatever the build accepts."""
    splitter, unit = draw(st.sampled_from(splitters)), draw(st.sampled_from(UNITS))
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


def with_examples(test):
    for case in EXAMPLES:
        test = example(case)(test)
    return settings(deadline=None, max_examples=100)(given(CASES)(test))


def spans_of(case: Case) -> list[Span]:
    return passage_spans(*case, token_spans)


def length(text: str, start: int, end: int, unit: Unit) -> int:
    if unit == "characters":
        return max(end - start, 0)
    return sum(left < end and right > start for left, right in token_spans(text))


def pieces(text: str, size: int, overlap: int = 0, splitter: Splitter = "recursive") -> list[str]:
    spans = passage_spans(document(text), chunking(splitter, size, overlap), None)
    return [text[start:end] for start, end in spans]


@with_examples
def test_spans_are_trimmed_and_not_empty(case: Case) -> None:
    text = case[0].text
    for start, end in spans_of(case):
        assert 0 <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()


@with_examples
def test_every_span_fits(case: Case) -> None:
    text, chosen = case[0].text, case[1]
    for start, end in spans_of(case):
        fits = length(text, start, end, chosen.unit) <= chosen.size
        assert fits or chosen.splitter == "whole"


@with_examples
def test_every_character_but_blanks_is_in_a_span(case: Case) -> None:
    covered = {at for span in spans_of(case) for at in range(*span)}
    assert {at for at, character in enumerate(case[0].text) if not character.isspace()} <= covered


@with_examples
def test_no_span_lies_inside_another(case: Case) -> None:
    for before, after in pairwise(spans_of(case)):
        assert before.start < after.start
        assert before.end < after.end


@with_examples
def test_neighbours_share_at_most_the_overlap(case: Case) -> None:
    text, chosen = case[0].text, case[1]
    for before, after in pairwise(spans_of(case)):
        shared = (
            length(text, after.start, before.end, chosen.unit) if after.start < before.end else 0
        )
        assert shared <= chosen.overlap


@with_examples
def test_pages_speeches_and_sections_are_crossed_only_where_that_was_chosen(case: Case) -> None:
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
    assert not any(start < wall < end for start, end in spans_of(case) for wall in walls)


@with_examples
def test_positions_are_what_counting_gives(case: Case) -> None:
    source = case[0]
    segments = source.segments
    ends = [*(segment.start for segment in segments[1:]), len(source.text)]
    spans = spans_of(case)
    for span, position in zip(spans, positions(source, spans), strict=True):
        assert position.page == bisect_right(source.pages, span.start)
        assert position.line == source.text[: span.start].count("\n") + 1
        sections = [segment.section for segment in segments if segment.start <= span.start]
        assert position.section == (sections[-1] if sections else "")
        heard = [
            segment.speaker
            for segment, end in zip(segments, ends, strict=False)
            if segment.speaker and any(segment.start <= at < end for at in range(*span))
        ]
        assert position.speaker == "; ".join(dict.fromkeys(heard))


@settings(deadline=None, max_examples=100)
@given(st.lists(st.sampled_from(CHARACTERS), max_size=120), chunkings())
def test_no_character_is_cut_from_its_marks(characters: list[str], chosen: Chunking) -> None:
    text = "".join(characters)
    ends = [0]
    for character in characters:
        ends.append(ends[-1] + len(character))
    for span in spans_of((document(text), chosen)):
        assert {*span} <= {*ends}


def test_a_character_with_more_marks_than_fit_is_cut() -> None:
    assert pieces("e" + "\u0301" * 99, 50) == ["e" + "\u0301" * 49, "\u0301" * 50]


@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("text", ["", " \n\n\t \f"])
def test_a_blank_text_has_no_spans(text: str, splitter: Splitter) -> None:
    assert passage_spans(document(text, (0, len(text))), chunking(splitter), None) == []


# recursive


def test_a_text_that_fits_is_one_span() -> None:
    assert pieces("a" * 20 + "\n\n" + "b" * 28, 20 + 2 + 28) == ["a" * 20 + "\n\n" + "b" * 28]


def test_paragraphs_that_fit_are_kept_whole() -> None:
    first, second, third = "one " * 9 + "end", "two " * 9 + "end", "three"
    assert pieces(f"{first}\n\n{second}\n \n{third}", 50) == [first, f"{second}\n \n{third}"]


@pytest.mark.parametrize("heading", ["## Facts", "THE FACTS"])
def test_a_heading_stays_with_the_paragraph_below_it(heading: str) -> None:
    above, below = "above " * 5 + "end", "below " * 5 + "end"
    assert pieces(f"{above}\n\n{heading}\n\n{below}", 50) == [above, f"{heading}\n\n{below}"]


def test_lines_are_kept_whole_where_a_paragraph_is_too_long() -> None:
    lines = [f"{judge} agreed. Nobody dissented." for judge in ("Ash", "Birch", "Cole")]
    assert len("\n".join([lines[0], "Birch agreed."])) <= 50  # a sentence more would fit
    assert pieces("\n".join(lines), 50) == lines


def test_sentences_that_fit_are_not_cut() -> None:
    told = [f"Judge {name} said that No. 45 applies." for name in ("Ash", "Birch", "Cole")]
    assert pieces(" ".join(told), 50) == told


def test_a_sentence_too_long_is_cut_between_words() -> None:
    assert pieces("abcd " * 20, 50) == [("abcd " * 10).strip()] * 2


def test_a_word_too_long_is_cut_into_characters() -> None:
    lengths = [len(piece) for piece in pieces("x" * 5000, 400, 100)]
    assert lengths == [400] * 12 + [5000 - 12 * 400]


def test_whole_sentences_are_repeated_up_to_the_overlap() -> None:
    a, b, c, d = (f"{letter * 18}. " for letter in "ABCD")  # 20 characters with the blank
    assert pieces(a + b + c + d, 60, 20) == [(a + b + c).strip(), (c + d).strip()]
    assert pieces(a + b + c + d, 60, 18) == [(a + b + c).strip(), d.strip()]


def test_a_repeated_text_gives_spans_at_different_places() -> None:
    line = "The appeal is dismissed with costs."  # 35 characters, 37 with the blank line
    assert passage_spans(document(f"{line}\n\n" * 3), chunking(size=50, overlap=0), None) == [
        Span(0, 35),
        Span(37, 37 + 35),
        Span(2 * 37, 2 * 37 + 35),
    ]


def test_a_size_in_tokens_counts_what_the_model_reads() -> None:
    text = "I am a cat. " * 6  # five tokens each
    spans = passage_spans(document(text), chunking(size=16, overlap=0, unit="tokens"), token_spans)
    assert [text[start:end] for start, end in spans] == [("I am a cat. " * 3).strip()] * 2


@pytest.mark.parametrize("splitter", ["recursive", "fixed"])
def test_a_word_of_one_token_is_still_cut_when_it_is_endless(splitter: Splitter) -> None:
    chosen = chunking(splitter, 16, 0, "tokens")
    spans = passage_spans(document("x" * 1000), chosen, lambda text: [(0, len(text))])
    assert spans == [Span(0, 320), Span(320, 640), Span(640, 960), Span(960, 1000)]  # 20 a token


@pytest.mark.parametrize("splitter", ["recursive", "fixed"])
def test_one_character_of_many_tokens_is_a_passage(splitter: Splitter) -> None:
    chosen = chunking(splitter, 16, 8, "tokens")
    spans = passage_spans(document("﷽﷽"), chosen, lambda _: [(0, 1)] * 18 + [(1, 2)] * 18)
    assert spans == [Span(0, 1), Span(1, 2)]


# fixed


def test_windows_overlap_by_what_was_chosen() -> None:
    text = "".join(chr(ord("a") + n % 26) for n in range(130))
    assert pieces(text, 50, 10, "fixed") == [text[0:50], text[40:90], text[80:130]]


def test_a_window_begins_and_ends_between_words() -> None:
    text = " ".join(f"no{n:02}" for n in range(25))  # 4 characters each, 5 with the blank
    assert pieces(text, 52, 12, "fixed") == [text[0:49], text[40:89], text[80:]]


def test_a_window_is_cut_hard_when_no_word_ends_in_its_last_fifth() -> None:
    text = "short " * 6 + "x" * 60  # the last blank is at 35, the last fifth begins at 40
    assert pieces(text, 50, 0, "fixed") == [text[0:50], text[50:]]


# paragraph, sentence, structural, whole


def test_each_paragraph_is_a_passage() -> None:
    assert pieces("One.\n\nTHE FACTS\n\nTwo.\nThree.\n\nFour.", 50, 0, "paragraph") == [
        "One.",
        "THE FACTS\n\nTwo.\nThree.",
        "Four.",
    ]


def test_a_paragraph_too_long_is_cut_along_its_lines() -> None:
    line = "This line has forty characters in all, a"
    assert pieces(f"One.\n\n{line}\n{line}\n\nFour.", 50, 0, "paragraph") == [
        "One.",
        line,
        line,
        "Four.",
    ]


def test_each_sentence_is_a_passage() -> None:
    assert pieces("He cites No. 45. She agrees.\nSo ordered", 50, 0, "sentence") == [
        "He cites No. 45.",
        "She agrees.",
        "So ordered",
    ]


def test_a_sentence_too_long_for_a_passage_is_cut_between_words() -> None:
    assert pieces("Yes. " + "abcd " * 20, 50, 0, "sentence") == ["Yes.", *pieces("abcd " * 20, 50)]


def test_the_sentences_of_a_very_long_line_are_those_of_its_parts() -> None:
    line = "The court agrees. Nobody dissented. " * 500
    told = [line[start:end] for start, end in sentences("The court agrees. Nobody dissented.")]
    assert pieces(line, 50, 0, "sentence") == told * 500


def test_sections_stay_apart_and_a_long_one_is_cut() -> None:
    source = document(
        "Before.\nOne.\nTwo.\n" + "Long. " * 10,
        (0,),
        Segment(8, "Part 1"),
        Segment(13, "Part 2"),
        Segment(18, "Part 3"),
    )
    spans = passage_spans(source, chunking("structural", 50, 0), None)
    assert spans == [Span(0, 7), Span(8, 12), Span(13, 17), Span(18, 65), Span(66, 77)]
    assert [position.section for position in positions(source, spans)] == [
        "",
        "Part 1",
        "Part 2",
        "Part 3",
        "Part 3",
    ]


def test_whole_sections_are_joined_across_sections() -> None:
    source = document("x" * 30 + " " + "y" * 15 + " " + "z" * 30, (0,), Segment(31), Segment(47))
    chosen = chunking("structural", 50, 0, across_sections=True)
    assert passage_spans(source, chosen, None) == [Span(0, 46), Span(47, 77)]


def test_a_whole_document_is_one_passage() -> None:
    source = document(" One.\n\n" + "x" * 30_000 + "\n", (0, 4, 90), Segment(10))
    assert passage_spans(source, chunking("whole"), None) == [Span(1, 30_007)]


def test_a_passage_ends_with_its_page_unless_it_may_cross() -> None:
    source = document("One sentence\ngoes on.", (0, 13))
    assert passage_spans(source, chunking(), None) == [Span(0, 12), Span(13, 21)]
    assert passage_spans(source, chunking(across_pages=True), None) == [Span(0, 21)]


# positions


@pytest.mark.parametrize(("start", "line"), [(0, 1), (3, 1), (4, 2), (5, 3), (8, 3)])
def test_lines_are_counted_from_one(start: int, line: int) -> None:
    assert positions(document("one\n\nthree"), [Span(start, 10)])[0].line == line


@pytest.mark.parametrize(("start", "page"), [(0, 1), (9, 1), (10, 2), (24, 2), (25, 3), (99, 3)])
def test_a_page_begins_at_its_offset(start: int, page: int) -> None:
    assert positions(document("x" * 100, (0, 10, 25)), [Span(start, 100)])[0].page == page


def test_what_comes_before_the_first_page_is_a_passage_on_the_first() -> None:
    source = document("text more", (5,))
    spans = passage_spans(source, chunking(), None)
    assert spans == [Span(0, 4), Span(5, 9)]
    assert positions(source, spans) == [Position(1, 1, "", ""), Position(1, 1, "", "")]


def test_everybody_who_speaks_in_a_passage_is_named_once() -> None:
    speeches = (Segment(4, "Q1", "Ash"), Segment(8, "Q1", "Birch"), Segment(12, "Q2", "Ash"))
    source = document("Hm. Yes No. Yes", (0,), *speeches)
    assert positions(source, [Span(0, 15), Span(4, 7), Span(8, 15)]) == [
        Position(1, 1, "", "Ash; Birch"),
        Position(1, 1, "Q1", "Ash"),
        Position(1, 1, "Q1", "Birch; Ash"),
    ]


# what may be chosen


@pytest.mark.parametrize(
    ("splitter", "unit", "size", "overlap"),
    [
        ("recursive", "characters", 1000, 100),
        ("structural", "characters", 1000, 100),
        ("paragraph", "characters", 1000, 0),
        ("fixed", "characters", 800, 120),
        ("recursive", "tokens", 200, 20),
        ("fixed", "tokens", 160, 24),
        ("whole", "characters", 0, 0),
    ],
)
def test_a_splitter_has_its_own_size(
    splitter: Splitter, unit: Unit, size: int, overlap: int
) -> None:
    assert chunking(splitter, unit=unit) == Chunking(splitter, size, overlap, unit)


def test_the_overlap_follows_the_size() -> None:
    assert chunking(size=150).overlap == 15


@pytest.mark.parametrize(
    ("splitter", "size", "overlap", "unit", "reason"),
    [
        ("recursive", 10, None, "characters", "--chunk-size 10: give 50 to 20000 characters."),
        ("fixed", 20_001, None, "characters", "--chunk-size 20001: give 50 to 20000 characters."),
        ("recursive", 15, None, "tokens", "--chunk-size 15: give 16 to 8192 tokens."),
        ("recursive", 100, 51, "characters", "--chunk-overlap 51: give 0 to half the chunk size"),
        ("sentence", 100, -1, "characters", "--chunk-overlap -1: give 0 to half the chunk size"),
        ("whole", 500, None, "characters", "--chunk-size 500: whole documents are not cut"),
        ("whole", None, 9, "characters", "--chunk-overlap 9: whole documents are not cut"),
    ],
)
def test_a_contradiction_names_the_option(
    splitter: Splitter, size: int | None, overlap: int | None, unit: Unit, reason: str
) -> None:
    with pytest.raises(SourceError, match=re.escape(reason)):
        chunking(splitter, size, overlap, unit)


def test_a_size_in_tokens_needs_a_tokenizer() -> None:
    with pytest.raises(ValueError, match="need the token spans of the model"):
        passage_spans(document("text"), chunking(unit="tokens"), None)
