"""What a sentence says against what its sources say: quotes, numbers and shared words."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property, partial

from atlas_search.answer.check.numbers import numbers_missing
from atlas_search.answer.check.read_passage import ReadPassage, is_said
from atlas_search.core.domain import Passage
from atlas_search.language.text import TextSpan, content_terms, fold_words

_WORDS_OF_SINGLE = 3  # shorter ones are apostrophes, or words used with distance
_MOST_PLACES = 100  # that are looked at: a sentence stands inside other words once or twice
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


class ReadSentence:
    """A sentence as the checks read it; each part once, however many passages it is held against.

    The languages are those of the passages.
    """

    def __init__(self, text: str):
        self.text = text
        self.terms = cache(partial(content_terms, text))
        """The stems of its informative words in a language."""

    @cached_property
    def variants(self) -> list[tuple[str, str]]:
        """What a source may say of it, each also without blanks: the mark of an item is none."""
        item = _ITEM.match(self.text)
        variants = (self.text, self.text[item.end() :].strip("*_ ") if item else "")
        return [(said, "".join(filter(is_said, said))) for said in variants if said]

    @cached_property
    def quotes(self) -> list["_Quote"]:
        """What it quotes."""
        return [_Quote(quote) for quote in _quotes(self.text)]


class _Quote:
    """A quotation, and its parts in the folded forms of a language; a part may be blank."""

    def __init__(self, text: str):
        self.text = text
        parts = _GAP.split(_CHANGED.sub(r"\1", text))
        self.parts = cache(lambda language: [fold_words(part, language) for part in parts])


def best_place(sentence: str, cited: Sequence[ReadPassage]) -> tuple[Passage, TextSpan]:
    """The place in one of `cited` that says it in the same words, else shares most; the first.

    Likeness is the Jaccard similarity of informative stems.
    """
    return place_of(ReadSentence(sentence), cited)


def place_of(sentence: ReadSentence, cited: Sequence[ReadPassage]) -> tuple[Passage, TextSpan]:
    """See `best_place`."""
    for read in cited:
        if span := _verbatim(sentence, read):
            return read.passage, span
    best, found = -1.0, (cited[0].passage, TextSpan(0, 0))
    for read in cited:
        likeness, span = read.likest(sentence.terms(read.passage.language))
        if likeness > best:
            best, found = likeness, (read.passage, span)
    return found


def missing_support(sentence: ReadSentence, cited: Sequence[ReadPassage]) -> list[str]:
    """Warnings, as predicates of the sentence, about what `cited` do not hold."""
    found = [
        f"says {_shorten(number)}, which is in no cited passage."
        for number in numbers_missing(sentence.text, (read.numbers for read in cited))
    ]
    found += [
        f"quotes “{_shorten(quote.text)}”, which is in no cited passage."
        for quote in sentence.quotes
        if not any(_holds(read, quote) for read in cited)
    ]
    if not any(_shares_a_word(sentence, read) for read in cited):
        found.append("shares no word with what it cites.")
    return found


def shorten_token(token: str) -> str:
    """As much of a citation token as a finding repeats."""
    return _shorten(token, _SHOWN_OF_TOKEN)


def _shorten(written: str, most: int = _SHOWN) -> str:
    return written if len(written) <= most else f"{written[:_SHOWN]}…"


def _verbatim(sentence: ReadSentence, read: ReadPassage) -> TextSpan | None:
    """Where a passage says it in the same words; the mark of a list item or heading is none.

    Where its lines end does not matter.
    """
    for said, letters in sentence.variants:
        read.compare()
        if span := _find(said, read.passage.text) or _find_letters(letters, read):
            return span
    return None


def _find(said: str, text: str) -> TextSpan | None:
    for at in _places(said, text):
        if _stands_alone(text, at, at + len(said)):
            return TextSpan(at, at + len(said))
    return None


def _find_letters(wanted: str, read: ReadPassage) -> TextSpan | None:
    """Where a passage that has several lines says it, whatever blanks are between."""
    if "\n" not in read.passage.text:
        return None
    letters, places = read.letters
    for at in _places(wanted, letters):
        start, end = places[at], places[at + len(wanted) - 1] + 1
        if _stands_alone(read.passage.text, start, end):
            return TextSpan(start, end)
    return None


def _places(said: str, text: str) -> Iterator[int]:
    """The first places where `text` has these characters, ascending."""
    at = text.find(said) if said else -1
    for _ in range(_MOST_PLACES):
        if at < 0:
            return
        yield at
        at = text.find(said, at + 1)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether no word goes on over either end."""
    edges = (text[max(start - 1, 0) : start + 1] if start else "", text[end - 1 : end + 1])
    return not any(len(edge) == 2 and edge.isalnum() for edge in edges)


def _quotes(sentence: str) -> list[str]:
    found = ["".join(match.groups("")) for match in _QUOTED.finditer(sentence)]
    single = ["".join(match.groups("")) for match in _SINGLE.finditer(sentence)]
    return found + [quote for quote in single if len(quote.split()) >= _WORDS_OF_SINGLE]


def _holds(read: ReadPassage, quote: _Quote) -> bool:
    """Whether a passage holds every part of a quote, in order."""
    read.compare()
    at = 0
    for wanted in quote.parts(read.passage.language):
        found = read.folded.find(wanted, at) if wanted.strip() else at
        if found < 0:
            return False
        # the blank behind a part may be the one before the next
        at = max(found + len(wanted) - 1, at) if wanted.strip() else at
    return True


def _shares_a_word(sentence: ReadSentence, read: ReadPassage) -> bool:
    return not sentence.terms(read.passage.language).isdisjoint(read.terms)
