"""The choice of statements that answer a question, and the confidence in them.

Needs no key and no network, and cannot say what no source says.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from atlas_search.answer.check.phrases import is_superseded
from atlas_search.answer.quotes.quotable import Quote, quote_of, quotes_of
from atlas_search.answer.quotes.scores import (
    PASSAGE,
    Confidence,
    Grounds,
    QuotedQuestion,
    SentenceVectors,
    grounds,
    score_quotes,
    strength,
    told_by_metadata,
)
from atlas_search.core.domain import MARKER_LIKE, CheckedPassage, Citation
from atlas_search.language.english import AUXILIARIES, any_of, stems
from atlas_search.language.languages import DEFAULT_LANGUAGE
from atlas_search.language.numerals import NUMBERS, SCALES
from atlas_search.language.text import all_terms, words
from atlas_search.providers.reading import AnswerSpan

Opposed = tuple[Citation, Citation]
"""Two places that contradict each other."""


def with_other_sides(
    chosen: Sequence[Quote],
    passages: Sequence[CheckedPassage],
    opposed: Sequence[Opposed],
    limit: int,
) -> list[Quote]:
    """Return the chosen quotes within the limit, each followed by the quotes that contradict it.

    One whose other side finds no room is left out, unless it is the first.
    """
    quotes: list[Quote] = []
    for quote in chosen:
        if any(quote.overlaps(other) for other in quotes):
            continue
        against = _against(quote, passages, opposed)
        others = [q for q in against if not any(q.place == o.place for o in quotes)]
        if not quotes or len(quotes) + 1 + len(others) <= limit:
            quotes += [quote, *others]
    return quotes[:limit]


def with_what_is_before(chosen: Sequence[Quote], most: int) -> list[Quote]:
    """Put before each quote the one it leans on, as far as there is room beside all chosen ones."""
    quotes: list[Quote] = []
    for number, quote in enumerate(chosen):
        before, room = quote.before, most - len(quotes) - len(chosen[number:])
        is_quoted = before and any(before.overlaps(other) for other in (*quotes, *chosen))
        if before and not is_quoted and room > 0:
            quotes.append(before)
        quotes.append(quote)
    return quotes[:most]


def _against(
    quote: Quote, passages: Sequence[CheckedPassage], opposed: Sequence[Opposed]
) -> list[Quote]:
    """Quote the other sources that contradict a quote, in the order of `opposed`."""
    ranks = {item.passage.id: rank for rank, item in enumerate(passages)}
    others = []
    for pair in opposed:
        for one, other in (pair, pair[::-1]):
            if quote.overlaps(one) and other.passage.id in ranks:
                others.append(quote_of(other, ranks[other.passage.id]))
    return [other for other in others if not MARKER_LIKE.search(other.text)]


COMPARED = 8  # quotes; comparing 12 or all moved no figure by more than 0.005
SHARE_OF_BEST = 0.75
"""A further quote must score this share of the best one. On four public sets .7 gives 2.6 quotes
an answer and .9 gives 1.7; with .75 one of three holds the answer as often, to .02, as with .7."""
BEYOND_TITLE = 0.3
"""The most that the title adds to a quote's share of the question's other terms."""
SAME_WORDS = 0.6  # Jaccard similarity from which two quotes say the same

_SPELLED = stems(" ".join(word for word in (*NUMBERS, *SCALES) if len(word) > 2))
_ASKS = re.compile(rf"[?؟？]|^{any_of(f'{AUXILIARIES} who what which when where why how')}")
_CURRENT = re.compile(
    r"\b(?:current\w*|now|nowadays|today|still|present\w*)\b|"
    r"^(?:is|are|am|does|do|can|may|must|should)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Extract:
    """The material for quotes: a question and the passages that may answer it.

    `question_vector` is of unit length, `passages` are best first, `term_weights` the idf of the
    question's terms. `limit` is the most quotes wanted, or one for each of the question's `parts`
    if those are more; each of these comes with its vector. `most` counts too what must be read
    before a quote.
    """

    question: str
    question_vector: NDArray[np.float32]
    passages: tuple[CheckedPassage, ...]
    term_weights: Mapping[str, float]
    limit: int
    opposed: tuple[Opposed, ...] = ()
    parts: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    most: int = 100


@dataclass(frozen=True)
class RankedQuotes:
    """The quotes for one question, best first, and their grounds.

    `read` is false if a reader model found no words in the passages that answer.
    """

    question: str
    quotes: tuple[Quote, ...]
    grounds: Grounds
    read: bool = True

    def answers(self, needed: float) -> bool:
        """Return True if the quotes are likely enough to answer."""
        return bool(self.quotes) and self.read and self.grounds.likelihood >= needed


@dataclass(frozen=True)
class Chosen:
    """The quotes for a whole question, and for each of its parts.

    `unread` says why a reader model did not read the passages.
    """

    whole: RankedQuotes
    parts: tuple[RankedQuotes, ...] = ()
    unread: str = ""

    def answers(self, needed: float) -> bool:
        """Return True if the quotes for the question or for a part of it are likely enough."""
        return any(part.answers(needed) for part in (self.whole, *self.parts))

    @property
    def grounds(self) -> Grounds:
        """The grounds of the question, or of the part, whose quotes are most likely to answer."""
        return max(
            (part.grounds for part in (self.whole, *self.parts)), key=lambda each: each.likelihood
        )

    @property
    def confidence(self) -> Confidence:
        return self.grounds.confidence

    def notes(self, needed: float) -> tuple[str, ...]:
        """Return what the metadata say, the objections to a possible answer, and the open parts."""
        metadata = told_by_metadata(self.whole.question, self.whole.quotes)
        silent = [part for part in self.parts if not part.answers(needed)]
        unsure = self.confidence.word == "possible"
        return (
            *filter(None, [metadata]),
            *(self.grounds.against if unsure else ()),
            *(f"No quote was found that is likely to answer: {part.question}" for part in silent),
            *([self.unread] if self.unread else []),
        )

    def quotes(self, prompt: Extract, needed: float) -> list[Quote]:
        """Return the quotes in the order to say them.

        Of a question with parts, each that is likely enough has its best quote before any has a
        second. A quote that another source contradicts is followed by what that source says; one
        that leans on what stands before it follows that.
        """
        chosen: list[Quote] = []
        for part in self.parts:
            if part.answers(needed):
                chosen += unlike(chosen, part.quotes)[:1]
        if self.whole.answers(needed) or not chosen:
            chosen += unlike(chosen, self.whole.quotes)
        limit = min(max(prompt.limit, len(self.parts)), prompt.most)
        in_context = with_other_sides(chosen, passages_to_quote(prompt), prompt.opposed, limit)
        return with_what_is_before(in_context, prompt.most)


PROVIDER, MODEL = "extractive", "sentences"
"""The names under which quotes stand where those of a language model would."""


def choose(prompt: Extract, vectors: SentenceVectors) -> Chosen:
    """Choose one to a few statements from the best passages for the question, and for each part."""
    of_parts = [
        replace(
            prompt,
            question=part,
            question_vector=vector,
            parts={},
            passages=_of_part(part, prompt),
        )
        for part, vector in prompt.parts.items()
    ]
    prompts = [prompt, *of_parts]
    questions = [
        QuotedQuestion(p.question, p.question_vector, _most_covering(p)[:COMPARED], p.passages)
        for p in prompts
    ]
    whole, *parts = map(_part, prompts, score_quotes(questions, vectors))
    return Chosen(whole, tuple(parts))


def _of_part(part: str, prompt: Extract) -> tuple[CheckedPassage, ...]:
    """Return the passages that have the words in which a part of the question differs from others.

    What is said of one town does not answer for the next.
    """
    others = frozenset[str]().union(*(all_terms(p) for p in prompt.parts if p != part))
    own = frozenset(word.term for word in words(part) if word.informative) - others
    return tuple(
        item
        for item in prompt.passages
        if own <= all_terms(f"{item.passage.title}\n{item.passage.section}\n{item.passage.text}")
    )


def _part(prompt: Extract, scored: Sequence[Quote]) -> RankedQuotes:
    ordered = sorted(scored, key=lambda quote: quote.order)
    best = [q for q in ordered if q.score >= SHARE_OF_BEST * ordered[0].score]
    quotes = tuple(unlike((), best))
    return RankedQuotes(prompt.question, quotes, grounds_of(prompt, quotes))


def grounds_of(prompt: Extract, quotes: Sequence[Quote]) -> Grounds:
    """Return the grounds of quotes, best first, that were chosen from the prompt's passages."""
    language = quotes[0].passage.language if quotes else DEFAULT_LANGUAGE
    weights = weights_of(prompt, language) or prompt.term_weights
    return grounds(prompt.question, quotes, [item.passage for item in prompt.passages], weights)


def weights_of(prompt: Extract, language: str) -> Mapping[str, float]:
    """The weights of the terms of its question, as the passages of a language have them."""
    terms = all_terms(prompt.question, language)
    return {term: weight for term, weight in prompt.term_weights.items() if term in terms}


def _most_covering(prompt: Extract) -> list[Quote]:
    """All quotes, first those that cover most of the question's terms, by weight.

    Coverage is the mean of two: with the passage's title, section, speaker and date, and with the
    statement before it too.
    """
    by_text: dict[str, tuple[float, Quote]] = {}
    asks = bool(_ASKS.search(prompt.question))  # else words are looked for, wherever they stand
    for rank, item in enumerate(passages_to_quote(prompt)):
        passage = item.passage
        weights = weights_of(prompt, passage.language)
        total = sum(weights.values()) or 1.0
        about = f"{passage.title}\n{passage.section}\n{passage.speaker}\n{passage.date}"
        context = all_terms(about, passage.language)
        titled = all_terms(passage.title, passage.language)
        rest = {term: weight for term, weight in weights.items() if term not in titled}
        before = frozenset[str]()
        for quote in quotes_of(passage, rank, with_questions=not asks):
            alone = _covered(quote.terms | context, weights) / total
            read_on = _covered(quote.terms | context | before, weights) / total
            coverage = (alone + read_on) / 2
            if len(rest) > 1:  # `what does the Act say?` asks for no more than its title
                share = _covered(quote.terms | before, rest) / (sum(rest.values()) or 1.0)
                coverage = min(coverage, share + BEYOND_TITLE)
            before = quote.terms
            reach = coverage + PASSAGE * strength(prompt.passages, quote)
            by_text.setdefault(quote.text, (reach, replace(quote, score=coverage)))
    best = sorted(by_text.values(), key=lambda each: (-each[0], each[1].rank, each[1].start))
    return [quote for _, quote in best]


def _covered(terms: frozenset[str], weights: Mapping[str, float]) -> float:
    return sum(weight for term, weight in weights.items() if term in terms)


def passages_to_quote(prompt: Extract) -> Sequence[CheckedPassage]:
    """Return the passages to take quotes from.

    A question about how things stand now leaves out what was overruled or repealed, if it can.
    """
    if not _CURRENT.search(prompt.question):
        return prompt.passages
    in_force = [p for p in prompt.passages if not is_superseded(p.passage)]
    return in_force or prompt.passages


def unlike(chosen: Sequence[Quote], quotes: Sequence[Quote]) -> list[Quote]:
    """Drop the `quotes` that repeat one before them, among these or the `chosen` ones."""
    new: list[Quote] = []
    for quote in quotes:
        if not any(_are_alike(quote.terms, other.terms) for other in (*chosen, *new)):
            new.append(quote)
    return new


def _are_alike(a: frozenset[str], b: frozenset[str]) -> bool:
    """Check that most of their words are the same, and that their figures do not differ."""
    other_figures = _has_figure(a - b) and _has_figure(b - a)
    return not other_figures and len(a & b) >= SAME_WORDS * len(a | b)


def _has_figure(terms: frozenset[str]) -> bool:
    return any(term in _SPELLED or term[:1].isdigit() for term in terms)


def read_by_model(
    chosen: Chosen,
    prompt: Extract,
    spans: Mapping[str, AnswerSpan],
    threshold: float,
    needed: float,
) -> Chosen:
    """Choose the statements that hold the words a model read as the answer, best first.

    `spans` are by passage id, in characters of its text. A span counts from its score `threshold`
    on, and answers then whatever the likelihood of the quotes is, which `needed` is compared with.
    If none counts, the quotes stay the closest, and the best score is how likely they are.
    """
    scored = [
        (spans[item.passage.id].score, quote)
        for rank, item in enumerate(passages_to_quote(prompt))
        if item.passage.id in spans
        for quote in _around(item, rank, spans[item.passage.id])
    ]
    scored.sort(key=lambda each: (-each[0], each[1].rank, each[1].start))
    best = scored[0][0] if scored else 0.0
    if best < threshold:
        unlikely = replace(chosen.whole.grounds, likelihood=min(best, needed * threshold))
        return Chosen(replace(chosen.whole, grounds=unlikely, read=False))
    quotes = tuple(quote for score, quote in scored if score >= threshold)
    seen = replace(grounds_of(prompt, quotes), likelihood=max(best, needed))
    return Chosen(RankedQuotes(prompt.question, quotes, seen))


def _around(item: CheckedPassage, rank: int, span: AnswerSpan) -> list[Quote]:
    """The statement of a passage that holds the beginning of a span."""
    passage = item.passage
    start = passage.start + span.start
    return [q for q in quotes_of(passage, rank) if q.start <= start < q.end][:1]
