"""What quotes are worth for a question, with the vectors of few of them.

Embedding statements takes most of the time of an answer, and how similar one is to the question can
be told from how similar its passage is and how many of the question's words it has: within 0.12
(standard deviation) of the cosine, on four public sets. So the likely best are embedded, and others
only where one of these would lead by an estimate.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from atlas_search.answer.quotes.kinds import asked_for
from atlas_search.answer.quotes.quotable import Quote
from atlas_search.answer.quotes.vectors import SentenceVectors
from atlas_search.core.domain import CheckedPassage
from atlas_search.search.ranking import EVIDENCE_WEIGHTS

EMBEDDED = 3
"""Quotes of a question that are embedded in any case; with all eight no mean of the sets of
`tests.benchmarks.truth` was better by more than 0.01."""

PASSAGE = 0.5  # weight of what is known of the passage
KIND = 0.1  # weight of a quote's holding what kind of thing is asked for
_LIKE_PASSAGE, _LIKE_WORDS = 0.7, 0.3
"""The estimated similarity: shares of the passage's similarity and of the covered terms, by least
squares over 10,000 quotes of four public sets, rounded."""


@dataclass(frozen=True)
class Asked:
    """A question, its unit vector, and the quotes that may answer it, each with the share of the
    question's terms that it covers as its score. Their passages are among `passages`."""

    question: str
    vector: NDArray[np.float32]
    quotes: Sequence[Quote]
    passages: Sequence[CheckedPassage]

    @cached_property
    def estimated(self) -> NDArray[np.float64]:
        """The similarity of each quote, estimated."""
        return np.array(
            [
                _LIKE_PASSAGE * _signals(self.passages, quote).get("semantic", 0.0)
                + _LIKE_WORDS * quote.score
                for quote in self.quotes
            ]
        )

    @cached_property
    def known(self) -> NDArray[np.float64]:
        """What each quote is worth beside its similarity."""
        kind = asked_for(self.question)
        return np.array(
            [
                quote.score / 2
                + KIND * kind.held(quote.text, self.question)
                + PASSAGE * strength(self.passages, quote)
                for quote in self.quotes
            ]
        )

    def best(self) -> list[str]:
        """The texts of the quotes to embed in any case."""
        order = np.argsort(-(self.estimated / 2 + self.known), kind="stable")
        return [self.quotes[index].text for index in order[:EMBEDDED].tolist()]

    def is_led_by_estimate(self, vectors: Mapping[str, NDArray[np.float32]]) -> bool:
        """Whether the quote that is worth most is not among those with vectors."""
        worth = self._similarity(vectors) / 2 + self.known
        return bool(len(worth)) and self.quotes[int(worth.argmax())].text not in vectors

    def scored(self, vectors: Mapping[str, NDArray[np.float32]]) -> list[Quote]:
        """The quotes, each with what it is worth, from 0 to 1.6, and its similarity."""
        similarity = self._similarity(vectors)
        worth = similarity / 2 + self.known
        pairs = zip(worth.round(6).tolist(), similarity.round(6).tolist(), strict=True)
        return [
            replace(quote, score=score, similarity=cosine)
            for quote, (score, cosine) in zip(self.quotes, pairs, strict=True)
        ]

    def _similarity(self, vectors: Mapping[str, NDArray[np.float32]]) -> NDArray[np.float64]:
        similarity = self.estimated.copy()
        for index, quote in enumerate(self.quotes):
            if quote.text in vectors:
                similarity[index] = np.clip(vectors[quote.text] @ self.vector, 0.0, 1.0)
        return similarity


def score_quotes(asked: Sequence[Asked], vectors: SentenceVectors) -> list[list[Quote]]:
    """The quotes for each question with what they are worth: the mean of similarity and coverage,
    with what speaks for the passage and for the kind.

    Chosen on the development halves of two public sets (`tests.benchmarks.truth`): the best quote
    holds the answer in 0.81 and 0.46, one of three in 0.92 and 0.64. What is worth most for a
    question has a vector. At most two calls of the embedder, whose errors are raised.
    """
    given = vectors.of(text for each in asked for text in each.best())
    unsure = [each for each in asked if each.is_led_by_estimate(given)]
    rest = [quote.text for each in unsure for quote in each.quotes]
    given = {**given, **vectors.of(rest)}
    return [each.scored(given) for each in asked]


def strength(passages: Sequence[CheckedPassage], quote: Quote) -> float:
    """The signals of the passage itself, weighed as `fused` weighs them, in [0, 1]."""
    signals = _signals(passages, quote)
    total = sum(EVIDENCE_WEIGHTS.values())
    return sum(weight * signals.get(name, 0.0) for name, weight in EVIDENCE_WEIGHTS.items()) / total


def _signals(passages: Sequence[CheckedPassage], quote: Quote) -> Mapping[str, float]:
    return next(p.ranked.signals for p in passages if p.passage.id == quote.passage.id)
