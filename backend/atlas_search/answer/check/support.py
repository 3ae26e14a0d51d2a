"""The support of a sentence by its sources: quotes, numbers and shared words."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache, cached_property, partial
from math import inf

import numpy as np
from numpy.typing import NDArray

from atlas_search.answer.check.markers import ROUND
from atlas_search.core.domain import Passage
from atlas_search.core.errors import RequestError
from atlas_search.core.stop import Stop
from atlas_search.language.numerals import NUMBERS, ORDINALS, SCALES
from atlas_search.language.text import TextSpan, content_terms, fold_words, sentences

_SEPARATORS = ".,'’ \u00a0\u2009\u202f"
_NUMBER = re.compile(
    rf"(?P<number>\d{{1,3}}(?:[{_SEPARATORS}]\d{{3}})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*)"
    r"(?:(?P<decade>['’]?s\b)|\s?(?P<scale>hundred|thousand|million|billion|trillion|m|bn|k)\b)?",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(rf"[{_SEPARATORS}]")
_SPANNED = re.compile(r"(?<!\d)(\d\d)\d\d[-–—/](\d\d)(?!\d)")
_NUMBERED_ITEM = re.compile(r"\s*\d{1,3}[.)]\s")
_LONGEST_NUMBER = 18  # digits; longer ones are serial numbers, not amounts
_WORDS = NUMBERS | {word: value for value, word in enumerate(ORDINALS[:12], start=1)}
# the longest first: `twenty-one` is not twenty
_WORD = re.compile(rf"\b(?:{'|'.join(sorted(_WORDS, key=len, reverse=True))})\b", re.IGNORECASE)


def numbers_of(text: str) -> frozenset[str]:
    """Every number of a text in every way it can be read: as `1000`, `3.5`.

    `1.000` is read as a thousand and as one; `1914-18` holds 1918; `3 million` holds 3; small
    numbers may be written in English words.
    """
    numbers = {f"{first}{last}" for first, last in _SPANNED.findall(text)}
    for match in _NUMBER.finditer(text):
        numbers |= _readings(match)
        if _is_list(match["number"]):
            numbers |= {_whole(part) for part in _parts(match["number"])}
    return frozenset(numbers | {str(_WORDS[word.lower()]) for word in _WORD.findall(text)})


def numbers_missing(sentence: str, known: Iterable[frozenset[str]]) -> list[str]:
    """The numbers of a sentence, as written and sorted, that are in none of `known`.

    These are `numbers_of` texts. The number of a list item is none.
    """
    item = _NUMBERED_ITEM.match(sentence)
    matches = list(_NUMBER.finditer(sentence, item.end() if item else 0))
    if not matches:
        return []
    texts = list(known)
    return sorted({match["number"] for match in matches if not _hold(texts, match)})


def _hold(known: Sequence[frozenset[str]], match: re.Match[str]) -> bool:
    number, readings = match["number"], _readings(match)
    if any(not readings.isdisjoint(each) for each in known):
        return True
    if match["decade"] and number.endswith("0"):
        return any(f"{number[:-1]}{digit}" in each for each in known for digit in range(10))
    return _is_list(number) and all(
        any(_whole(part) in each for each in known) for part in _parts(number)
    )


def _readings(match: re.Match[str]) -> set[str]:
    """The number with its separators as marks of thousands, and as decimal ones."""
    *head, last = _parts(match["number"])
    if not head:
        readings = {_whole(last)}
    else:
        readings = {_decimal("".join(head), last)}
        if all(len(part) == 3 for part in (*head[1:], last)):
            readings.add(_whole("".join(head) + last))
    if match["scale"]:
        readings |= {_scale(reading, SCALES[match["scale"].lower()]) for reading in readings}
    return readings


def _is_list(number: str) -> bool:
    """Check for several numbers in one: a date, a section, or two with a blank between them."""
    parts = _parts(number)
    grouped = all(len(part) == 3 for part in parts[1:])
    return (len(parts) > 2 and not grouped) or any(c.isspace() for c in number)


def _parts(number: str) -> list[str]:
    return _SEPARATOR.split(number)


def _whole(digits: str) -> str:
    return digits.lstrip("0") or "0"


def _decimal(whole: str, fraction: str) -> str:
    fraction = fraction.rstrip("0")
    return f"{_whole(whole)}.{fraction}" if fraction else _whole(whole)


def _scale(reading: str, power: int) -> str:
    if len(reading) > _LONGEST_NUMBER:
        return reading
    return f"{Decimal(reading).scaleb(power).normalize():f}"


MOST_COMPARED = 20_000_000
"""Characters: some two seconds of one core at worst. An answer of 200 sentences with three tokens
each, to pages of 5,000 characters, takes 3,000,000."""

_LEAST = 1000  # characters that a comparison counts as: it takes time, however short the passage


class Effort:
    """Counts the characters of passages that sentences and quotations are compared with.

    Without `most` there is no limit: a model's answer is short, and so are its passages.
    """

    def __init__(self, most: float = inf, stop: Stop | None = None):
        self._most = most
        self._left = most
        self._stop = stop or Stop()

    def compare(self, characters: int) -> None:
        """Count a comparison. Raises RequestError beyond the limit, Cancelled if nobody waits."""
        self._stop.check()
        self._left -= max(characters, _LEAST)
        if self._left < 0:
            raise RequestError(
                "The sentences and quotations of the answer would be compared with more than "
                f"{self._most:,} characters of the passages that they cite. Check the answer in "
                "parts, or send shorter passages."
            )


_LONGEST_PIECE = 20_000  # characters split at once: sentencex takes quadratic time for open quotes
_GAPS = ("\n", ". ", "? ", "! ", " ")  # where they are split, the first that is found
_SEEN_BACK = 2000  # characters before the end of a longer text that are looked through for a gap


class ReadPassage:
    """Each part is read when it is first needed; what is compared is counted by `effort`.

    `text` has round brackets for square ones, as what is quoted of it may have.
    """

    def __init__(self, passage: Passage, effort: Effort | None = None):
        self.passage = passage
        self.text = passage.text.translate(ROUND)
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
        places = [at for at, char in enumerate(self.text) if is_said(char)]
        return "".join(self.text[at] for at in places), places

    @cached_property
    def folded(self) -> str:
        """Its words in their folded forms, a blank on either side of each."""
        return fold_words(self.passage.text, self.passage.language)

    @cached_property
    def squeezed(self) -> str:
        """Its text with single blanks."""
        return " ".join(self.text.split())

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Its numbers, with those of what is known of it."""
        passage = self.passage
        places = (f"{locator.locator} {locator.section or ''}" for locator in passage.locators)
        known = (passage.title, passage.section, passage.date, *places, passage.printed_page)
        return numbers_of("\n".join((passage.text, *known)))

    def likest(self, asked: frozenset[str]) -> tuple[float, TextSpan]:
        """The sentence whose informative stems are most like `asked`, the first of equals.

        With its likeness, the Jaccard similarity.
        """
        holders = [self._holders[term] for term in asked if term in self._holders]
        if not holders:
            return 0.0, self._places[0]
        shared = np.bincount(np.concatenate(holders), minlength=len(self._places))
        likeness = shared / (len(asked) + self._sizes - shared)
        best = int(likeness.argmax())
        return float(likeness[best]), self._places[best]

    @cached_property
    def _places(self) -> list[TextSpan]:
        """Its sentences; the whole text if there is none."""
        text, language = self.passage.text, self.passage.language
        spans = [
            TextSpan(block.start + start, block.start + end)
            for block in _blocks(text)
            for start, end in sentences(text[block.start : block.end], language)
        ]
        return spans or [TextSpan(0, len(text))]

    @cached_property
    def _terms_of_places(self) -> list[frozenset[str]]:
        text, language = self.passage.text, self.passage.language
        return [content_terms(text[start:end], language) for start, end in self._places]

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        """The number of stems in each place."""
        return np.array([len(terms) for terms in self._terms_of_places], dtype=np.int64)

    @cached_property
    def _holders(self) -> Mapping[str, NDArray[np.int64]]:
        """The places that hold each stem, by index."""
        holders: dict[str, list[int]] = defaultdict(list)
        for place, terms in enumerate(self._terms_of_places):
            for term in terms:
                holders[term].append(place)
        return {term: np.array(places, dtype=np.int64) for term, places in holders.items()}


def is_said(char: str) -> bool:
    """Return True if a character is more than a blank or the mark of a quoted line."""
    return not char.isspace() and char != ">"


def _blocks(text: str) -> Iterator[TextSpan]:
    """The text in pieces of at most _LONGEST_PIECE characters, each ending at a gap if it can."""
    start = 0
    while len(text) - start > _LONGEST_PIECE:
        end = start + _LONGEST_PIECE
        places = ((text.rfind(gap, end - _SEEN_BACK, end), gap) for gap in _GAPS)
        end = next((at + len(gap) for at, gap in places if at >= 0), end)
        yield TextSpan(start, end)
        start = end
    yield TextSpan(start, len(text))


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
_LIST_ITEM = re.compile(r"\s*(?:[-*•+–—#>]+|\d{1,3}[.)])\s+")


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
        """Its text with and without the mark of a list item, each also without blanks."""
        text, item = self.text.translate(ROUND), _LIST_ITEM.match(self.text)
        variants = (text, text[item.end() :].strip("*_ ") if item else "")
        return [(variant, "".join(filter(is_said, variant))) for variant in variants if variant]

    @cached_property
    def quotes(self) -> list["_Quote"]:
        return [_Quote(quote) for quote in _quotes(self.text)]


class _Quote:
    """A quotation, and its parts in the folded forms of a language; a part may be blank."""

    def __init__(self, text: str):
        self.text = text
        parts = _GAP.split(_CHANGED.sub(r"\1", text))
        self.parts = cache(lambda language: [fold_words(part, language) for part in parts])


def place_of(sentence: ReadSentence, cited: Sequence[ReadPassage]) -> tuple[Passage, TextSpan]:
    """The place in one of `cited` that says it in the same words, else shares most; the first.

    Likeness is the Jaccard similarity of informative stems.
    """
    for read in cited:
        if span := _verbatim(sentence, read):
            return read.passage, span
    best, place = -1.0, (cited[0].passage, TextSpan(0, 0))
    for read in cited:
        likeness, span = read.likest(sentence.terms(read.passage.language))
        if likeness > best:
            best, place = likeness, (read.passage, span)
    return place


def missing_support(sentence: ReadSentence, cited: Sequence[ReadPassage]) -> list[str]:
    """Warnings, as predicates of the sentence, about what `cited` do not hold."""
    warnings = [
        f"says {_shorten(number)}, which is in no cited passage."
        for number in numbers_missing(sentence.text, (read.numbers for read in cited))
    ]
    warnings += [
        f"quotes “{_shorten(quote.text)}”, which is in no cited passage."
        for quote in sentence.quotes
        if not any(_holds(read, quote) for read in cited)
    ]
    if not any(_shares_a_word(sentence, read) for read in cited):
        warnings.append("shares no word with what it cites.")
    return warnings


def shorten_token(token: str) -> str:
    """Shorten a citation token to what a finding repeats."""
    return _shorten(token, _SHOWN_OF_TOKEN)


def _shorten(text: str, most: int = _SHOWN) -> str:
    return text if len(text) <= most else f"{text[:_SHOWN]}…"


def _verbatim(sentence: ReadSentence, read: ReadPassage) -> TextSpan | None:
    """Find the place where a passage says it in the same words.

    The mark of a list item or heading is left out, and the ends of lines do not matter.
    """
    for wording, letters in sentence.variants:
        read.compare()
        if span := _find(wording, read.text) or _find_letters(letters, read):
            return span
    return None


def _find(wording: str, text: str) -> TextSpan | None:
    for at in _places(wording, text):
        if _stands_alone(text, at, at + len(wording)):
            return TextSpan(at, at + len(wording))
    return None


def _find_letters(wording: str, read: ReadPassage) -> TextSpan | None:
    """Find the place where a passage of several lines says it, whatever blanks are between."""
    if "\n" not in read.text:
        return None
    letters, places = read.letters
    for at in _places(wording, letters):
        start, end = places[at], places[at + len(wording) - 1] + 1
        if _stands_alone(read.text, start, end):
            return TextSpan(start, end)
    return None


def _places(wording: str, text: str) -> Iterator[int]:
    """The first places where `text` has these characters, ascending."""
    at = text.find(wording) if wording else -1
    for _ in range(_MOST_PLACES):
        if at < 0:
            return
        yield at
        at = text.find(wording, at + 1)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Check that no word goes on over either end."""
    edges = (text[max(start - 1, 0) : start + 1] if start else "", text[end - 1 : end + 1])
    return not any(len(edge) == 2 and edge.isalnum() for edge in edges)


def _quotes(sentence: str) -> list[str]:
    quotes = ["".join(match.groups("")) for match in _QUOTED.finditer(sentence)]
    single = ["".join(match.groups("")) for match in _SINGLE.finditer(sentence)]
    return quotes + [quote for quote in single if len(quote.split()) >= _WORDS_OF_SINGLE]


def _holds(read: ReadPassage, quote: _Quote) -> bool:
    """Check that a passage holds every part of a quote, in order."""
    read.compare()
    at = 0
    for part in quote.parts(read.passage.language):
        start = read.folded.find(part, at) if part.strip() else at
        if start < 0:
            return False
        # the blank behind a part may be the one before the next
        at = max(start + len(part) - 1, at) if part.strip() else at
    return True


def _shares_a_word(sentence: ReadSentence, read: ReadPassage) -> bool:
    return not sentence.terms(read.passage.language).isdisjoint(read.terms)
