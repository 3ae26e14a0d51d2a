"""Passages: exact spans of a limited size that lose nothing."""

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from backend.domain import Document
from backend.text import Span
from create.chunk import line_of, page_of, recursive_spans

Case = tuple[str, int, int]
BLOCKS = ["word ", "A sentence. ", "x" * 30, "y" * 70, "\n", "\n\n", " " * 40, "\u3000", "é", "😀"]
TEXTS = st.text(max_size=1500) | st.lists(
    st.sampled_from(BLOCKS) | st.text(max_size=8), max_size=60
).map("".join)
# a text that begins with blanks, then a short paragraph that fits with the next one
BLANK_START = ("\n" * 10 + "a" * 20 + "\n\n" + "b" * 25 + "\n\n" + "c" * 40, 50, 25)
# the same, with blanks on both sides of a line short enough to be repeated
BLANKS_AROUND = ("\n\n" + " " * 68 + "A dog.\n" + " " * 34 + "w" * 111, 110, 32)
BLANK_END = ("A dog.  A dog." + " " * 39 + "S. \n\n\n\n\u3000", 52, 13)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A text, a size and an overlap that the build accepts."""
    size = draw(st.integers(50, 400))
    return draw(TEXTS), size, draw(st.integers(0, size // 2))


def pieces(text: str, size: int, overlap: int = 0) -> list[str]:
    return [text[start:end] for start, end in recursive_spans(text, size, overlap)]


@settings(deadline=None)
@given(cases())
@example(BLANK_START)
@example(BLANK_END)
def test_spans_are_trimmed_not_empty_and_fit(case: Case) -> None:
    text, size, overlap = case
    for start, end in recursive_spans(text, size, overlap):
        assert 0 <= start < end <= len(text)
        assert end - start <= size
        assert text[start:end] == text[start:end].strip()


@settings(deadline=None)
@given(cases())
@example(BLANK_START)
@example(BLANK_END)
def test_every_character_but_blanks_is_in_a_span(case: Case) -> None:
    text, size, overlap = case
    covered = {at for span in recursive_spans(text, size, overlap) for at in range(*span)}
    assert {at for at, character in enumerate(text) if not character.isspace()} <= covered


@settings(deadline=None)
@given(cases())
@example(BLANK_START)
def test_every_span_starts_after_the_one_before(case: Case) -> None:
    spans = recursive_spans(*case)
    assert all(before.start < after.start for before, after in pairwise(spans))


@settings(deadline=None)
@given(cases())
@example(BLANK_END)
def test_every_span_ends_after_the_one_before(case: Case) -> None:
    spans = recursive_spans(*case)
    assert all(before.end < after.end for before, after in pairwise(spans))


@settings(deadline=None)
@given(cases())
@example(BLANKS_AROUND)
def test_no_span_is_given_twice(case: Case) -> None:
    spans = recursive_spans(*case)
    assert len(spans) == len(set(spans))


@settings(deadline=None)
@given(cases())
def test_neighbours_share_at_most_the_overlap(case: Case) -> None:
    text, size, overlap = case
    spans = recursive_spans(text, size, overlap)
    assert all(before.end - after.start <= overlap for before, after in pairwise(spans))


@pytest.mark.parametrize("text", ["", " \n\n\t "])
def test_a_blank_text_has_no_spans(text: str) -> None:
    assert recursive_spans(text, 50, 10) == []


def test_a_text_that_fits_is_one_span() -> None:
    text = "a" * 20 + "\n\n" + "b" * 28
    assert recursive_spans(text, 20 + 2 + 28, 0) == [Span(0, 50)]


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
    assert recursive_spans(f"{line}\n\n" * 3, 50, 0) == [
        Span(0, 35),
        Span(37, 37 + 35),
        Span(2 * 37, 2 * 37 + 35),
    ]


@pytest.mark.parametrize(("start", "line"), [(0, 1), (3, 1), (4, 2), (5, 3), (8, 3)])
def test_lines_are_counted_from_one(start: int, line: int) -> None:
    assert line_of("one\n\nthree", start) == line


@pytest.mark.parametrize(("start", "page"), [(0, 1), (9, 1), (10, 2), (24, 2), (25, 3), (99, 3)])
def test_a_page_begins_at_its_offset(start: int, page: int) -> None:
    document = Document("d", "c", "Title", "x" * 100, {}, "c/d.txt", pages=(0, 10, 25))
    assert page_of(document, start) == page


def test_what_comes_before_the_first_page_is_on_the_first() -> None:
    assert page_of(Document("d", "c", "Title", "text", {}, "c/d.txt", pages=(2,)), 0) == 1
