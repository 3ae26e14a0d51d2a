"""Sentences that state nothing, so that they need no citation: headings and caveats."""

import re
from collections.abc import Sequence
from functools import cached_property

from atlas_search.answer.check.numbers import KnownNumbers, numbers_missing
from atlas_search.answer.check.read_passage import ReadPassage
from atlas_search.answer.check.refusals import is_caveat
from atlas_search.language.text import content_terms, words

_WORDS_OF_HEADING = 12
_NEGATED = re.compile(
    r"\b(?:not?|never|nor|without|cannot|nicht|kein\w*|pas|jamais|nunca|geen|niet)\b|n['’]t\b",
    re.IGNORECASE,
)
# how an answer speaks of itself and of the passages; who uses them states nothing of the subject
_ANNOUNCING = frozenset(
    """
    answer answers background conclusion context detail details differ difference differences
    document documents evidence example examples excerpt excerpts finding findings follow following
    follows further give gives given here in introduction key list listed lists main mention
    mentions name names note overview passage passages point points question reason reasons
    result results say says section show shows source sources state states summary text texts
    """.split()
)


class SourceWords:
    """All passages that an answer was written from, as one body of words and numbers."""

    def __init__(self, given: Sequence[ReadPassage], language: str):
        self._given = given
        self._language = language

    def hold(self, said: str) -> bool:
        """Whether all informative words of a text, and all its numbers, are theirs."""
        return not numbers_missing(said, self._numbers) and any(
            self._unknown(said, language) <= known for language, known in self._terms.items()
        )

    def number(self, said: str) -> bool:
        """Whether they hold all numbers of a text."""
        return not numbers_missing(said, self._numbers)

    def _unknown(self, said: str, language: str) -> frozenset[str]:
        found = words(said, language)
        return frozenset(
            word.term
            for word in found
            if word.informative and word.folded not in _ANNOUNCING and not word.folded.isdigit()
        )

    @cached_property
    def _numbers(self) -> list[KnownNumbers]:
        return [read.numbers for read in self._given]

    @cached_property
    def _terms(self) -> dict[str, frozenset[str]]:
        """The stems of each language; those of a title and a section are theirs, too."""
        found: dict[str, set[str]] = {self._language: set()}
        for read in self._given:
            passage = read.passage
            named = content_terms(f"{passage.title}\n{passage.section}", passage.language)
            found.setdefault(passage.language, set()).update(read.terms, named)
        return {language: frozenset(terms) for language, terms in found.items()}


def is_heading(text: str, sources: SourceWords) -> bool:
    """Whether it only announces what follows: in Markdown's marks, or with a colon at its end.

    A heading in words that no passage holds may state anything.
    """
    bold = len(text) > 4 and text.startswith("**") and text.endswith(("**", "**:"))
    said = text.strip("*_#: ")
    announces = bold or text.startswith("#") or text.endswith((":", ":**"))
    short = said[-1:] not in ".!?…" and len(text.split()) <= _WORDS_OF_HEADING
    return announces and short and not _NEGATED.search(said) and sources.hold(said)


def is_empty_caveat(text: str, sources: SourceWords) -> bool:
    """Whether it only says what the passages do not hold: it may name that, but no figure."""
    return is_caveat(text) and sources.number(text)
