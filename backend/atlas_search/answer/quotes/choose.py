"""Which statements of the passages answer a question, and how surely.

Needs no key and no network, and cannot say what no source says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from atlas_search.answer.quotes.argued import asks_what_is_argued, is_argued
from atlas_search.answer.quotes.beside import Opposed, with_other_sides, with_what_is_before
from atlas_search.answer.quotes.change import asks_for_change, ends_in_time
from atlas_search.answer.quotes.kinds import asked_for
from atlas_search.answer.quotes.likelihood import Confidence, Grounds, Signs, grounds
from atlas_search.answer.quotes.names import SUBJECT, on_the_named, people_of, speaks_of
from atlas_search.answer.quotes.precedence import in_order, to_quote
from atlas_search.answer.quotes.provisions import provision_in, words_of
from atlas_search.answer.quotes.quotable import Quote, quotes_of
from atlas_search.answer.quotes.scores import PASSAGE, Asked, score_quotes, strength
from atlas_search.answer.quotes.speakers import own_words
from atlas_search.answer.quotes.unlike import unlike
from atlas_search.answer.quotes.vectors import SentenceVectors
from atlas_search.core.domain import CheckedPassage
from atlas_search.language.languages import DEFAULT_LANGUAGE
from atlas_search.language.text import all_terms
from atlas_search.providers.embedding import Embedder

COMPARED = 8  # quotes; comparing 12 or all moved no figure by more than 0.005
SHARE_OF_BEST = 0.7  # a further quote must score this share of the best one
BEYOND_TITLE = 0.3
"""What the title may add to the share that a quote covers of the question's other terms."""
STANDS_THERE = 0.9
"""How likely the words of the provision asked for answer what it says."""


@dataclass(frozen=True)
class Extract:
    """What is to be quoted from.

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
class Part:
    """What the quotes for one question are worth, best first.

    `read` is false if a reader model found no words in the passages that answer.
    """

    question: str
    quotes: tuple[Quote, ...]
    grounds: Grounds
    read: bool = True

    def answers(self, needed: float) -> bool:
        """Whether they hold the kind of thing asked for, some passage speaks of every name and
        figure it is about, and they are likely enough."""
        grounds = self.grounds
        spoken_of = grounds.share_absent < SUBJECT and not grounds.figures
        held = bool(self.quotes) and not grounds.asked and self.read
        return held and spoken_of and grounds.likelihood >= needed


@dataclass(frozen=True)
class Chosen:
    """The quotes for a whole question, and for each of its parts.

    `unread` says why a reader model did not read the passages.
    """

    whole: Part
    parts: tuple[Part, ...] = ()
    unread: str = ""

    def answers(self, needed: float) -> bool:
        """Whether the quotes for the whole question or for a part of it do."""
        return any(part.answers(needed) for part in (self.whole, *self.parts))

    @property
    def confidence(self) -> Confidence:
        """How surely the quotes answer."""
        best = max((self.whole, *self.parts), key=lambda part: part.grounds.likelihood)
        return Confidence(best.grounds.word, round(best.grounds.likelihood, 4))

    def notes(self, needed: float) -> tuple[str, ...]:
        """What the quotes leave open: parts of the question, and names nobody speaks of."""
        silent = [part for part in self.parts if not part.answers(needed)]
        return (
            *(f"No quote was found that is likely to answer: {part.question}" for part in silent),
            *(f"No passage quoted speaks of {name}." for name in self._unspoken(needed)),
            *self._argued(),
            *([self.unread] if self.unread else []),
        )

    def _argued(self) -> list[str]:
        """If all that is quoted is what somebody argued, and that is not asked for."""
        quotes = self.whole.quotes
        if asks_what_is_argued(self.whole.question):
            return []
        if not quotes or not all(is_argued(quote.text) for quote in quotes):
            return []
        return ["What is quoted is what somebody argued; no quote says what was found."]

    def _unspoken(self, needed: float) -> list[str]:
        """The names of the whole question that no quote for a part of it speaks of either."""
        said = [part.quotes[0].passage for part in self.parts if part.answers(needed)]
        return [
            name
            for name in self.whole.grounds.absent
            if not any(speaks_of(passage, name) for passage in said)
        ]

    def quotes(self, prompt: Extract, needed: float) -> list[Quote]:
        """What to say, in the order to say it.

        Of a question with parts, each that is likely enough has its best quote before any has a
        second. A quote that another source contradicts is followed by what that source says; one
        that leans on what stands before it follows that. What changed is told in order of date.
        """
        if asks_for_change(prompt.question):
            ends = ends_in_time(self.whole.quotes)
            if ends:
                return with_what_is_before(ends, prompt.most)
        said: list[Quote] = []
        for part in self.parts:
            if part.answers(needed):
                said += unlike(said, part.quotes)[:1]
        if self.whole.answers(needed) or not said:
            said += unlike(said, self.whole.quotes)
        limit = min(max(prompt.limit, len(self.parts)), prompt.most)
        told = with_other_sides(said, passages_to_quote(prompt), prompt.opposed, limit)
        return with_what_is_before(told, prompt.most)


class QuoteChooser:
    """Chooses one to a few statements from the best passages. Safe to use from several threads."""

    name = "extractive"
    model = "sentences"

    def __init__(self, embedder: Embedder):
        self._vectors = SentenceVectors(embedder)

    def choose(self, prompt: Extract) -> Chosen:
        """The best statements for the question and for each of its parts."""
        of_parts = [
            replace(prompt, question=part, question_vector=vector, parts={})
            for part, vector in prompt.parts.items()
        ]
        prompts = [prompt, *of_parts]
        found = [_found(one) for one in prompts]
        quotes = score_quotes(
            [_asked(*each) for each in zip(prompts, found, strict=True)], self._vectors
        )
        whole, *parts = map(_part, prompts, found, quotes)
        return Chosen(whole, tuple(parts))


@dataclass(frozen=True)
class _Found:
    """Quotes that may answer, at most COMPARED.

    `lacking` is what is asked for if none holds it: the words of somebody, or of a provision. If
    all are of the provision asked for, they are in its order, and `are_told` as they are.
    """

    quotes: Sequence[Quote]
    lacking: str = ""
    are_told: bool = False


def _found(prompt: Extract) -> _Found:
    every, place = _most_covering(prompt), provision_in(prompt.question)
    own = may_answer(prompt.question, every)
    if own or not every:
        return _Found(own[:COMPARED], are_told=place is not None)
    return _Found(every[:COMPARED], lacking="provision" if place else "words")


def may_answer(question: str, quotes: Sequence[Quote]) -> list[Quote]:
    """Those of `quotes` that are of the provision, or by the one, whose words are asked for; all if
    nobody's are."""
    place = provision_in(question)
    return words_of(place, quotes) if place else own_words(question, quotes)


def _asked(prompt: Extract, found: _Found) -> Asked:
    return Asked(
        prompt.question, prompt.question_vector, found.quotes, prompt.passages, _evidence(prompt)
    )


def _part(prompt: Extract, found: _Found, scored: Sequence[Quote]) -> Part:
    if found.are_told:
        signs = Signs(score=max((quote.score for quote in scored), default=0.0))
        return Part(prompt.question, tuple(scored), Grounds(signs, STANDS_THERE))
    ordered = sorted(scored, key=lambda quote: quote.order)
    best = [q for q in ordered if q.score >= SHARE_OF_BEST * ordered[0].score]
    best = in_order(prompt.question, best, asked_for(prompt.question), _evidence(prompt))
    quotes = on_the_named(prompt.question, unlike((), best))
    seen = grounds_of(prompt, quotes)
    lacking = found.lacking or seen.asked
    return Part(prompt.question, tuple(quotes), replace(seen, asked=lacking))


def grounds_of(prompt: Extract, quotes: Sequence[Quote]) -> Grounds:
    """What speaks for and against quotes, best first, of its passages."""
    given = [item.passage for item in passages_to_quote(prompt)]
    language = quotes[0].passage.language if quotes else DEFAULT_LANGUAGE
    weights = weights_of(prompt, language) or prompt.term_weights
    return grounds(prompt.question, quotes, given, weights)


def weights_of(prompt: Extract, language: str) -> Mapping[str, float]:
    """The weights of the terms of its question, as the passages of a language have them."""
    terms = all_terms(prompt.question, language)
    return {term: weight for term, weight in prompt.term_weights.items() if term in terms}


def _most_covering(prompt: Extract) -> list[Quote]:
    """All quotes, first those that cover most of the question's terms, by weight.

    Coverage is the mean of two: with the passage's title, section, speaker and date, and with the
    statement before it too.
    """
    found: dict[str, tuple[float, Quote]] = {}
    for rank, item in enumerate(passages_to_quote(prompt)):
        passage = item.passage
        weights = weights_of(prompt, passage.language)
        total = sum(weights.values()) or 1.0
        about = f"{passage.title}\n{passage.section}\n{passage.speaker}\n{passage.date}"
        context = all_terms("\n".join([about, *people_of(passage)]), passage.language)
        titled = all_terms(passage.title, passage.language)
        rest = {term: weight for term, weight in weights.items() if term not in titled}
        before = frozenset[str]()
        for quote in quotes_of(passage, rank):
            alone = _covered(quote.terms | context, weights) / total
            read_on = _covered(quote.terms | context | before, weights) / total
            coverage = (alone + read_on) / 2
            if len(rest) > 1:  # `what does the Act say?` asks for no more than its title
                share = _covered(quote.terms | before, rest) / (sum(rest.values()) or 1.0)
                coverage = min(coverage, share + BEYOND_TITLE)
            before = quote.terms
            reach = coverage + PASSAGE * strength(prompt.passages, quote)
            found.setdefault(quote.text, (reach, replace(quote, score=coverage)))
    best = sorted(found.values(), key=lambda each: (-each[0], each[1].rank, each[1].start))
    return [quote for _, quote in best]


def _covered(terms: frozenset[str], weights: Mapping[str, float]) -> float:
    return sum(weight for term, weight in weights.items() if term in terms)


def passages_to_quote(prompt: Extract) -> Sequence[CheckedPassage]:
    """The passages its quotes are taken from."""
    return to_quote(prompt.question, prompt.passages)


def _evidence(prompt: Extract) -> str:
    return "\n".join(
        f"{item.passage.title}\n{item.passage.date}\n{item.passage.text}"
        for item in passages_to_quote(prompt)
    )
