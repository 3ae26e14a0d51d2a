"""Answers in the sources' own words: the sentences that speak most to the question.

Needs no key and no network, and cannot say what no source says.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from atlas_search.answer.write.answer_kind import asked_for, asks_for_current
from atlas_search.answer.write.mismatch import mismatch
from atlas_search.core.domain import MARKER_LIKE, CheckedPassage, Passage
from atlas_search.language.text import all_terms, sentences
from atlas_search.language.wraps import unwrap
from atlas_search.providers.embedding import Embedder

SENTENCES_COMPARED = 8  # by meaning; comparing 12 or 40 moved F1 on the dev labels by 0.0002
MIN_WORDS = 5  # shorter lines are headings
SHARE_OF_BEST = 0.85  # a further sentence must score this share of the best one
SHARE_FOR_KIND = 0.8  # below this share of the best, a name or number is not the one asked for
SAME_WORDS = 0.6  # Jaccard similarity from which two sentences say the same

_ENDED = re.compile(r"[.?!…。؟।][\"'”’»)\]]*$")
_REFERENCE = re.compile(r"sources?:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Opposed:
    """Two places that contradict each other, each a document's id, start and end."""

    first: tuple[str, int, int]
    second: tuple[str, int, int]


@dataclass(frozen=True)
class Extract:
    """What the writer is given.

    `question_vector` is of unit length, `passages` are best first, `term_weights` the idf of the
    question's terms. `sentence_limit` is the most sentences wanted, or one for each of the
    question's `parts` if those are more; each of these comes with its vector.
    """

    question: str
    question_vector: NDArray[np.float32]
    passages: tuple[CheckedPassage, ...]
    term_weights: Mapping[str, float]
    sentence_limit: int
    opposed: tuple[Opposed, ...] = ()
    parts: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Sentence:
    """A sentence on one line, and where it stands in its document."""

    text: str
    start: int
    end: int
    terms: frozenset[str]
    passage: Passage
    rank: int
    score: float

    @property
    def order(self) -> tuple[float, int, int]:
        return -self.score, self.rank, self.start

    def within(self, place: tuple[str, int, int]) -> bool:
        """Whether it shares a character with a place in a document."""
        document, start, end = place
        return self.passage.document_id == document and self.start < end and start < self.end


class ExtractiveWriter:
    """Chooses one to a few sentences from the best passages."""

    name = "extractive"
    model = "sentences"

    def __init__(self, embedder: Embedder):
        self._embedder = embedder

    def write(self, prompt: Extract) -> Iterator[str]:
        """Yield the answer in whole sentences, each with its citation; the best comes first.

        A sentence that another source contradicts is followed by what that source says. Of a
        question with parts, each has its best sentence before any has a second. Nothing is
        yielded if the passages hold no answer.
        """
        for sentence in self._choose(prompt):
            yield f"{sentence.text} {sentence.passage.marker}\n"

    def _choose(self, prompt: Extract) -> list[_Sentence]:
        """The best sentences of each part, then of the whole; none if no good one holds what is
        asked for."""
        asked = [
            replace(prompt, question=part, question_vector=vector)
            for part, vector in prompt.parts.items()
        ]
        covering = [_most_covering(one) for one in (prompt, *asked)]
        vectors = self._vectors(covering)
        chosen: list[_Sentence] = []
        for part, found in zip(asked, covering[1:], strict=True):
            chosen += _unlike(chosen, _answering(part, _score(part, found, vectors)))[:1]
        whole = _answering(prompt, _score(prompt, covering[0], vectors))
        chosen += _unlike(chosen, whole)
        return _with_other_sides(chosen, prompt)

    def _vectors(self, covering: Sequence[Sequence[_Sentence]]) -> dict[str, NDArray[np.float32]]:
        """The vector of each sentence, computed once."""
        texts = list(dict.fromkeys(sentence.text for found in covering for sentence in found))
        return dict(zip(texts, self._embedder.embed(texts), strict=True))


def _score(
    prompt: Extract, found: Sequence[_Sentence], vectors: Mapping[str, NDArray[np.float32]]
) -> list[_Sentence]:
    """Sentences with the mean of similarity and idf-weighted term coverage, in [0, 1]."""
    question = prompt.question_vector
    similarities = [float(np.clip(vectors[s.text] @ question, 0.0, 1.0)) for s in found]
    return [
        replace(sentence, score=round((similarity + sentence.score) / 2, 6))
        for sentence, similarity in zip(found, similarities, strict=True)
    ]


def _answering(prompt: Extract, scored: Sequence[_Sentence]) -> list[_Sentence]:
    """Those that hold what the question asks for and are nearly as good as the best, best first."""
    best = max((sentence.score for sentence in scored), default=0.0)
    asked = asked_for(prompt.question)
    evidence = "\n".join(
        f"{item.passage.title}\n{item.passage.date}\n{item.passage.text}" for item in _read(prompt)
    )
    held = [
        sentence
        for sentence in sorted(scored, key=lambda s: s.order)
        if sentence.score >= SHARE_FOR_KIND * best
        and asked.held(sentence.text, evidence, prompt.question)
        and not _misses(sentence, evidence, prompt.question)
    ]
    return [sentence for sentence in held if sentence.score >= SHARE_OF_BEST * held[0].score]


def _misses(sentence: _Sentence, evidence: str, question: str) -> bool:
    """Whether it answers another question; the rules are for English."""
    passage = sentence.passage
    return passage.language == "en" and bool(
        mismatch(question, sentence.text, passage.text, evidence)
    )


def _unlike(chosen: Sequence[_Sentence], found: Sequence[_Sentence]) -> list[_Sentence]:
    """Those of `found`, in order, that say something the ones before them do not."""
    new: list[_Sentence] = []
    for sentence in found:
        if not any(_similar(sentence.terms, other.terms) for other in (*chosen, *new)):
            new.append(sentence)
    return new


def _with_other_sides(chosen: Sequence[_Sentence], prompt: Extract) -> list[_Sentence]:
    """The chosen ones within the limit, each followed by what contradicts it.

    One whose other side finds no room is left out, unless it is the first.
    """
    limit = max(prompt.sentence_limit, len(prompt.parts))
    said: list[_Sentence] = []
    for sentence in chosen:
        if any(sentence.within(_place(other)) for other in said):
            continue
        told = [s for s in _against(sentence, prompt) if not any(s == other for other in said)]
        if not said or len(said) + 1 + len(told) <= limit:
            said += [sentence, *told]
    return said[:limit]


def _against(sentence: _Sentence, prompt: Extract) -> list[_Sentence]:
    """What other sources say against a sentence, in the order of `opposed`."""
    places = [
        other
        for pair in prompt.opposed
        for one, other in ((pair.first, pair.second), (pair.second, pair.first))
        if sentence.within(one)
    ]
    return [found for place in places for found in _standing_at(place, prompt)[:1]]


def _standing_at(place: tuple[str, int, int], prompt: Extract) -> list[_Sentence]:
    """The text of a place, once for each passage that holds all of it."""
    document, start, end = place
    found = []
    for rank, item in enumerate(_read(prompt)):
        passage = item.passage
        if passage.document_id == document and passage.start <= start and end <= passage.end:
            text = unwrap(passage.text[start - passage.start : end - passage.start])
            if not MARKER_LIKE.search(text):
                terms = all_terms(text, passage.language)
                found.append(_Sentence(text, start, end, terms, passage, rank, 0.0))
    return found


def _place(sentence: _Sentence) -> tuple[str, int, int]:
    return sentence.passage.document_id, sentence.start, sentence.end


def _read(prompt: Extract) -> Sequence[CheckedPassage]:
    """The passages sentences are taken from."""
    passages = prompt.passages
    if asks_for_current(prompt.question):
        # a rule that was overruled or repealed is not how things stand
        passages = tuple(p for p in passages if "superseded_by" not in p.passage.metadata)
    return passages or prompt.passages


def _most_covering(prompt: Extract) -> list[_Sentence]:
    """The SENTENCES_COMPARED sentences that cover most of the question's terms, by weight."""
    found: dict[str, _Sentence] = {}
    for rank, item in enumerate(_read(prompt)):
        passage = item.passage
        text, language = passage.text, passage.language
        weights = _weights(prompt, language)
        total = sum(weights.values()) or 1.0
        for span in sentences(text, language):
            sentence = unwrap(text[span.start : span.end])
            if len(sentence.split()) < MIN_WORDS or sentence in found:
                continue
            if MARKER_LIKE.search(sentence):  # the source's own reference would pass for ours
                continue
            terms = all_terms(sentence, language)
            covered = sum(weight for term, weight in weights.items() if term in terms) / total
            start, end = passage.start + span.start, passage.start + span.end
            found[sentence] = _Sentence(sentence, start, end, terms, passage, rank, covered)
    # headings cover many terms and say nothing; a source without full stops has only such lines
    whole = [sentence for sentence in found.values() if _is_statement(sentence.text)]
    return sorted(whole or found.values(), key=lambda s: s.order)[:SENTENCES_COMPARED]


def _is_statement(sentence: str) -> bool:
    """Whether it ends as sentences do, and is no reference to where a text is from."""
    return bool(_ENDED.search(sentence)) and not _REFERENCE.match(sentence)


def _weights(prompt: Extract, language: str) -> Mapping[str, float]:
    """Those of the question's terms that are its stems in this language."""
    terms = all_terms(prompt.question, language)
    return {term: weight for term, weight in prompt.term_weights.items() if term in terms}


def _similar(a: frozenset[str], b: frozenset[str]) -> bool:
    return len(a & b) >= SAME_WORDS * len(a | b)
