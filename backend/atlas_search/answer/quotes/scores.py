"""Scores of quotes for a question, from the vectors of a few of them.

Embedding statements takes most of the time of an answer, and how similar one is to the question can
be told from how similar its passage is and how many of the question's words it has: within 0.12
(standard deviation) of the cosine, on four public sets. So the likely best are embedded, and others
only where one of these would lead by an estimate.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from functools import cached_property
from math import exp
from threading import Lock
from typing import Annotated, Literal

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray
from pydantic import Field

from atlas_search.answer.quotes.kinds import ANYTHING, asked_for
from atlas_search.answer.quotes.quotable import Quote
from atlas_search.core.domain import CheckedPassage, Passage
from atlas_search.language.english import AUXILIARIES, any_of, are_opposite
from atlas_search.language.languages import DEFAULT_LANGUAGE
from atlas_search.language.text import (
    Word,
    all_terms,
    fold_words,
    identifier_parts,
    numerals_by_place,
    sentences,
    term_of,
    words,
)
from atlas_search.providers.embedding import Embedder
from atlas_search.search.ranking import EVIDENCE_WEIGHTS

ENOUGH_TERMS = 8
"""Informative words from which on a question is no riddle. Without a bound, any long question that
no source answers is answered: of 60 such questions 26 were."""
QUOTED = 3  # quotes that an answer usually has
LIKELY = 0.62
"""From here on an answer is called `likely`."""
POSSIBLE = 0.22
"""From here on there is an answer, called `possible`; what is below is only what comes nearest."""
MOST_UNNAMED = 0.6
"""The most where no passage found has a name or figure of the question: of 112 such answers on five
sets 71 were right."""
_SHOWN = 3  # words that a quote lacks
_PEOPLE = frozenset(("speaker", "author", "judge"))
"""Metadata fields that say who."""
_LONGEST_TOLD = 120  # characters of a field: all speakers of a debate tell nothing

# the answer may be that it is not so
_YES_OR_NO = re.compile(rf"^{any_of(AUXILIARIES)}")
_DENIED = re.compile(
    r"(?<!\bor )\b(?:not|never|cannot|\w+n['’]t)\b(?! (?:only|just|merely|necessarily)\b)"
    r"(?!.*\b(?:other than|except|unless|until|without|but)\b)",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\b(?:no|not|never|cannot|nor|none|nothing|nobody|neither|without|unless|only|little|few|less|"
    r"hardly|rarely|instead|rather|against|den(?:y|ied|ies|ial)|bann?(?:s|ed)?|barred|(?:except|"
    r"lack|fail|refus|reject|declin|prevent|avoid|prohibit|forb|exclu|exempt|absen|oppos)\w*|"
    r"non\w*|un(?!i|d|t)\w{3,}|dis\w{4,}|\w{3,}less|im(?:pos|pra|mob|per|pro)\w*|irre\w*|ille\w*|"
    r"in(?:[aj]|c[ao]|d[ei]|e[flx]|s[eou]|v[ai])\w{3,})\b|n['’]t\b",
    re.IGNORECASE,
)
"""Negations, and English words that begin or end like one; `united` and `under` deny nothing."""


@dataclass(frozen=True)
class Signs:
    """The signs that quotes answer a question, each a number.

    `score` is that of the best, from 0 to 1.6, `similarity` its cosine to the question. `terms` is
    the number of informative words asked with, up to ENOUGH_TERMS, as a share of these: the fewer
    they are, the more a quote has of them by chance. `lacks` says whether no quote holds the kind
    of thing asked for, `turned` whether the best says the opposite of what is asked.
    """

    score: float = 0.0
    similarity: float = 0.0
    terms: float = 0.0
    lacks: float = 0.0
    turned: float = 0.0


WEIGHTS = Signs(score=4.2, similarity=1.5, terms=2.4, lacks=-1.0, turned=-3.3)
INTERCEPT = -6.5
"""Rounded from a logistic regression on the development halves of four public sets, alone and among
others, on the bundled development labels and on questions that no source answers.
`benchmarks.truth.fit` prints what it would give today."""


@dataclass(frozen=True)
class Confidence:
    """The confidence in an answer in the sources' own words: a word, and what it stands for."""

    word: Literal["likely", "possible"]
    likelihood: Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True)
class Grounds:
    """The grounds on which quotes are likely to answer, or not.

    `likelihood` is in [0, 1]. `against` are the objections, sentences that can each be checked in
    the passages.
    """

    signs: Signs
    likelihood: float
    against: tuple[str, ...] = ()

    @property
    def confidence(self) -> Confidence:
        """The likelihood, with the word for it."""
        word: Literal["likely", "possible"] = "likely" if self.likelihood >= LIKELY else "possible"
        return Confidence(word, round(self.likelihood, 4))

    def to_dict(self) -> dict[str, float]:
        """The signs by name, and the likelihood."""
        return {**asdict(self.signs), "likelihood": round(self.likelihood, 4)}


def grounds(
    question: str,
    quotes: Sequence[Quote],
    passages: Sequence[Passage],
    weights: Mapping[str, float],
) -> Grounds:
    """Return the grounds for and against `quotes`, best first, chosen from `passages`.

    `weights` are the idf of the question's terms.
    """
    if not quotes:
        return Grounds(Signs(), 0.0)
    best, kind = quotes[0], asked_for(question)
    english = best.passage.language == DEFAULT_LANGUAGE
    lacks = english and not any(kind.held(quote.text, question) for quote in quotes[:QUOTED])
    turned = english and is_turned_round(question, best.text, best.passage.text)
    signs = Signs(
        score=best.score,
        similarity=best.similarity,
        terms=min(len(weights), ENOUGH_TERMS) / ENOUGH_TERMS,
        lacks=float(lacks),
        turned=float(turned),
    )
    against = []
    if missing := names_missing(question, passages):
        against.append(f"No passage found has {_list(missing)}.")
    rest = [name for name in names_missing(question, [best.passage]) if name not in missing]
    if rest:
        against.append(f"The passage quoted first does not have {_list(rest)}.")
    if lacks and kind is not ANYTHING:
        against.append(f"No quote gives {kind.name}.")
    if turned:
        against.append("The quote may say the opposite of what is asked.")
    probability = likelihood(signs)
    return Grounds(
        signs, min(probability, MOST_UNNAMED) if missing else probability, tuple(against)
    )


def likelihood(signs: Signs) -> float:
    """The probability that quotes with these signs hold the answer."""
    pairs = zip(astuple(signs), astuple(WEIGHTS), strict=True)
    return 1 / (1 + exp(-(INTERCEPT + sum(value * weight for value, weight in pairs))))


def missing_words(
    question: str, passages: Sequence[Passage], wanted: Callable[[str], bool] = bool
) -> tuple[str, ...]:
    """Return the informative words of a question, as written, that the passages do not have.

    Their titles, headings, speakers, dates, corpora and metadata count too. Only `wanted` words are
    looked for.
    """
    language = passages[0].language if passages else DEFAULT_LANGUAGE
    about = [_about(passage) for passage in passages]
    # most words stand there as they are written, which is seen at once
    plain = "\n".join(
        f"{p.text}\n{known}" for p, known in zip(passages, about, strict=True)
    ).lower()
    candidates = [
        word
        for word in words(question, language)
        if word.informative
        and wanted(surface := question[word.start : word.end])
        and surface.lower() not in plain
    ]
    if not candidates:
        return ()
    held = [
        (p.language, all_terms(p.text, p.language) | all_terms(known, p.language))
        for p, known in zip(passages, about, strict=True)
    ]
    numbers = numerals_by_place(question, candidates, language)

    def is_held(word: Word) -> bool:
        surface, number = question[word.start : word.end], numbers.get(word.start)
        digits = {number.digits} if number else set()
        return any(
            not terms.isdisjoint(
                digits | {term_of(surface, lang), *identifier_parts(surface, lang)}
            )
            for lang, terms in held
        )

    missing = [w for w in candidates if not is_held(w)]
    if missing:  # it may stand inside a word: `l’Assemblée`, `Privacy-Act`
        folded_text = "".join(
            fold_words(f"{p.text}\n{known}", p.language)
            for p, known in zip(passages, about, strict=True)
        )
        missing = [word for word in missing if word.folded not in folded_text]
    whole = [numbers.get(word.start, word) for word in missing]  # a number is said as one
    return tuple(dict.fromkeys(question[each.start : each.end] for each in whole))


def _about(passage: Passage) -> str:
    """Return the title, section, speaker, date, corpus and metadata of a passage, one a line."""
    known = [passage.title, passage.section, passage.speaker, passage.date]
    known += [passage.corpus.replace("_", " "), *map(str, passage.metadata.values())]
    return "\n".join(known)


def names_missing(question: str, passages: Sequence[Passage]) -> tuple[str, ...]:
    """Return the `missing_words` that name something.

    They have a digit first, or a capital that does not begin the question.
    """
    return missing_words(
        question,
        passages,
        lambda word: word[0].isdigit() or (word[0].isupper() and not question.startswith(word)),
    )


def told_by_metadata(question: str, quotes: Sequence[Quote]) -> str:
    """Return a sentence with the metadata of the document quoted first that the question asks for.

    These are the fields that it names, people if it asks who, and the date if it asks when and no
    quote holds one. Empty if there are none.
    """
    if not quotes:
        return ""
    passage, kind = quotes[0].passage, asked_for(question)
    fields = {word.folded.removesuffix("s") for word in words(question)}
    if kind.name == "a name":
        fields |= _PEOPLE
    if kind.name == "a date" and not any(kind.held(q.text, question) for q in quotes[:QUOTED]):
        fields.add("date")
    known = {"date": passage.date, "speaker": passage.speaker, **passage.metadata}
    facts = [
        f"{name} {', '.join(map(str, value)) if isinstance(value, tuple) else value}"
        for name, value in known.items()
        if value and name != "title" and name.removesuffix("s") in fields
    ]
    facts = [each for each in facts if len(each) <= _LONGEST_TOLD]
    return f"The metadata of “{passage.title}” say: {'; '.join(facts)}." if facts else ""


def is_turned_round(question: str, sentence: str, passage: str) -> bool:
    """Return True if an English sentence says the opposite of what is asked.

    Either the question says `not` and the sentence denies nothing, or the question has a word that
    the passage lacks and the sentence its opposite (`who lost?`, `the crew won`). Of several
    sentences the last asks.
    """
    span = next(reversed(sentences(question)), None)
    clause = question[span.start : span.end] if span else question
    if _YES_OR_NO.search(clause):
        return False
    if _DENIED.search(clause):
        return not _DENIES.search(sentence)
    if _DENIED.search(sentence):
        return False
    known = {word.term for word in words(clause)}
    other_words = [word.folded for word in words(sentence) if word.term not in known]
    turned = {
        word.term
        for word in words(clause)
        if any(are_opposite(word.folded, other) for other in other_words)
    }
    return bool(turned) and not turned <= all_terms(passage)


def _list(missing: Sequence[str]) -> str:
    return " or ".join(f"“{word}”" for word in missing[:_SHOWN])


KEPT = 8192
"""Sentences whose vectors are kept, 12 MB of the default model: embedding those of one question
takes half of what an answer costs, and questions on one subject share them."""


class SentenceVectors:
    """Vectors of the last used texts, at most `kept`. Safe to use from several threads."""

    def __init__(self, embedder: Embedder, kept: int = KEPT):
        self._embedder = embedder
        self._vectors: LRUCache[str, NDArray[np.float32]] = LRUCache(kept)
        self._lock = Lock()

    def of(self, texts: Iterable[str]) -> Mapping[str, NDArray[np.float32]]:
        """The unit vector of each text. Raises what the embedder does."""
        unique = list(dict.fromkeys(texts))
        with self._lock:
            vectors = {text: self._vectors[text] for text in unique if text in self._vectors}
        missing = [text for text in unique if text not in vectors]
        if missing:
            # copied: a row of a batch would keep the whole batch
            new = [row.copy() for row in self._embedder.embed(missing)]
            with self._lock:
                self._vectors.update(zip(missing, new, strict=True))
            vectors.update(zip(missing, new, strict=True))
        return vectors


EMBEDDED = 3
"""Quotes of a question that are embedded in any case; with all eight no mean of the sets of
`benchmarks.truth` was better by more than 0.01."""

PASSAGE = 0.5  # weight of what is known of the passage
KIND = 0.1  # weight of a quote's holding what kind of thing is asked for
_LIKE_PASSAGE, _LIKE_WORDS = 0.7, 0.3
"""The estimated similarity: shares of the passage's similarity and of the covered terms, by least
squares over 10,000 quotes of four public sets, rounded."""


@dataclass(frozen=True)
class QuotedQuestion:
    """A question, its unit vector, and the quotes that may answer it.

    The score of each quote is the share of the question's terms that it covers. The passages of the
    quotes are among `passages`.
    """

    question: str
    vector: NDArray[np.float32]
    quotes: Sequence[Quote]
    passages: Sequence[CheckedPassage]

    @cached_property
    def estimated(self) -> NDArray[np.float64]:
        """The estimated similarity of each quote."""
        return np.array(
            [
                _LIKE_PASSAGE * _signals(self.passages, quote).get("semantic", 0.0)
                + _LIKE_WORDS * quote.score
                for quote in self.quotes
            ]
        )

    @cached_property
    def known(self) -> NDArray[np.float64]:
        """The worth of each quote without its similarity."""
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
        """Return True if the quote that is worth most has no vector."""
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


def score_quotes(asked: Sequence[QuotedQuestion], vectors: SentenceVectors) -> list[list[Quote]]:
    """Return the quotes for each question with their worth.

    It is the mean of similarity and coverage, with what speaks for the passage and for the kind.
    Chosen on the development halves of two public sets (`benchmarks.truth`): the best quote
    holds the answer in 0.81 and 0.46, one of three in 0.92 and 0.64. What is worth most for a
    question has a vector. At most two calls of the embedder, whose errors are raised.
    """
    by_text = vectors.of(text for each in asked for text in each.best())
    unsure = [each for each in asked if each.is_led_by_estimate(by_text)]
    rest = [quote.text for each in unsure for quote in each.quotes]
    by_text = {**by_text, **vectors.of(rest)}
    return [each.scored(by_text) for each in asked]


def strength(passages: Sequence[CheckedPassage], quote: Quote) -> float:
    """The signals of the passage itself, weighed as `fused` weighs them, in [0, 1]."""
    signals = _signals(passages, quote)
    total = sum(EVIDENCE_WEIGHTS.values())
    return sum(weight * signals.get(name, 0.0) for name, weight in EVIDENCE_WEIGHTS.items()) / total


def _signals(passages: Sequence[CheckedPassage], quote: Quote) -> Mapping[str, float]:
    return next(p.ranked.signals for p in passages if p.passage.id == quote.passage.id)
