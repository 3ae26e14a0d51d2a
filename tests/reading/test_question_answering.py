"""Question-answering models: a tiny one that is trained here, loaded as any other."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from math import exp
from pathlib import Path

import pytest

from atlas_search.core.errors import ReaderUnavailable
from atlas_search.providers.reading import BATCH, AnswerSpan, QuestionAnsweringModel
from tests.reading.tiny_reader import LONGEST

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


def words(text: str, span: AnswerSpan) -> str:
    return text[span.start : span.end]


def answers(reader: QuestionAnsweringModel, question: str, *texts: str) -> list[str]:
    """What the reader finds more probable than no answer; empty where that is nothing."""
    spans, note = reader.read(question, texts, AMPLE)
    assert note == ""
    pairs = zip(texts, spans, strict=True)
    return [words(text, span) if span.score >= 0.5 else "" for text, span in pairs]


def test_the_words_that_answer_are_found_and_texts_that_do_not_say_are_told_apart(
    reader: QuestionAnsweringModel,
) -> None:
    assert answers(reader, QUESTION, *TEXTS) == ["twelve pence", "", "", "twelve pence", ""]
    assert answers(reader, "What did fish cost?", *TEXTS) == ["", "", "three pounds", "", ""]
    assert answers(reader, "What did salt cost?", *TEXTS) == ["", "", "", "nine crowns", ""]


def test_the_score_is_that_of_the_logits_of_span_and_no_answer(
    tiny: Path, reader: QuestionAnsweringModel
) -> None:
    import torch
    from transformers import BertForQuestionAnswering, BertTokenizer

    text = "Wool cost nine crowns."  # the tiny model has not learnt what to think of it
    tokens = BertTokenizer.from_pretrained(tiny)(QUESTION, text, return_tensors="pt")
    with torch.inference_mode():
        given = BertForQuestionAnswering.from_pretrained(tiny).eval()(**tokens)
    starts, ends = given.start_logits[0].tolist(), given.end_logits[0].tolist()
    span = reader.read(QUESTION, [text], AMPLE).spans[0]
    first = tokens.char_to_token(0, span.start, 1)
    last = tokens.char_to_token(0, span.end - 1, 1)
    margin = starts[first] + ends[last] - starts[0] - ends[0]
    assert span.score == pytest.approx(1 / (1 + exp(-margin)), abs=1e-4)


def test_a_word_in_pieces_is_given_whole(reader: QuestionAnsweringModel) -> None:
    assert answers(reader, QUESTION, "Wool cost twelvey pence.") == ["twelvey pence"]


def test_an_answer_far_behind_what_the_model_reads_is_found(
    reader: QuestionAnsweringModel,
) -> None:
    before, after = "the court held that a rule " * 30, " the old market" * 30
    long = f"{before}Wool cost twelve pence{after}"
    assert len(long.split()) > 5 * LONGEST
    (span,) = reader.read(QUESTION, [long], AMPLE).spans
    assert (span.start, words(long, span)) == (long.index("twelve"), "twelve pence")
    assert span.score > 0.5
    assert answers(reader, QUESTION, f"{before}{after}") == [""]


@pytest.mark.parametrize("place", range(20))
def test_an_answer_is_found_wherever_a_window_ends(
    reader: QuestionAnsweringModel, place: int
) -> None:
    text = f"{'court ' * place}wool cost twelve pence{' market' * 40}"
    assert answers(reader, QUESTION, text) == ["twelve pence"]


def test_the_end_of_a_question_longer_than_the_model_reads_is_left_out(
    reader: QuestionAnsweringModel,
) -> None:
    long = f"What did wool cost ? {'on this day ' * 100}"
    shortened = " ".join(long.split()[: LONGEST // 3])
    assert reader.read(long, TEXTS, AMPLE) == reader.read(shortened, TEXTS, AMPLE)


@pytest.mark.parametrize("blank", ["", " \n\t "])
def test_a_text_without_a_word_has_an_empty_span(
    reader: QuestionAnsweringModel, blank: str
) -> None:
    spans, note = reader.read(QUESTION, [TEXTS[0], blank, TEXTS[1]], AMPLE)
    assert (len(spans), note) == (3, "")
    assert spans[1] == AnswerSpan(0, 0, 0.0)


def test_a_question_without_a_word_is_no_fault(reader: QuestionAnsweringModel) -> None:
    assert len(reader.read("", TEXTS, AMPLE).spans) == len(TEXTS)


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


def test_without_any_time_nothing_is_read(tiny: Path) -> None:
    hurried = QuestionAnsweringModel(str(tiny), device="cpu", clock=ticks())
    spans, note = hurried.read(QUESTION, TEXTS, 0.5)
    assert list(spans) == []
    assert "read 0 of 5 passages in 0.5 seconds" in note


def test_waiting_for_another_thread_counts_as_time(reader: QuestionAnsweringModel) -> None:
    with reader._reading:
        spans, note = reader.read(QUESTION, TEXTS, 0.01)
    assert list(spans) == []
    assert "read 0 of 5 passages in 0.01 seconds" in note


def test_nothing_to_read_is_read_in_no_time(reader: QuestionAnsweringModel) -> None:
    assert reader.read(QUESTION, [], 0.0) == ([], "")


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
