"""Of the quotes that may answer few are embedded, and what leads is never an estimate."""

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.answer.quotes.quotable import Quote, quotes_of
from atlas_search.answer.quotes.scores import (
    EMBEDDED,
    QuotedQuestion,
    SentenceVectors,
    score_quotes,
)
from atlas_search.core.domain import CheckedPassage, RankedPassage
from tests.hash_embedder import HashEmbedder
from tests.test_extractive import passage

HERDS = ("hill", "valley", "island", "marsh", "desert", "forest", "river", "coast")
QUESTION = "Which wool do sheep give?"


class Placed(HashEmbedder):
    """An embedder that gives each text the similarity to the question that it is told."""

    def __init__(self, similarities: Mapping[str, float]):
        super().__init__(dimension=2)
        self._similarities = similarities

    def embed_query(self, text: str) -> np.ndarray:
        cosine = self._similarities.get(text, 1.0)
        return np.array([cosine, np.sqrt(1 - cosine**2)], dtype=np.float32)


def asked(
    semantic: float = 0.5, covered: float = 0.5, herds: tuple[str, ...] = HERDS
) -> QuotedQuestion:
    text = " ".join(f"Sheep of the {herd} give wool that is coarse." for herd in herds)
    found = passage("farm.sheep", text)
    checked = CheckedPassage(
        RankedPassage(found.passage, 1.0, {"semantic": semantic}), True, 1.0, ()
    )
    quotes = [with_score(quote, covered) for quote in quotes_of(checked.passage, 0)]
    question = np.array([1.0, 0.0], dtype=np.float32)
    return QuotedQuestion(QUESTION, question, quotes, [checked])


def with_score(quote: Quote, score: float) -> Quote:
    return Quote(
        quote.text, quote.start, quote.end, quote.terms, quote.passage, quote.rank, score=score
    )


def test_the_likely_best_alone_are_embedded() -> None:
    one = asked()
    assert len(one.quotes) == len(HERDS)
    embedder = Placed({quote.text: 0.6 for quote in one.quotes})
    (quotes,) = score_quotes([one], SentenceVectors(embedder))
    assert embedder.embedded == EMBEDDED
    measured, estimated = quotes[0].score, quotes[-1].score
    assert measured - estimated == pytest.approx((0.6 - (0.7 * 0.5 + 0.3 * 0.5)) / 2)


def test_all_are_embedded_before_one_leads_by_an_estimate() -> None:
    one = asked(semantic=0.9)
    embedder = Placed({quote.text: 0.1 for quote in one.quotes})
    (quotes,) = score_quotes([one], SentenceVectors(embedder))
    assert embedder.embedded == len(HERDS)
    assert len({quote.score for quote in quotes}) == 1


def test_two_questions_share_what_is_embedded_for_one() -> None:
    embedder = Placed({quote.text: 0.6 for quote in asked().quotes})
    score_quotes([asked(), asked()], SentenceVectors(embedder))
    assert embedder.embedded == EMBEDDED


def test_a_question_without_quotes_asks_for_no_vector() -> None:
    embedder = Placed({})
    assert score_quotes([asked(herds=())], SentenceVectors(embedder)) == [[]]
    assert embedder.embedded == 0


@given(
    st.floats(0, 1),
    st.lists(st.floats(0, 1), min_size=1, max_size=len(HERDS)),
    st.floats(0, 1),
)
def test_what_leads_has_the_score_of_its_own_vector(
    semantic: float, similarities: list[float], covered: float
) -> None:
    one = asked(semantic, covered, HERDS[: len(similarities)])
    texts = [quote.text for quote in one.quotes]
    told = dict(zip(texts, similarities, strict=True))
    (quotes,) = score_quotes([one], SentenceVectors(Placed(told)))
    (exact,) = [one.scored({text: Placed(told).embed_query(text) for text in texts})]
    best = max(range(len(quotes)), key=lambda index: quotes[index].score)
    assert quotes[best].score == pytest.approx(exact[best].score, abs=1e-6)
