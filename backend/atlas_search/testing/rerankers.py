"""The contract of second stages of ranking."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from atlas_search.search.rerankers import SecondStage

QUESTION = "the rule of the court"
TEXTS = ("fish", "the rule of the court held", "the court")
AMPLE = 60.0
"""Seconds in which any model has read these texts."""


class RerankerContract:
    """Give the fixture `stage`."""

    def test_it_has_a_name(self, stage: SecondStage) -> None:
        assert stage.name

    def test_every_text_that_was_read_has_a_relevance_from_0_to_1(self, stage: SecondStage) -> None:
        scores, note = stage.relevance(QUESTION, TEXTS, AMPLE)
        assert len(scores) == len(TEXTS)
        assert note == ""
        assert ((scores >= 0) & (scores <= 1)).all()

    def test_a_text_has_the_same_relevance_beside_others(self, stage: SecondStage) -> None:
        alone = [float(stage.relevance(QUESTION, [text], AMPLE).scores[0]) for text in TEXTS]
        together = stage.relevance(QUESTION, TEXTS, AMPLE).scores
        assert together.tolist() == pytest.approx(alone, abs=1e-3)

    def test_the_same_texts_have_the_same_relevance_again(self, stage: SecondStage) -> None:
        first, again = (stage.relevance(QUESTION, TEXTS, AMPLE).scores for _ in range(2))
        assert first.tolist() == again.tolist()

    def test_nothing_to_read_is_no_fault(self, stage: SecondStage) -> None:
        scores, note = stage.relevance(QUESTION, [], AMPLE)
        assert (len(scores), note) == (0, "")

    def test_a_note_says_when_texts_were_not_read(self, stage: SecondStage) -> None:
        scores, note = stage.relevance(QUESTION, TEXTS * 20, AMPLE)
        assert len(scores) <= len(TEXTS) * 20
        assert (note == "") == (len(scores) == len(TEXTS) * 20)

    def test_several_threads_may_use_it(self, stage: SecondStage) -> None:
        def scores(_: int) -> list[float]:
            found: list[float] = stage.relevance(QUESTION, TEXTS, AMPLE).scores.tolist()
            return found

        with ThreadPoolExecutor(3) as threads:
            found = list(threads.map(scores, range(3)))
        assert np.allclose(found, found[0], atol=1e-3)
