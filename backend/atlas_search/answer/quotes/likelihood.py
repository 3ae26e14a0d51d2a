"""How likely quotes are to hold what a question asks for, and what speaks against it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from math import exp
from typing import Literal

from atlas_search.answer.quotes.kinds import ANYTHING, asked_for
from atlas_search.answer.quotes.quotable import Quote
from atlas_search.core.domain import Passage
from atlas_search.language.english import AUXILIARIES, any_of, are_opposite
from atlas_search.language.languages import DEFAULT_LANGUAGE
from atlas_search.language.numerals import numerals
from atlas_search.language.text import (
    Word,
    all_terms,
    fold_words,
    identifier_parts,
    sentences,
    term_of,
    words,
)

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
    """What is seen of the quotes for a question, each a number.

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
`tests.benchmarks.truth.fit` prints what it would give today."""


@dataclass(frozen=True)
class Confidence:
    """How surely an answer in the sources' own words answers: a word, and the likelihood in [0, 1]
    that the word stands for."""

    word: Literal["likely", "possible"]
    likelihood: float


@dataclass(frozen=True)
class Grounds:
    """Why quotes are likely to answer, or not.

    `likelihood` is in [0, 1]. `against` are sentences on what speaks against it, each of which can
    be checked in the passages.
    """

    signs: Signs
    likelihood: float
    against: tuple[str, ...] = ()

    @property
    def confidence(self) -> Confidence:
        """How a reader would call it."""
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
    """What speaks for and against `quotes`, best first, chosen from `passages`.

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
    found = likelihood(signs)
    return Grounds(signs, min(found, MOST_UNNAMED) if missing else found, tuple(against))


def likelihood(signs: Signs) -> float:
    """The probability that quotes with these signs hold the answer."""
    pairs = zip(astuple(signs), astuple(WEIGHTS), strict=True)
    return 1 / (1 + exp(-(INTERCEPT + sum(value * weight for value, weight in pairs))))


def missing_words(
    question: str, passages: Sequence[Passage], wanted: Callable[[str], bool] = bool
) -> tuple[str, ...]:
    """The informative words of a question, as they are written, that none of the passages has; nor
    have their titles, headings, speakers, dates, corpora and metadata. Of these the `wanted`."""
    language = passages[0].language if passages else DEFAULT_LANGUAGE
    about = [_about(passage) for passage in passages]
    # most words stand there as they are written, which is seen at once
    plain = "\n".join(
        f"{p.text}\n{known}" for p, known in zip(passages, about, strict=True)
    ).lower()
    found = [
        word
        for word in words(question, language)
        if word.informative
        and wanted(surface := question[word.start : word.end])
        and surface.lower() not in plain
    ]
    if not found:
        return ()
    held = [
        (p.language, all_terms(p.text, p.language) | all_terms(known, p.language))
        for p, known in zip(passages, about, strict=True)
    ]

    surfaces = [question[w.start : w.end] for w in found]
    numbers = {
        at: number
        for number in numerals(question, surfaces, language)
        for at in range(number.start, number.end)
    }

    def is_held(word: Word) -> bool:
        surface, number = question[word.start : word.end], numbers.get(word.start)
        wanted = {number.digits} if number else set()
        return any(
            not terms.isdisjoint(
                wanted | {term_of(surface, lang), *identifier_parts(surface, lang)}
            )
            for lang, terms in held
        )

    missing = [w for w in found if not is_held(w)]
    if missing:  # it may stand inside a word: `l’Assemblée`, `Privacy-Act`
        written = "".join(
            fold_words(f"{p.text}\n{known}", p.language)
            for p, known in zip(passages, about, strict=True)
        )
        missing = [word for word in missing if word.folded not in written]
    whole = [numbers.get(word.start, word) for word in missing]  # a number is said as one
    return tuple(dict.fromkeys(question[each.start : each.end] for each in whole))


def _about(passage: Passage) -> str:
    """What is known of a passage beside its text."""
    known = [passage.title, passage.section, passage.speaker, passage.date]
    known += [passage.corpus.replace("_", " "), *map(str, passage.metadata.values())]
    return "\n".join(known)


def names_missing(question: str, passages: Sequence[Passage]) -> tuple[str, ...]:
    """Of `missing_words` those that name something: with a digit, or with a capital that does not
    begin the question."""
    return missing_words(
        question,
        passages,
        lambda word: word[0].isdigit() or (word[0].isupper() and not question.startswith(word)),
    )


def told_by_metadata(question: str, quotes: Sequence[Quote]) -> str:
    """What the metadata of the document quoted first say to the question, as a sentence: a field
    that it names, those for people if it asks who, or the date if it asks when and no quote holds
    one. Empty if they say nothing."""
    if not quotes:
        return ""
    passage, kind = quotes[0].passage, asked_for(question)
    wanted = {word.folded.removesuffix("s") for word in words(question)}
    if kind.name == "a name":
        wanted |= _PEOPLE
    if kind.name == "a date" and not any(kind.held(q.text, question) for q in quotes[:QUOTED]):
        wanted.add("date")
    known = {"date": passage.date, "speaker": passage.speaker, **passage.metadata}
    told = [
        f"{name} {', '.join(map(str, value)) if isinstance(value, tuple) else value}"
        for name, value in known.items()
        if value and name != "title" and name.removesuffix("s") in wanted
    ]
    told = [each for each in told if len(each) <= _LONGEST_TOLD]
    return f"The metadata of “{passage.title}” say: {'; '.join(told)}." if told else ""


def is_turned_round(question: str, sentence: str, passage: str) -> bool:
    """Whether an English sentence says the opposite of what is asked: the question says `not`, and
    the sentence denies nothing; or it has a word that the passage lacks, and the sentence its
    opposite (`who lost?`, `the crew won`). Of several sentences the last asks."""
    span = next(reversed(sentences(question)), None)
    asked = question[span.start : span.end] if span else question
    if _YES_OR_NO.search(asked):
        return False
    if _DENIED.search(asked):
        return not _DENIES.search(sentence)
    if _DENIED.search(sentence):
        return False
    known = {word.term for word in words(asked)}
    said = [word.folded for word in words(sentence) if word.term not in known]
    turned = {
        word.term
        for word in words(asked)
        if any(are_opposite(word.folded, other) for other in said)
    }
    return bool(turned) and not turned <= all_terms(passage)


def _list(missing: Sequence[str]) -> str:
    return " or ".join(f"“{word}”" for word in missing[:_SHOWN])
