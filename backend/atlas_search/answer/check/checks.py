"""What a sentence says against what its sources say: quotes, numbers and shared words."""

import re
from collections.abc import Sequence
from functools import cached_property

from atlas_search.answer.check.numbers import numbers_missing, numbers_of
from atlas_search.core.domain import Passage
from atlas_search.language.text import TextSpan, content_terms, sentences, words

_WORDS_OF_SINGLE = 3  # shorter ones are apostrophes, or words used with distance
_SHOWN = 80  # characters of a quote or number that a finding repeats
_SHOWN_OF_TOKEN = 160  # those of the bundled documents have up to 85

_QUOTED = re.compile(
    r"\"([^\"\n]{2,400})\"|„([^„“”]{2,400})[“”]|“([^“”]{2,400})”|[«‹]([^«»‹›]{2,400})[»›]"
    r"|»([^«»]{2,400})«"
)
_SINGLE = re.compile(
    r"(?<!\w)(?:‘((?:[^‘’]|(?<=\w)’(?=\w)){2,400})’|'((?:[^'\n]|(?<=\w)'(?=\w)){2,400})')(?!\w)"
)
_CHANGED = re.compile(r"\[(\w)\](?=\w)")
_GAP = re.compile(r"…|\.\s?\.\s?\.|\[[^\[\]]*\]")
_ITEM = re.compile(r"\s*(?:[-*•+–—#>]+|\d{1,3}[.)])\s+")


class ReadPassage:
    """A passage as the checks read it; each part once, when it is first needed."""

    def __init__(self, passage: Passage):
        self.passage = passage

    @cached_property
    def terms(self) -> frozenset[str]:
        """The stems of its informative words."""
        return content_terms(self.passage.text, self.passage.language)

    @cached_property
    def letters(self) -> tuple[str, list[int]]:
        """Its text without blanks and marks of quotation, and where each character stands."""
        kept = [at for at, char in enumerate(self.passage.text) if _is_said(char)]
        return "".join(self.passage.text[at] for at in kept), kept

    @cached_property
    def folded(self) -> str:
        """Its words in their folded forms, a blank on either side of each."""
        return _fold_words(self.passage.text, self.passage.language)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Its numbers, with those of what is known of it, as `numbers_of` reads them."""
        passage = self.passage
        places = (found.locator for found in passage.locators)
        known = (passage.title, passage.section, passage.date, *places, passage.printed_page)
        return numbers_of("\n".join((passage.text, *known)))

    @cached_property
    def places(self) -> list[tuple[TextSpan, frozenset[str]]]:
        """Its sentences with the stems of their informative words."""
        text, language = self.passage.text, self.passage.language
        spans = sentences(text, language) or [TextSpan(0, len(text))]
        return [(span, content_terms(text[span.start : span.end], language)) for span in spans]


def best_place(sentence: str, cited: Sequence[ReadPassage]) -> tuple[Passage, TextSpan]:
    """The place in one of `cited` that says it in the same words, else shares most; the first.

    Likeness is the Jaccard similarity of informative stems.
    """
    for read in cited:
        if span := _verbatim(sentence, read):
            return read.passage, span
    best, found = -1.0, (cited[0].passage, TextSpan(0, 0))
    for read in cited:
        asked = content_terms(sentence, read.passage.language)
        for span, held in read.places:
            likeness = len(asked & held) / max(len(asked | held), 1)
            if likeness > best:
                best, found = likeness, (read.passage, span)
    return found


def missing_support(sentence: str, cited: Sequence[ReadPassage]) -> list[str]:
    """Warnings, as predicates of the sentence, about what `cited` do not hold."""
    known = frozenset[str]().union(*(read.numbers for read in cited))
    found = [
        f"says {_shorten(number)}, which is in no cited passage."
        for number in numbers_missing(sentence, known)
    ]
    found += [
        f"quotes “{_shorten(quote)}”, which is in no cited passage."
        for quote in _quotes(sentence)
        if not any(_holds(read, quote) for read in cited)
    ]
    if not any(_shares_a_word(sentence, read) for read in cited):
        found.append("shares no word with what it cites.")
    return found


def stands_in(sentence: str, cited: Sequence[ReadPassage]) -> bool:
    """Whether one of `cited` says it in the same words."""
    return any(_verbatim(sentence, read) for read in cited)


def shorten_token(token: str) -> str:
    """As much of a citation token as a finding repeats."""
    return _shorten(token, _SHOWN_OF_TOKEN)


def _shorten(written: str, most: int = _SHOWN) -> str:
    return written if len(written) <= most else f"{written[:_SHOWN]}…"


def _verbatim(sentence: str, read: ReadPassage) -> TextSpan | None:
    """Where a passage says it in the same words; the mark of a list item or heading is none.

    Where its lines end does not matter.
    """
    item = _ITEM.match(sentence)
    for said in (sentence, sentence[item.end() :].strip("*_ ") if item else ""):
        if said and (span := _find(said, read.passage.text) or _find_letters(said, read)):
            return span
    return None


def _find(said: str, text: str) -> TextSpan | None:
    at = text.find(said)
    while at >= 0:
        if _stands_alone(text, at, at + len(said)):
            return TextSpan(at, at + len(said))
        at = text.find(said, at + 1)
    return None


def _find_letters(said: str, read: ReadPassage) -> TextSpan | None:
    """Where a passage that has several lines says it, whatever blanks are between."""
    if "\n" not in read.passage.text:
        return None
    letters, places = read.letters
    wanted = "".join(filter(_is_said, said))
    at = letters.find(wanted) if wanted else -1
    while at >= 0:
        start, end = places[at], places[at + len(wanted) - 1] + 1
        if _stands_alone(read.passage.text, start, end):
            return TextSpan(start, end)
        at = letters.find(wanted, at + 1)
    return None


def _is_said(char: str) -> bool:
    return not char.isspace() and char != ">"


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether no word goes on over either end."""
    edges = (text[max(start - 1, 0) : start + 1] if start else "", text[end - 1 : end + 1])
    return not any(len(edge) == 2 and edge.isalnum() for edge in edges)


def _quotes(sentence: str) -> list[str]:
    found = ["".join(match.groups("")) for match in _QUOTED.finditer(sentence)]
    single = ["".join(match.groups("")) for match in _SINGLE.finditer(sentence)]
    return found + [quote for quote in single if len(quote.split()) >= _WORDS_OF_SINGLE]


def _holds(read: ReadPassage, quote: str) -> bool:
    """Whether a passage holds every part of a quote, in order."""
    at = 0
    for part in _GAP.split(_CHANGED.sub(r"\1", quote)):
        wanted = _fold_words(part, read.passage.language)
        found = read.folded.find(wanted, at) if wanted.strip() else at
        if found < 0:
            return False
        # the blank behind a part may be the one before the next
        at = max(found + len(wanted) - 1, at) if wanted.strip() else at
    return True


def _fold_words(text: str, language: str) -> str:
    return f" {' '.join(word.folded for word in words(text, language))} "


def _shares_a_word(sentence: str, read: ReadPassage) -> bool:
    return bool(content_terms(sentence, read.passage.language) & read.terms)
