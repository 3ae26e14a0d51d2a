"""Question-answering models: from logits to spans, and a tiny one that is trained here."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atlas_search.core.errors import ReaderUnavailable
from atlas_search.providers.reading import (
    BATCH,
    LONGEST_ANSWER,
    NO_SPAN,
    AnswerSpan,
    QuestionAnsweringModel,
    Window,
    WindowSpan,
    best_in_window,
    best_of_texts,
    probability,
)
from tests.providers.reading.tiny_reader import LONGEST

WORDS = [(0, 4), (5, 9), (10, 14), (15, 19)]
LONG = [(2 * at, 2 * at + 1) for at in range(LONGEST_ANSWER + 1)]
ZEROS = [0.0] * (LONGEST_ANSWER - 1)


def window(*places: tuple[int, int], text: int = 0) -> Window:
    """[CLS] question [SEP], then tokens with these characters."""
    return Window(text, {}, no_answer=0, first=3, places=places)


@pytest.mark.parametrize(
    ("places", "starts", "ends", "span"),
    [
        # the largest sum of logits, less those of [CLS]
        (WORDS, [0, 5, 1, 0], [0, 1, 4, 0], (5, 14, 5 + 4 - (1 + 1))),
        # a span does not end before it begins
        (WORDS, [0, 0, 5, 0], [9, 0, 0, 1], (0, 4, 0 + 9 - 2)),
        (WORDS, [0, 0, 5, 0], [4, 0, 0, 1], (10, 19, 5 + 1 - 2)),
        # first to last would be 8, and a token longer than an answer
        (LONG, [3, *ZEROS, 2], [0, *ZEROS, 5], (*LONG[-1], 2 + 5 - 2)),
        (LONG[1:], [3, *ZEROS], [*ZEROS, 5], (2, LONG[-1][1], 3 + 5 - 2)),
        # of equal spans the first, and then the shorter; what padding adds decides nothing
        (WORDS, [1, 2, 2, 0], [1, 1, 1, 1], (5, 9, 2 + 1 - 2)),
        (WORDS, [1, 2, 2.00001, 0], [1, 1, 1.00001, 1], (5, 9, 2 + 1 - 2)),
        # a token of spaces is no word
        ([(0, 4), (4, 4), (5, 9)], [0, 9, 1], [0, 9, 1], (5, 9, 1 + 1 - 2)),
        ([(0, 0)], [9], [9], NO_SPAN),
        ([], [], [], NO_SPAN),
    ],
)
def test_the_best_span_of_a_window(
    places: list[tuple[int, int]], starts: list[float], ends: list[float], span: tuple[float, ...]
) -> None:
    """The logits of [CLS] are 1, and those of the question large."""
    before = [1.0, 90.0, 90.0]
    assert best_in_window(window(*places), np.array(before + starts), np.array(before + ends)) == (
        span
    )


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


QUESTION = "What did wool cost?"
TEXTS = (
    "The court held that wool cost twelve pence on this day.",
    "The court held that a rule did this.",
    "Fish cost three pounds.",
    "On this day salt cost nine crowns. Wool cost twelve pence by old rule.",
    "A market day.",
)
AMPLE = 1000.0


def ticks() -> Callable[[], float]:
    """A clock that is a second further at each look: 0, 1, 2 ..."""
    return map(float, count()).__next__


def answers(reader: QuestionAnsweringModel, question: str, *texts: str) -> list[str]:
    """The words that the reader finds more probable than no answer; empty where there are none."""
    spans, note = reader.read(question, texts, AMPLE)
    assert note == ""
    pairs = zip(texts, spans, strict=True)
    return [text[span.start : span.end] if span.score >= 0.5 else "" for text, span in pairs]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (QUESTION, ["twelve pence", "", "", "twelve pence", ""]),
        ("What did fish cost?", ["", "", "three pounds", "", ""]),
        ("What did salt cost?", ["", "", "", "nine crowns", ""]),
    ],
)
def test_the_words_that_answer_are_found_and_texts_that_do_not_say_are_told_apart(
    reader: QuestionAnsweringModel, question: str, expected: list[str]
) -> None:
    assert answers(reader, question, *TEXTS) == expected


def test_a_word_in_pieces_is_given_whole(reader: QuestionAnsweringModel) -> None:
    assert answers(reader, QUESTION, "Wool cost twelvey pence.") == ["twelvey pence"]


@pytest.mark.thorough
def test_the_score_is_that_of_the_logits_of_span_and_no_answer(
    tiny: Path, reader: QuestionAnsweringModel
) -> None:
    import torch
    from transformers import BertForQuestionAnswering, BertTokenizer

    text = "Wool cost nine crowns."  # the tiny model has not learnt what to think of it
    tokens = BertTokenizer.from_pretrained(tiny)(QUESTION, text, return_tensors="pt")
    model: Any = BertForQuestionAnswering.from_pretrained(tiny)
    with torch.inference_mode():
        output = model.eval()(**tokens)
    starts, ends = output.start_logits[0].tolist(), output.end_logits[0].tolist()
    span = reader.read(QUESTION, [text], AMPLE).spans[0]
    first = tokens.char_to_token(0, span.start, 1)
    last = tokens.char_to_token(0, span.end - 1, 1)
    margin = starts[first] + ends[last] - starts[0] - ends[0]
    assert span.score == pytest.approx(1 / (1 + exp(-margin)), abs=1e-4)


@pytest.mark.thorough
def test_an_answer_is_found_wherever_a_window_ends_and_far_behind_it(
    reader: QuestionAnsweringModel,
) -> None:
    for place in range(20):
        text = f"{'court ' * place}wool cost twelve pence{' market' * 40}"
        assert answers(reader, QUESTION, text) == ["twelve pence"], place
    before, after = "the court held that a rule " * 30, " the old market" * 30
    long = f"{before}Wool cost twelve pence{after}"
    assert len(long.split()) > 5 * LONGEST
    assert answers(reader, QUESTION, long, f"{before}{after}") == ["twelve pence", ""]
    assert reader.read(QUESTION, [long], AMPLE).spans[0].start == long.index("twelve")


def test_the_end_of_a_question_longer_than_the_model_reads_is_left_out(
    reader: QuestionAnsweringModel,
) -> None:
    long = f"What did wool cost ? {'on this day ' * 100}"
    shortened = " ".join(long.split()[: LONGEST // 3])
    assert reader.read(long, TEXTS, AMPLE) == reader.read(shortened, TEXTS, AMPLE)


@pytest.mark.parametrize("blank", ["", " \n\t "])
def test_a_text_or_question_without_a_word_is_no_fault(
    reader: QuestionAnsweringModel, blank: str
) -> None:
    spans, note = reader.read(QUESTION, [TEXTS[0], blank, TEXTS[1]], AMPLE)
    assert (len(spans), note) == (3, "")
    assert spans[1] == AnswerSpan(0, 0, 0.0)
    assert len(reader.read(blank, TEXTS, AMPLE).spans) == len(TEXTS)
    assert reader.read(QUESTION, [], 0.0) == ([], "")


@pytest.mark.thorough
def test_a_text_has_the_same_span_whatever_stands_beside_it(
    tiny: Path, reader: QuestionAnsweringModel
) -> None:
    alone = [reader.read(QUESTION, [text], AMPLE).spans[0] for text in TEXTS]
    again = QuestionAnsweringModel(str(tiny), device="cpu")
    together = again.read(QUESTION, TEXTS * 3, AMPLE).spans
    assert [span[:2] for span in together] == [span[:2] for span in alone] * 3
    assert [s.score for s in together] == pytest.approx([s.score for s in alone] * 3, abs=1e-4)


def test_reading_stops_when_the_time_is_used_up(tiny: Path, reader: QuestionAnsweringModel) -> None:
    texts = (TEXTS * 5)[: 3 * BATCH]
    # looks: 0 to begin, 1 before the first batch, 2 before the second, 3 before the third
    hurried = QuestionAnsweringModel(str(tiny), device="cpu", clock=ticks())
    spans, note = hurried.read(QUESTION, texts, 3.0)
    assert spans == reader.read(QUESTION, texts, AMPLE).spans[: 2 * BATCH]
    assert note.startswith(f"{tiny} read {2 * BATCH} of {3 * BATCH} passages in 3 seconds; ")
    assert "READER_SECONDS" in note
    with reader._reading:  # waiting for another thread counts as time
        spans, note = reader.read(QUESTION, TEXTS, 0.01)
    assert list(spans) == []
    assert "read 0 of 5 passages in 0.01 seconds" in note


@pytest.mark.thorough
def test_threads_do_not_disturb_each_other(reader: QuestionAnsweringModel) -> None:
    questions = [f"What did {thing} cost{' on this day' * 3}?" for thing in ("wool", "fish")] * 4
    alone = [reader.read(question, TEXTS, AMPLE) for question in questions]
    with ThreadPoolExecutor(len(questions)) as pool:
        assert list(pool.map(lambda q: reader.read(q, TEXTS, AMPLE), questions)) == alone


def test_a_model_that_fails_while_it_reads_is_unavailable(tiny: Path) -> None:
    broken = QuestionAnsweringModel(str(tiny), device="cpu")
    broken.load()
    broken._loaded[0].model.qa_outputs.bias.data.fill_(float("nan"))
    with pytest.raises(ReaderUnavailable, match=r"gives no number .* another READER_MODEL"):
        broken.read(QUESTION, TEXTS, AMPLE)
    broken._loaded[0].model.qa_outputs = None
    with pytest.raises(ReaderUnavailable, match="cannot read the passages"):
        broken.read(QUESTION, TEXTS, AMPLE)
