"""Quotes: the kind of thing a question asks for, its opposite, and how quotes are scored."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.answer.quotes.kinds import ANYTHING, asked_for
from atlas_search.answer.quotes.quotable import Quote, quotes_of
from atlas_search.answer.quotes.scores import (
    EMBEDDED,
    QuotedQuestion,
    SentenceVectors,
    is_turned_round,
    score_quotes,
)
from atlas_search.core.domain import CheckedPassage, RankedPassage
from tests.contradictions import passage
from tests.hash_embedder import HashEmbedder

# kinds


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How old was the applicant?", "a number"),
        ("How much did the jury award against Yuba?", "an amount"),
        ("How many dollars were the damages?", "an amount"),
        ("What is the maximum penalty for libel?", "an amount"),
        ("How many judges dissented?", "a number"),
        ("How many people who sued won?", "a number"),
        ("How long was he held?", "a time"),
        ("How often must a key be rotated?", "a time"),
        ("What is the deadline for an appeal?", "a time"),
        ("How many days has the board to answer?", "a time"),
        ("What percentage of cases fail?", "a share"),
        ("When was Roe decided?", "a date"),
        ("In which year was it repealed?", "a date"),
        ("Who wrote the opinion?", "a name"),
        ("To whom is it owed?", "a name"),
        ("What were the names of the sailors?", "a name"),
        ("Why was the warrant invalid?", "a reason"),
        ("Why was the doctor who performed the operation convicted?", "a reason"),
        ("What is negligence?", "anything"),
        ("What duty is owed to people who trespass?", "anything"),
        ("", "anything"),
    ],
)
def test_a_question_asks_for_one_kind(question: str, kind: str) -> None:
    assert asked_for(question).name == kind


@pytest.mark.parametrize(
    ("question", "with_answer", "without"),
    [
        ("What sum was it?", "The jury gave $65,000.", "The jury found for him."),
        ("What is the fine?", "The fine is prison for two months.", "The board sets the fine."),
        ("How many judges sat?", "Nine judges sat.", "The judges sat."),
        ("How many judges sat?", "It sat 9 to 0.", "It sat en banc."),
        ("How tall was the mast?", "The mast was 20 feet.", "In May 1884 the mast fell."),
        ("How many boats?", "It holds forty boats.", "Under section 6 it holds boats."),
        ("How often is it?", "It is rotated every 90 days.", "It is rotated by the clerk."),
        ("How long is it?", "It takes three months.", "It takes patience."),
        ("When was it?", "It was in May.", "It was long ago."),
        ("When was it?", "It was decided in 1954.", "It was 954 pages."),
        ("What percentage is it?", "It is 40 per cent.", "It is the larger part."),
        ("Who wrote it?", "It was written by Justice Blackmun.", "It was written in January."),
        ("Who opened it?", "It was opened by the king.", "It was opened in rain."),
        ("Why?", "It failed because no duty was owed.", "It failed."),
    ],
)
def test_a_sentence_holds_the_kind_or_not(question: str, with_answer: str, without: str) -> None:
    assert asked_for(question).held(with_answer, question)
    assert not asked_for(question).held(without, question)
    assert ANYTHING.held("", question)


@pytest.mark.parametrize(
    ("question", "sentence", "turned"),
    [
        # the question denies, and the sentence does not
        ("Which states did not ratify it?", "Ohio ratified it.", True),
        ("Which states did not ratify it?", "Ohio refused to ratify it.", False),
        ("Which states did not ratify it?", "In Ohio it is unratified.", False),
        ("Which states not only ratified it?", "Ohio ratified it.", False),
        ("Is it not lawful?", "It is lawful.", False),
        # an opposite
        ("Who lost the match?", "The crew of Norport won the match.", True),
        ("Which duty is voluntary?", "The duty to register is compulsory.", True),
        ("What is a formal contract?", "It is an informal contract.", True),
        ("Which is compulsory and which voluntary?", "The first is compulsory.", False),
        ("Which duty is voluntary?", "The duty is not compulsory.", False),
        ("Is the duty voluntary?", "The duty is compulsory.", False),
        ("Roe lost. Who won?", "Roe won.", False),
        ("", "Roe won in 1954.", False),
    ],
)
def test_a_sentence_may_say_the_opposite(question: str, sentence: str, turned: bool) -> None:
    assert is_turned_round(question, sentence, sentence) is turned
    if turned and " not " not in question:  # the passage has the word of the question too
        assert not is_turned_round(question, sentence, f"{question} {sentence}")


# scores: few quotes are embedded, and what leads is never an estimate

HERDS = ("hill", "valley", "island", "marsh", "desert", "forest", "river", "coast")


class Placed(HashEmbedder):
    """An embedder that gives each text the similarity to the question that it is told."""

    def __init__(self, similarities: Mapping[str, float]):
        super().__init__(dimension=2)
        self._similarities = similarities

    def embed_query(self, text: str) -> np.ndarray:
        cosine = self._similarities.get(text, 1.0)
        return np.array([cosine, np.sqrt(1 - cosine**2)], dtype=np.float32)


def herds(semantic: float = 0.5, covered: float = 0.5, count: int = len(HERDS)) -> QuotedQuestion:
    """A question with a quote for each herd; the passage and each quote fit it so well."""
    text = " ".join(f"Sheep of the {herd} give wool that is coarse." for herd in HERDS[:count])
    ranked = RankedPassage(passage("farm.sheep", text).passage, 1.0, {"semantic": semantic})
    quotes = [replace(quote, score=covered) for quote in quotes_of(ranked.passage, 0)]
    question = np.array([1.0, 0.0], dtype=np.float32)
    checked = [CheckedPassage(ranked, True, 1.0, ())]
    return QuotedQuestion("Which wool do sheep give?", question, quotes, checked)


def scores(
    questions: list[QuotedQuestion], similarities: Mapping[str, float]
) -> tuple[list[list[Quote]], int]:
    """The scored quotes of each question, and how many texts were embedded for all."""
    embedder = Placed(similarities)
    return score_quotes(questions, SentenceVectors(embedder)), embedder.embedded


def alike(similarity: float) -> dict[str, float]:
    return {quote.text: similarity for quote in herds().quotes}


def test_the_likely_best_alone_are_embedded_once_for_all_questions() -> None:
    (quotes, again), embedded = scores([herds(), herds()], alike(0.6))
    assert (len(quotes), embedded, again) == (len(HERDS), EMBEDDED, quotes)
    measured, estimated = quotes[0].score, quotes[-1].score
    assert measured - estimated == pytest.approx((0.6 - (0.7 * 0.5 + 0.3 * 0.5)) / 2)


def test_all_are_embedded_before_one_leads_by_an_estimate() -> None:
    (quotes,), embedded = scores([herds(semantic=0.9)], alike(0.1))
    assert embedded == len(HERDS)
    assert len({quote.score for quote in quotes}) == 1


def test_a_question_without_quotes_asks_for_no_vector() -> None:
    assert scores([herds(count=0)], {}) == ([[]], 0)


@given(st.floats(0, 1), st.lists(st.floats(0, 1), min_size=1, max_size=len(HERDS)), st.floats(0, 1))
def test_what_leads_has_the_score_of_its_own_vector(
    semantic: float, similarities: list[float], covered: float
) -> None:
    question = herds(semantic, covered, len(similarities))
    texts = [quote.text for quote in question.quotes]
    given_to = dict(zip(texts, similarities, strict=True))
    (quotes,), _ = scores([question], given_to)
    exact = question.scored({text: Placed(given_to).embed_query(text) for text in texts})
    best = max(range(len(quotes)), key=lambda index: quotes[index].score)
    assert quotes[best].score == pytest.approx(exact[best].score, abs=1e-6)


def test_sentences_asked_for_last_are_kept() -> None:
    embedder = HashEmbedder()
    vectors = SentenceVectors(embedder, kept=2)
    first = vectors.of(["Coarse.", "Fine.", "Coarse."])
    assert embedder.embedded == 2
    again = vectors.of(["Fine.", "Wool."])
    assert embedder.embedded == 3
    assert np.array_equal(first["Fine."], again["Fine."])
    assert np.array_equal(again["Wool."], HashEmbedder().embed(["Wool."])[0])
    vectors.of(["Coarse."])  # two are kept, and it was asked for first
    assert embedder.embedded == 4
