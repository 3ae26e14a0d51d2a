"""Numbers in a sentence, and whether its sources hold them however they are written there."""

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import cached_property

from atlas_search.language.numerals import NUMBERS, ORDINALS, SCALES

_SEPARATORS = ".,'’ \u00a0\u2009\u202f"
_NUMBER = re.compile(
    rf"(?P<number>\d{{1,3}}(?:[{_SEPARATORS}]\d{{3}})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*)"
    r"(?:(?P<decade>['’]?s\b)|\s?(?P<scale>hundred|thousand|million|billion|trillion|m|bn|k)\b)?",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(rf"[{_SEPARATORS}]")
_SPANNED = re.compile(r"(?<!\d)(\d\d)\d\d[-–—/](\d\d)(?!\d)")
_ITEM = re.compile(r"\s*\d{1,3}[.)]\s")
_LONGEST = 18  # digits; longer ones are serial numbers, not amounts
_WORDS = NUMBERS | {word: value for value, word in enumerate(ORDINALS[:12], start=1)}
# the longest first: `twenty-one` is not twenty
_WORD = re.compile(rf"\b(?:{'|'.join(sorted(_WORDS, key=len, reverse=True))})\b", re.IGNORECASE)


def numbers_of(text: str) -> frozenset[str]:
    """Every number of a text in every way it can be read: as `1000`, `3.5`.

    `1.000` is read as a thousand and as one; `1914-18` holds 1918; `3 million` holds 3; small
    numbers may be written in English words.
    """
    found = {f"{first}{last}" for first, last in _SPANNED.findall(text)}
    for match in _NUMBER.finditer(text):
        found |= _readings(match)
        if _is_list(match["number"]):
            found |= {_whole(part) for part in _parts(match["number"])}
    return frozenset(found | {str(_WORDS[word.lower()]) for word in _WORD.findall(text)})


class KnownNumbers:
    """What `numbers_of` found, to look up the numbers of sentences in."""

    def __init__(self, readings: frozenset[str]):
        self.readings = readings

    @cached_property
    def decades(self) -> frozenset[str]:
        """Every number without its last character."""
        return frozenset(number[:-1] for number in self.readings)


def numbers_missing(sentence: str, known: Iterable[KnownNumbers]) -> list[str]:
    """The numbers of a sentence, as written and sorted, that are in none of `known`.

    The number of a list item is none. `known` is not looked at for a sentence without numbers.
    """
    item = _ITEM.match(sentence)
    found = list(_NUMBER.finditer(sentence, item.end() if item else 0))
    if not found:
        return []
    places = list(known)
    return sorted({match["number"] for match in found if not _hold(places, match)})


def _hold(known: Sequence[KnownNumbers], match: re.Match[str]) -> bool:
    number, readings = match["number"], _readings(match)
    if any(not readings.isdisjoint(each.readings) for each in known):
        return True
    if match["decade"] and number.endswith("0"):
        return any(number[:-1] in each.decades for each in known)
    return _is_list(number) and all(
        any(_whole(part) in each.readings for each in known) for part in _parts(number)
    )


def _readings(match: re.Match[str]) -> set[str]:
    """The number with its separators as marks of thousands, and as decimal ones."""
    *head, last = _parts(match["number"])
    if not head:
        found = {_whole(last)}
    else:
        found = {_decimal("".join(head), last)}
        if all(len(part) == 3 for part in (*head[1:], last)):
            found.add(_whole("".join(head) + last))
    if match["scale"]:
        found |= {_scale(reading, SCALES[match["scale"].lower()]) for reading in found}
    return found


def _is_list(number: str) -> bool:
    """Whether it may be several numbers: a date, a section, or two with a blank between them."""
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
    if len(reading) > _LONGEST:
        return reading
    return f"{Decimal(reading).scaleb(power).normalize():f}"
