"""A question as the ranking reads it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from atlas_search.language.languages import DEFAULT_LANGUAGE
from atlas_search.language.text import content_words, distinct, words

# one scan, so that a hyphen inside quotation marks excludes nothing
_SYNTAX = re.compile(
    r"""(?P<minus>(?<!\S)-)?(?:"(?P<plain>[^"]*)"|“(?P<curly>[^”]*)”|„(?P<low>[^“”]*)[“”])"""
    r"|(?<!\S)-(?P<word>[^\W\d_][\w'’-]*)"
)
_PHRASES = ("plain", "curly", "low", "word")


@dataclass(frozen=True)
class Query:
    """A question as read in one language: `has_subject` is False if it holds function words only.

    `text` is the question without what it excludes and without quotation marks: what is
    embedded. `words` are all of its stems in order, `terms` the distinct informative ones
    together with the parts of identifiers, `pairs` the informative words that stand next to each
    other once the function words between them are dropped, as indices into `terms`. A passage
    must hold every `required` phrase and none that is `excluded`, each a sequence of stems.
    `question` is what was asked, so that it can be read in another `language`. `spellings` are
    stems that count as a term though they are spelt otherwise, `readings` the question in further
    languages with spellings of their own.
    """

    text: str
    words: tuple[str, ...]
    terms: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    has_subject: bool
    required: tuple[tuple[str, ...], ...] = ()
    excluded: tuple[tuple[str, ...], ...] = ()
    question: str = ""
    language: str = DEFAULT_LANGUAGE
    spellings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    readings: Mapping[str, "Query"] = field(default_factory=dict)

    @property
    def spelt(self) -> list[str]:
        """The terms and their other spellings."""
        return [*self.terms, *(s for others in self.spellings.values() for s in others)]

    def in_language(self, language: str) -> "Query":
        """The same question as the passages of a corpus in `language` are to be compared with."""
        if language == self.language:
            return self
        return self.readings.get(language) or parse_query(self.question, language)


@lru_cache(maxsize=256)  # a question is read again for the evidence of each language
def parse_query(question: str, language: str = DEFAULT_LANGUAGE) -> Query:
    """Analyse a question; `terms` is empty only if it holds no word but excluded ones.

    `"a phrase"` in quotation marks is required; `-word` and `-"a phrase"` exclude.
    """
    required: list[str] = []
    excluded: list[str] = []

    def understood(match: re.Match[str]) -> str:
        phrase = next(match[name] for name in _PHRASES if match[name] is not None)
        unwanted = match["minus"] or match["word"]
        (excluded if unwanted else required).append(phrase)
        return " " if unwanted else f" {phrase} "

    plain = _SYNTAX.sub(understood, question)
    text = " ".join(plain.split()) if required or excluded else question
    found = words(text, language)
    informative = content_words(found)
    stems = [word.term for word in informative]
    parts = [part for word in informative for part in word.parts]
    terms = distinct([*stems, *parts])
    position = {term: index for index, term in enumerate(terms)}
    pairs = {(position[a], position[b]) for a, b in pairwise(stems) if a != b}
    return Query(
        text=text,
        words=tuple(word.term for word in found),
        terms=terms,
        pairs=tuple(sorted(pairs)),
        has_subject=any(word.informative for word in found),
        required=_phrases(required, language),
        excluded=_phrases(excluded, language),
        question=question,
        language=language,
    )


def _phrases(texts: list[str], language: str) -> tuple[tuple[str, ...], ...]:
    phrases = (tuple(word.term for word in words(text, language)) for text in texts)
    return tuple(dict.fromkeys(phrase for phrase in phrases if phrase))
