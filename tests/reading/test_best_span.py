"""From logits to spans: every expected value can be worked out by hand."""

from math import exp

import numpy as np
import pytest

from atlas_search.providers.reading import (
    LONGEST_ANSWER,
    NO_SPAN,
    AnswerSpan,
    Window,
    WindowSpan,
    best_in_window,
    best_of_texts,
    probability,
)


def window(*places: tuple[int, int], text: int = 0) -> Window:
    """[CLS] question [SEP], then tokens with these characters."""
    return Window(text, {}, no_answer=0, first=3, places=places)


def found(places: list[tuple[int, int]], starts: list[float], ends: list[float]) -> WindowSpan:
    """The best span, with logits of 1 for [CLS], and large ones for the question."""
    before = [1.0, 90.0, 90.0]
    return best_in_window(window(*places), np.array(before + starts), np.array(before + ends))


WORDS = [(0, 4), (5, 9), (10, 14), (15, 19)]


def test_the_best_span_has_the_largest_sum_of_logits() -> None:
    assert found(WORDS, [0, 5, 1, 0], [0, 1, 4, 0]) == (5, 14, 5 + 4 - (1 + 1))


def test_a_span_does_not_end_before_it_begins() -> None:
    assert found(WORDS, [0, 0, 5, 0], [9, 0, 0, 1]) == (0, 4, 0 + 9 - 2)
    assert found(WORDS, [0, 0, 5, 0], [4, 0, 0, 1]) == (10, 19, 5 + 1 - 2)


def test_a_span_has_no_more_tokens_than_an_answer() -> None:
    words = [(2 * at, 2 * at + 1) for at in range(LONGEST_ANSWER + 1)]
    starts = [3.0] + [0.0] * (LONGEST_ANSWER - 1) + [2.0]
    ends = [0.0] * LONGEST_ANSWER + [5.0]
    # first to last would be 8, and a token too long
    assert found(words, starts, ends) == (words[-1][0], words[-1][1], 2 + 5 - 2)
    assert found(words[1:], [*starts[:-2], 0.0], ends[1:]) == (2, words[-1][1], 3 + 5 - 2)


def test_of_equal_spans_the_first_wins_and_then_the_shorter() -> None:
    assert found(WORDS, [1, 2, 2, 0], [1, 1, 1, 1])[:2] == (5, 9)
    # what padding adds to a logit decides nothing
    assert found(WORDS, [1, 2, 2.00001, 0], [1, 1, 1.00001, 1])[:2] == (5, 9)


def test_a_token_of_spaces_is_no_word() -> None:
    assert found([(0, 4), (4, 4), (5, 9)], [0, 9, 1], [0, 9, 1]) == (5, 9, 1 + 1 - 2)
    assert found([(0, 0)], [9], [9]) == NO_SPAN
    assert found([], [], []) == NO_SPAN


def test_the_score_is_the_share_of_the_span_against_no_answer() -> None:
    assert probability(0.0) == 0.5
    assert probability(1.0) == round(exp(1) / (exp(1) + 1), 6)
    assert probability(-2.0) == round(1 / (1 + exp(2)), 6)
    assert [probability(far) for far in (-5000.0, NO_SPAN.margin, 5000.0)] == [0.0, 0.0, 1.0]


def test_a_text_has_the_span_of_its_best_window_the_first_of_equals() -> None:
    windows = [window(text=text) for text in (0, 0, 0, 1)]
    spans = [WindowSpan(0, 4, -3), WindowSpan(5, 9, 0), WindowSpan(7, 9, 0), NO_SPAN]
    assert best_of_texts(windows, spans, 2) == [AnswerSpan(5, 9, 0.5), AnswerSpan(0, 0, 0.0)]


@pytest.mark.parametrize(("read", "whole"), [(0, 0), (1, 1), (2, 1), (3, 2), (4, 3)])
def test_a_text_counts_as_read_once_all_its_windows_are(read: int, whole: int) -> None:
    windows = [window(text=text) for text in (0, 1, 1, 2)]
    assert len(best_of_texts(windows, [WindowSpan(0, 4, 0)] * read, 3)) == whole
