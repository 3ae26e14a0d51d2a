"""Numbers that can be written in several ways: `175,000,000`, `175 million`, `one hundred and
seventy-five million`, `fifth`."""

import re
from collections.abc import Collection, Iterator
from decimal import Decimal
from typing import NamedTuple

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_BELOW_HUNDRED = {word: value for value, word in enumerate(_UNITS)} | {
    word: value for value, word in zip(range(20, 100, 10), _TENS, strict=True)
}
NUMBERS = _BELOW_HUNDRED | {
    f"{ten}{joint}{unit}": _BELOW_HUNDRED[ten] + _BELOW_HUNDRED[unit]
    for ten in _TENS
    for unit in _UNITS[1:10]
    for joint in "- "
}
"""Values of the words for numbers below a hundred: `twenty-one`, `twenty one`."""

ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
SCALES = {
    "hundred": 2,
    "thousand": 3,
    "k": 3,
    "million": 6,
    "m": 6,
    "billion": 9,
    "bn": 9,
    "trillion": 12,
}
"""Powers of ten."""


_PLAIN = {word: Decimal(value) for word, value in NUMBERS.items() if word.isalpha()}
_SCALES = {word: Decimal(10**power) for word, power in SCALES.items() if len(word) > 2}
_ORDINALS = {word: f"{value}th" for value, word in enumerate(ORDINALS, start=1)} | {"third": "3rd"}
_COMMON = frozenset(("zero", "one", "first", "second"))
"""Words that need not be numbers where they stand alone: one says, a second."""

_GROUPED = r"\d{{1,3}}(?:[{}’'\u00a0\u2009\u202f]\d{{3}})+(?![.,]?\d)"
_WORD = "|".join(sorted((*_PLAIN, *_SCALES), key=len, reverse=True))
_ENGLISH = re.compile(
    rf"(?<![\w.,])(?:{_GROUPED.format(',')}|\d+(?:\.\d+)?(?=[ -](?:{'|'.join(_SCALES)})\b)"
    rf"|(?:{_WORD})\b)(?:(?:[ -]|\s+and\s+)(?:{_WORD})\b)*|\b(?:{'|'.join(_ORDINALS)})\b"
)
_TELLING = {word for word in (*_PLAIN, *_SCALES, *_ORDINALS) if word not in _COMMON}
_TELLING |= {word.title() for word in _TELLING} | {word.upper() for word in _TELLING}
_PIECE = re.compile(r"[a-z]+|\d[^a-z -]*")


class Numeral(NamedTuple):
    """A number from `start` to `end` of a text, in digits: `175000000`, `3.5`, `5th`."""

    start: int
    end: int
    digits: str


def numerals(text: str, surfaces: Collection[str], language: str) -> Iterator[Numeral]:
    """Return the numbers of an English `text` that are written in words, wholly or in part.

    `surfaces` are the words of the text: most texts have no number, which is seen from these in no
    time.
    """
    if language != "en" or _TELLING.isdisjoint(surfaces):
        return
    small = text.lower()
    for each in _ENGLISH.finditer(small if len(small) == len(text) else text):
        written = each.group()
        if written in _ORDINALS:
            if written not in _COMMON:
                yield Numeral(*each.span(), _ORDINALS[written])
            continue
        for start, end, value in _values(written):
            if written[start:end] not in _COMMON and not written[end - 1].isdigit():
                at = each.start()
                yield Numeral(at + start, at + end, f"{value.normalize():f}")


def _values(written: str) -> Iterator[tuple[int, int, Decimal]]:
    """Return the numbers of a run of English words and digits, with their places: `two hundred and
    five` is one, `five six` are two."""
    start = end = 0
    total = current = Decimal(0)
    room, limit = Decimal("inf"), Decimal("inf")  # what comes next must be smaller
    for piece in _PIECE.finditer(written):
        word = piece.group()
        if word == "and":
            continue
        scale = _SCALES.get(word, Decimal(0))
        value = _PLAIN[word] if word in _PLAIN else Decimal(re.sub(r"[^\d.]", "", word) or 0)
        if (scale >= limit) if scale else (value >= room):
            yield start, end, total + current
            start, total, current, limit = piece.start(), Decimal(0), Decimal(0), Decimal("inf")
        end = piece.end()
        if scale > 100:
            total, current = total + (current or 1) * scale, Decimal(0)
            room = limit = scale
        elif scale:
            current, room = (current or 1) * scale, scale
        else:
            current += value
            room = Decimal(10 if value >= 20 and not value % 10 else 0)
    yield start, end, total + current
