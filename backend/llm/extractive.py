"""Answers in the sources' own words: the sentences that speak most to the question.

Needs no key and no network, and cannot say what no source says.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from backend.asked import asked_for, asks_for_current
from backend.domain import MARKER_LIKE, CheckedPassage, Passage
from backend.embedding import Embedder
from backend.llm import Prompt, Usage
from backend.text import all_terms, sentences

SENTENCES_COMPARED = 8  # by meaning; comparing 12 or 40 moved F1 on the dev labels by 0.0002
MIN_WORDS = 5  # shorter lines are headings
SHARE_OF_BEST = 0.85  # a further sentence must score this share of the best one
SHARE_FOR_KIND = 0.8  # below this share of the best, a name or number is not the one asked for
SAME_WORDS = 0.6  # Jaccard similarity from which two sentences say the same

_ENDED = re.compile(r"[.?!…。؟।][\"'”’»)\]]*$")
_REFERENCE = re.compile(r"sources?:", re.IGNORECASE)


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
        """See Provider. The best sentence comes first."""
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
        evidence = "\n".join(item.passage.text for item in _read(prompt))
        candidates = [
            sentence
            for sentence in candidates
            if sentence.score >= SHARE_FOR_KIND * best
            and asked.held(sentence.text, evidence, prompt.question)
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
        found = _most_covering(prompt)
        vectors = self._embedder.embed([sentence.text for sentence in found])
        similarities = np.clip(vectors @ self._embedder.embed_query(prompt.question), 0.0, 1.0)
        return [
            replace(sentence, score=round((float(similarity) + sentence.score) / 2, 6))
            for sentence, similarity in zip(found, similarities, strict=True)
        ]


def _read(prompt: Prompt) -> Sequence[CheckedPassage]:
    """The passages sentences are taken from."""
    passages = prompt.passages
    if asks_for_current(prompt.question):
        # a rule that was overruled or repealed is not how things stand
        passages = tuple(p for p in passages if "superseded_by" not in p.passage.metadata)
    return passages or prompt.passages


def _most_covering(prompt: Prompt) -> list[_Sentence]:
    """The SENTENCES_COMPARED sentences that cover most of the question's terms, by weight."""
    found: dict[str, _Sentence] = {}
    for rank, item in enumerate(_read(prompt)):
        text, language = item.passage.text, item.passage.language
        weights = _weights(prompt, language)
        total = sum(weights.values()) or 1.0
        for span in sentences(text, language):
            sentence = text[span.start : span.end]
            if len(sentence.split()) < MIN_WORDS or sentence in found:
                continue
            if MARKER_LIKE.search(sentence):  # the source's own reference would pass for ours
                continue
            terms = all_terms(sentence, language)
            covered = sum(weight for term, weight in weights.items() if term in terms) / total
            found[sentence] = _Sentence(sentence, terms, item.passage, rank, covered)
    # headings cover many terms and say nothing; a source without full stops has only such lines
    whole = [sentence for sentence in found.values() if _is_statement(sentence.text)]
    ordered = sorted(whole or found.values(), key=lambda s: (-s.score, s.rank, s.passage.start))
    return ordered[:SENTENCES_COMPARED]


def _is_statement(sentence: str) -> bool:
    """Whether it ends as sentences do, and is no reference to where a text is from."""
    return bool(_ENDED.search(sentence)) and not _REFERENCE.match(sentence)


def _weights(prompt: Prompt, language: str) -> Mapping[str, float]:
    """Those of the question's terms that are its stems in this language."""
    terms = all_terms(prompt.question, language)
    return {term: weight for term, weight in prompt.term_weights.items() if term in terms}


def _similar(a: frozenset[str], b: frozenset[str]) -> bool:
    return len(a & b) >= SAME_WORDS * len(a | b)
