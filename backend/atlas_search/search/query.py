"""A question as the ranking reads it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from atlas_search.language.languages import DEFAULT_LANGUAGE
from atlas_search.language.text import Word, content_words, distinct, numerals_by_place, words

# one scan, so that a sign inside quotation marks means nothing
_SYNTAX = re.compile(
    r"""(?P<sign>(?<!\S)[+-])?(?:"(?P<plain>[^"]*)"|“(?P<curly>[^”]*)”|„(?P<low>[^“”]*)[“”])"""
    r"|(?<!\S)\+(?P<word>[^\W\d_][\w'’-]*)"
)
_ADDRESS = frozenset("mr mrs ms mx messrs dr prof".split())  # a `lord` or a `miss` is more
_PHRASES = ("plain", "curly", "low", "word")
MOST_PHRASES = 20
"""Of one kind; each is looked for in the whole collection."""


class Phrase(NamedTuple):
    """A phrase as it was asked for, and its stems in order, at least one."""

    text: str
    stems: tuple[str, ...]


@dataclass(frozen=True)
class Query:
    """A question as read in one language: `has_subject` is False if it holds function words only.

    `text` is the question without what it excludes and without quotation marks: what is
    embedded. `words` are all of its stems in order, `terms` the distinct informative ones but forms
    of address, together with the parts of identifiers, `pairs` the informative words that stand
    next to each other once the function words between them are dropped, as indices into `terms`.
    Passages that hold a `preferred` phrase rank higher; a passage must hold every `required` one
    and none that is `excluded`. `question` is what was read, so that it can be read in another
    `language`.
    `spellings` are stems that count as a term though they are spelt otherwise, `readings` the
    question in further languages with spellings of their own.
    """

    text: str
    words: tuple[str, ...]
    terms: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    has_subject: bool
    preferred: tuple[Phrase, ...] = ()
    required: tuple[Phrase, ...] = ()
    excluded: tuple[Phrase, ...] = ()
    question: str = ""
    language: str = DEFAULT_LANGUAGE
    spellings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    readings: Mapping[str, "Query"] = field(default_factory=dict)

    @property
    def spelt(self) -> list[str]:
        """The terms and their other spellings."""
        return [*self.terms, *(s for others in self.spellings.values() for s in others)]

    def narrowed(self, require: Iterable[str], exclude: Iterable[str]) -> "Query":
        """Return the question with further required and excluded phrases."""
        return replace(
            self,
            required=_distinct(*self.required, *phrases(require, self.language)),
            excluded=_distinct(*self.excluded, *phrases(exclude, self.language)),
        )

    def in_language(self, language: str) -> "Query":
        """Return the question as it is compared with passages in `language`."""
        if language == self.language:
            return self
        return self.readings.get(language) or parse_query(self.question, language)


@lru_cache(maxsize=256)  # a question is read again for the evidence of each language
def parse_query(question: str, language: str = DEFAULT_LANGUAGE) -> Query:
    """Analyse a question; `terms` is empty only if it holds no word but excluded ones.

    `"a phrase"` in quotation marks is preferred (the first MOST_PHRASES), `+"a phrase"` and
    `+word` are required, `-"a phrase"` is excluded. A hyphen before a word is no operator: prose is
    full of them.
    """
    by_sign: dict[str, list[str]] = {"": [], "+": [], "-": []}

    def understood(match: re.Match[str]) -> str:
        phrase = next(match[name] for name in _PHRASES if match[name] is not None)
        sign = "+" if match["word"] else match["sign"] or ""
        by_sign[sign].append(phrase)
        return " " if sign == "-" else f" {phrase} "

    plain = _SYNTAX.sub(understood, question)
    text = " ".join(plain.split()) if any(by_sign.values()) else question
    all_words = words(text, language)
    content = content_words(all_words)
    # sources name by his name alone whom a question calls `Mr`
    informative = [word for word in content if word.folded not in _ADDRESS] or content
    stems, parts, digits = _terms(text, informative, language)
    terms = distinct([*stems, *parts])
    position = {term: index for index, term in enumerate(terms)}
    pairs = {(position[a], position[b]) for a, b in pairwise(stems) if a != b}
    return Query(
        text=text,
        words=tuple(word.term for word in all_words),
        terms=terms,
        pairs=tuple(sorted(pairs)),
        has_subject=any(word.informative for word in all_words),
        preferred=phrases(by_sign[""], language)[:MOST_PHRASES],
        required=phrases(by_sign["+"], language),
        excluded=phrases(by_sign["-"], language),
        question=question,
        language=language,
        spellings=digits,
    )


def _terms(
    text: str, informative: Sequence[Word], language: str
) -> tuple[list[str], list[str], dict[str, tuple[str, ...]]]:
    """The stems of the informative words and their parts; a number of several words is one term, in
    digits. One of a single word may be written in digits: that is a spelling of its stem."""
    numbers = numerals_by_place(text, informative, language)
    stems: list[str] = []
    parts: list[str] = []
    spellings: dict[str, tuple[str, ...]] = {}
    for word in informative:
        number = numbers.get(word.start)
        if number is None:
            stems.append(word.term)
            parts += word.parts
        elif word.end == number.end and word.start == number.start:
            stems.append(word.term)
            spellings[word.term] = (number.digits,)
        elif word.start == number.start:
            stems.append(number.digits)
    return stems, parts, spellings


def phrases(texts: Iterable[str], language: str = DEFAULT_LANGUAGE) -> tuple[Phrase, ...]:
    """Parse the `texts` that hold a word, each once."""
    read = (Phrase(t.strip(), tuple(word.term for word in words(t, language))) for t in texts)
    return _distinct(*(phrase for phrase in read if phrase.stems))


def _distinct(*every: Phrase) -> tuple[Phrase, ...]:
    """The first of those that have the same stems."""
    first: dict[tuple[str, ...], Phrase] = {}
    for phrase in every:
        first.setdefault(phrase.stems, phrase)
    return tuple(first.values())
