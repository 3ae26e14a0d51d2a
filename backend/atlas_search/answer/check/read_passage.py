"""A passage as the checks read it: analysed once, however many sentences cite it."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from atlas_search.answer.check.effort import Effort
from atlas_search.answer.check.numbers import KnownNumbers, numbers_of
from atlas_search.core.domain import Passage
from atlas_search.language.text import TextSpan, content_terms, fold_words, sentences

_LONGEST = 20_000  # characters split at once: sentencex takes quadratic time for open quotes
_GAPS = ("\n", ". ", "? ", "! ", " ")  # where they are split, the first that is found
_SEEN_BACK = 2000  # characters before the end of a longer text that are looked through for a gap


class ReadPassage:
    """Each part is read when it is first needed; what is compared is counted by `effort`."""

    def __init__(self, passage: Passage, effort: Effort | None = None):
        self.passage = passage
        self._effort = effort or Effort()

    def compare(self) -> None:
        """Count a comparison with its whole text. Raises RequestError, Cancelled."""
        self._effort.compare(len(self.passage.text))

    @cached_property
    def terms(self) -> frozenset[str]:
        """The stems of its informative words."""
        return content_terms(self.passage.text, self.passage.language)

    @cached_property
    def letters(self) -> tuple[str, list[int]]:
        """Its text without blanks and marks of quotation, and where each character stands."""
        kept = [at for at, char in enumerate(self.passage.text) if is_said(char)]
        return "".join(self.passage.text[at] for at in kept), kept

    @cached_property
    def folded(self) -> str:
        """Its words in their folded forms, a blank on either side of each."""
        return fold_words(self.passage.text, self.passage.language)

    @cached_property
    def squeezed(self) -> str:
        """Its text with single blanks."""
        return " ".join(self.passage.text.split())

    @cached_property
    def numbers(self) -> KnownNumbers:
        """Its numbers, with those of what is known of it."""
        passage = self.passage
        places = (f"{found.locator} {found.section or ''}" for found in passage.locators)
        known = (passage.title, passage.section, passage.date, *places, passage.printed_page)
        return KnownNumbers(numbers_of("\n".join((passage.text, *known))))

    def likest(self, asked: frozenset[str]) -> tuple[float, TextSpan]:
        """The sentence whose informative stems are most like `asked`, the first of equals.

        With its likeness, the Jaccard similarity.
        """
        found = [self._holders[term] for term in asked if term in self._holders]
        if not found:
            return 0.0, self._places[0]
        shared = np.bincount(np.concatenate(found), minlength=len(self._places))
        likeness = shared / (len(asked) + self._sizes - shared)
        best = int(likeness.argmax())
        return float(likeness[best]), self._places[best]

    @cached_property
    def _places(self) -> list[TextSpan]:
        """Its sentences; the whole text if there is none."""
        text, language = self.passage.text, self.passage.language
        found = [
            TextSpan(block.start + start, block.start + end)
            for block in _blocks(text)
            for start, end in sentences(text[block.start : block.end], language)
        ]
        return found or [TextSpan(0, len(text))]

    @cached_property
    def _terms_of_places(self) -> list[frozenset[str]]:
        text, language = self.passage.text, self.passage.language
        return [content_terms(text[start:end], language) for start, end in self._places]

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        """How many stems each place has."""
        return np.array([len(terms) for terms in self._terms_of_places], dtype=np.int64)

    @cached_property
    def _holders(self) -> Mapping[str, NDArray[np.int64]]:
        """The places that hold each stem, by index."""
        found: dict[str, list[int]] = defaultdict(list)
        for place, terms in enumerate(self._terms_of_places):
            for term in terms:
                found[term].append(place)
        return {term: np.array(places, dtype=np.int64) for term, places in found.items()}


def is_said(char: str) -> bool:
    """Whether a character is more than a blank or the mark of a quoted line."""
    return not char.isspace() and char != ">"


def _blocks(text: str) -> Iterator[TextSpan]:
    """The text in pieces of at most _LONGEST characters, which end at one of _GAPS if there is."""
    start = 0
    while len(text) - start > _LONGEST:
        end = start + _LONGEST
        found = ((text.rfind(gap, end - _SEEN_BACK, end), gap) for gap in _GAPS)
        end = next((at + len(gap) for at, gap in found if at >= 0), end)
        yield TextSpan(start, end)
        start = end
    yield TextSpan(start, len(text))
