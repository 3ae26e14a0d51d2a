"""Answers in the sources' own words: the sentences that speak most to the question.

Needs no key and no network, and cannot say what no source says.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from backend.asked import asked_for
from backend.domain import CheckedPassage, Passage
from backend.embedding import Embedder
from backend.llm import Prompt, Usage
from backend.text import sentences, words

PASSAGES_READ = 4  # sentences of later passages were never chosen on the development labels
MIN_WORDS = 5  # shorter lines are headings
SHARE_OF_BEST = 0.85  # a further sentence must score this share of the best one
SHARE_FOR_KIND = 0.8  # below this share of the best, a name or number is not the one asked for
SAME_WORDS = 0.6  # Jaccard similarity from which two sentences say the same


@dataclass(frozen=True)
class _Sentence:
    text: str
    terms: frozenset[str]
    passage: Passage
    rank: int
    score: float


class ExtractiveProvider:
    """Chooses one to a few sentences from the best passages."""

    name = "extractive"
    model = "sentences"

    def __init__(self, embedder: Embedder):
        self._embedder = embedder

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """See Provider. Sentences come in order of rank, then of their place in the text."""
        for sentence in self._choose(prompt):
            yield f"{sentence.text} {sentence.passage.marker}\n"

    def usage(self, prompt: Prompt, answer: str) -> Usage:
        """See Provider: no language model runs."""
        del prompt, answer
        return Usage(0, 0)

    def _choose(self, prompt: Prompt) -> list[_Sentence]:
        """The best sentences that hold the kind of thing asked for; none if no good one does."""
        candidates = self._scored(prompt)
        best = max((sentence.score for sentence in candidates), default=0.0)
        asked = asked_for(prompt.question)
        candidates = [
            sentence
            for sentence in candidates
            if sentence.score >= SHARE_FOR_KIND * best
            and asked.held(sentence.text, prompt.question)
        ]
        candidates.sort(key=lambda s: (-s.score, s.rank, s.passage.start))
        chosen: list[_Sentence] = []
        for sentence in candidates:
            if len(chosen) == prompt.sentence_limit:
                break
            if sentence.score < SHARE_OF_BEST * candidates[0].score:
                break
            if not any(_similar(sentence.terms, other.terms) for other in chosen):
                chosen.append(sentence)
        return chosen

    def _scored(self, prompt: Prompt) -> list[_Sentence]:
        """Sentences with the mean of similarity and idf-weighted term coverage, in [0, 1]."""
        found = list(_sentences(prompt.passages[:PASSAGES_READ]))
        vectors = self._embedder.embed([prompt.question, *(text for text, *_ in found)])
        similarities = np.clip(vectors[1:] @ vectors[0], 0.0, 1.0)
        total = sum(prompt.term_weights.values()) or 1.0
        scored = []
        for (text, passage, rank), similarity in zip(found, similarities, strict=True):
            terms = frozenset(word.term for word in words(text))
            covered = sum(prompt.term_weights.get(term, 0.0) for term in terms) / total
            score = round((float(similarity) + covered) / 2, 6)
            scored.append(_Sentence(text, terms, passage, rank, score))
        return scored


def _sentences(passages: Sequence[CheckedPassage]) -> Iterator[tuple[str, Passage, int]]:
    seen: set[str] = set()
    for rank, item in enumerate(passages):
        text = item.passage.text
        for span in sentences(text):
            sentence = text[span.start : span.end]
            if len(sentence.split()) >= MIN_WORDS and sentence not in seen:
                seen.add(sentence)
                yield sentence, item.passage, rank


def _similar(a: frozenset[str], b: frozenset[str]) -> bool:
    return len(a & b) >= SAME_WORDS * len(a | b)
