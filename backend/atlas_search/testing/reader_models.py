"""The contract of reader models."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from atlas_search.providers.reading import ReaderModel

QUESTION = "What did wool cost?"
TEXTS = ("Wool cost twelve pence.", "", "The court held that a rule did this.")
AMPLE = 60.0
"""Seconds in which any model has read these texts."""


class ReaderModelContract:
    """Give the fixture `reader_model`."""

    def test_it_has_a_name(self, reader_model: ReaderModel) -> None:
        assert reader_model.name

    def test_it_can_be_loaded_twice(self, reader_model: ReaderModel) -> None:
        reader_model.load()
        reader_model.load()

    def test_every_span_lies_in_its_text_with_a_score_from_0_to_1(
        self, reader_model: ReaderModel
    ) -> None:
        spans, note = reader_model.read(QUESTION, TEXTS, AMPLE)
        assert len(spans) == len(TEXTS)
        assert note == ""
        for text, (start, end, score) in zip(TEXTS, spans, strict=True):
            assert 0 <= start <= end <= len(text)
            assert 0 <= score <= 1

    def test_a_text_without_a_word_does_not_answer(self, reader_model: ReaderModel) -> None:
        assert reader_model.read(QUESTION, [""], AMPLE).spans[0] == (0, 0, 0.0)

    def test_a_text_has_the_same_span_beside_others(self, reader_model: ReaderModel) -> None:
        alone = [reader_model.read(QUESTION, [text], AMPLE).spans[0] for text in TEXTS]
        together = reader_model.read(QUESTION, TEXTS, AMPLE).spans
        assert [span[:2] for span in together] == [span[:2] for span in alone]
        assert [s.score for s in together] == pytest.approx([s.score for s in alone], abs=1e-3)

    def test_the_same_texts_have_the_same_spans_again(self, reader_model: ReaderModel) -> None:
        first, again = (list(reader_model.read(QUESTION, TEXTS, AMPLE).spans) for _ in range(2))
        assert first == again

    def test_nothing_to_read_is_no_fault(self, reader_model: ReaderModel) -> None:
        spans, note = reader_model.read(QUESTION, [], AMPLE)
        assert (len(spans), note) == (0, "")

    def test_a_note_says_when_texts_were_not_read(self, reader_model: ReaderModel) -> None:
        spans, note = reader_model.read(QUESTION, TEXTS * 20, 0.001)
        assert len(spans) <= len(TEXTS) * 20
        assert (note == "") == (len(spans) == len(TEXTS) * 20)

    def test_several_threads_may_use_it(self, reader_model: ReaderModel) -> None:
        with ThreadPoolExecutor(3) as threads:
            found = list(
                threads.map(
                    lambda _: list(reader_model.read(QUESTION, TEXTS, AMPLE).spans), range(3)
                )
            )
        assert found == [found[0]] * 3
