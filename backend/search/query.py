"""A question as the ranking reads it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from backend.text import FUNCTION_WORDS, content_words, distinct, identifier_parts, words

# one scan, so that a hyphen inside quotation marks excludes nothing
_SYNTAX = re.compile(
    r"""(?P<minus>(?<!\S)-)?(?:"(?P<plain>[^"]*)"|“(?P<curly>[^”]*)”|„(?P<low>[^“”]*)[“”])"""
    r"|(?<!\S)-(?P<word>[^\W\d_][\w'’-]*)"
)
_PHRASES = ("plain", "curly", "low", "word")


@dataclass(frozen=True)
class Query:
    """The stems of a question; `has_subject` is False if it holds function words only.

    `text` is the question without what it excludes and without quotation marks: what is
    embedded. `words` are all of its stems in order, `terms` the distinct informative ones
    together with the parts of identifiers, `pairs` the informative words that stand next to each
    other once the function words between them are dropped, as indices into `terms`. A passage
    must hold every `required` phrase and none that is `excluded`, each a sequence of stems.
    `spellings` are stems that count as a term though they are spelt otherwise.
    """

    text: str
    words: tuple[str, ...]
    terms: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]
    has_subject: bool
    required: tuple[tuple[str, ...], ...] = ()
    excluded: tuple[tuple[str, ...], ...] = ()
    spellings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def spelt(self) -> list[str]:
        """The terms and their other spellings."""
        return [*self.terms, *(s for others in self.spellings.values() for s in others)]


def parse_query(question: str) -> Query:
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
    found = words(text)
    informative = content_words(found)
    stems = [word.term for word in informative]
    parts = [part for word in informative for part in identifier_parts(text[word.start : word.end])]
    terms = distinct([*stems, *parts])
    position = {term: index for index, term in enumerate(terms)}
    pairs = {(position[a], position[b]) for a, b in pairwise(stems) if a != b}
    return Query(
        text=text,
        words=tuple(word.term for word in found),
        terms=terms,
        pairs=tuple(sorted(pairs)),
        has_subject=any(word.folded not in FUNCTION_WORDS for word in found),
        required=_phrases(required),
        excluded=_phrases(excluded),
    )


def _phrases(texts: list[str]) -> tuple[tuple[str, ...], ...]:
    phrases = (tuple(word.term for word in words(text)) for text in texts)
    return tuple(dict.fromkeys(phrase for phrase in phrases if phrase))
