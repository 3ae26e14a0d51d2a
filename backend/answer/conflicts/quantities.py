"""Amounts in an English sentence, each with its unit, so that two can be told to differ."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Literal, NamedTuple

from backend.text import FUNCTION_WORDS, words

Bound = Literal["exact", "least", "most"]

ROUNDED = 0.05  # share by which an amount of a thousand or more may be off if it looks rounded
ABOUT = 0.1  # the same after "about"
NEAR = 0.035  # 30 days are a month, and four weeks are not

_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
_TEENS = "fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_VALUES = {word: value for value, word in enumerate(f"{_ONES} {_TEENS}".split())} | {
    word: 10 * value for value, word in enumerate(_TENS.split(), start=2)
}
NUMBER_WORDS = frozenset(_VALUES)
_SCALES = {"hundred": 1e2, "thousand": 1e3, "k": 1e3, "million": 1e6, "m": 1e6}
_SCALES |= {"billion": 1e9, "bn": 1e9, "trillion": 1e12}
_SPELT = "|".join(sorted(_VALUES, key=lambda word: (-len(word), word)))
_NUMBER = rf"(?:\d+(?:,\d{{3}})*(?:\.\d+)?|\b(?:{_SPELT})(?:-(?:{_SPELT}))?\b)"
_SCALE = r"(?:\s?(?:hundred|thousand|million|billion|trillion)|(?:k|m|bn))\b"
_AMOUNT = re.compile(
    rf"(?P<money>(?:US|NZ|AU?|CA?)?[$£€¥]\s?)?(?<![\w.])(?P<first>{_NUMBER})"
    rf"(?P<scale>{_SCALE})?(?:\s?(?:-|–|—|to|and|or)\s?[$£€¥]?(?P<last>{_NUMBER})"
    rf"(?P<last_scale>{_SCALE})?)?(?![\d/]|\.\d)",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:1\d|20)\d\d$")
_BEFORE_YEAR = re.compile(r"(?:\b(?:in|since)|\b[A-Z]\w+\.?,?|\d,)\s$")
_PERCENT = re.compile(r"\s?(?:%|per ?cent\b)(?! points)", re.IGNORECASE)
_FOLLOWING = re.compile(r"[\s-]([a-z]+)", re.IGNORECASE)
_RATE = re.compile(r"(?:\s(?:per|an?|(?:for )?each)\s|/)([a-z]{3,})\b", re.IGNORECASE)
_OLD = re.compile(r"[\s-](?:old|of age)\b", re.IGNORECASE)
_LIMITS: Mapping[Bound, str] = {
    "most": r"(?:no|not) (?:more|later|longer|greater|older) than|(?:not|never) exceed(?:ing)?|"
    r"at (?:the )?most|up to|within|less than|fewer than|under|below|maximum|limited to|"
    r"capped at|limit (?:is|was|to|at)|until",
    "least": r"(?:no|not) (?:less|fewer|younger|earlier|sooner) than|at least|more than|over|"
    r"above|exceed(?:s|ed|ing)?|minimum|longer than|older than|greater than|after",
}
_BEFORE = {
    bound: re.compile(rf"\b(?:{pattern})\s(?:of\s|a\s|the\s)?$", re.IGNORECASE)
    for bound, pattern in _LIMITS.items()
}
_ROUGHLY = re.compile(
    r"(?:\b(?:about|approximately|around|nearly|almost|roughly|some|circa|an? estimated)|~|\bc\.)"
    r"\s?$",
    re.IGNORECASE,
)
_AFTER: Mapping[Bound, re.Pattern[str]] = {
    "least": re.compile(r"[\w\s]{0,20}?\bor (?:more|over|older|longer)\b"),
    "most": re.compile(r"[\w\s]{0,20}?\bor (?:less|fewer|under|younger)\b"),
}
_CEILING = re.compile(
    r"\b(?:limit|maximum|cap|quota|ceiling|deadline|window|period|may|can|(?:allow|accept|permit|"
    r"support)(?:s|ed)?)\b",
    re.IGNORECASE,
)
_FLOOR = re.compile(r"\bminimum\b", re.IGNORECASE)
_AGED = re.compile(r"\b(?:aged?(?: of)?|ages)\s$", re.IGNORECASE)
_DAYS = {"second": 1 / 86400, "minute": 1 / 1440, "hour": 1 / 24, "day": 1.0, "week": 7.0}
_DAYS |= {"month": 365.25 / 12, "year": 365.25, "decade": 3652.5, "century": 36525.0}
_MEASURES = {word: ("time", days) for word, days in _DAYS.items()} | {
    "metre": ("length", 1.0),
    "meter": ("length", 1.0),
    "km": ("length", 1e3),
    "kilometre": ("length", 1e3),
    "kilometer": ("length", 1e3),
    "mile": ("length", 1609.34),
    "foot": ("length", 0.3048),
    "feet": ("length", 0.3048),
    "kg": ("weight", 1.0),
    "kilogram": ("weight", 1.0),
    "tonne": ("weight", 1e3),
    "dollar": ("$", 1.0),
    "cent": ("$", 0.01),
    "pound": ("£", 1.0),
    "pence": ("£", 0.01),
    "euro": ("€", 1.0),
}
_PLURAL = frozenset("people men women children".split())


class _Unit(NamedTuple):
    """The name of a unit, what an amount is multiplied by for it, and where it ends."""

    name: str
    scale: float
    end: int


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount from `low` to `high` of a unit, as it stands at `start` to `end` of a sentence.

    Times are in days, lengths in metres and money in the currency, and `scale` is what it was
    multiplied by for that. `slack` is the share it may be off.
    """

    unit: str
    scale: float
    low: float
    high: float
    bound: Bound
    slack: float
    start: int
    end: int
    text: str

    def differs(self, other: "Quantity") -> bool:
        """Whether no value fits both. Two limits of the same sort must be the same limit."""
        converted = NEAR if self.scale != other.scale else 1e-9
        slack = max(self.slack, other.slack, converted)
        if self.bound == other.bound != "exact":
            return abs(self.low - other.low) > slack * max(self.low, other.low)
        (low, high), (other_low, other_high) = self._range, other._range
        return high < other_low * (1 - slack) or other_high < low * (1 - slack)

    @property
    def _range(self) -> tuple[float, float]:
        low = 0.0 if self.bound == "most" else self.low
        return low, inf if self.bound == "least" else self.high


def quantities(sentence: str) -> list[Quantity]:
    """The amounts whose unit is known, in order; years and the numbers of sections are none."""
    found = (_quantity(sentence, match) for match in _AMOUNT.finditer(sentence))
    return [quantity for quantity in found if quantity]


def _quantity(sentence: str, match: re.Match[str]) -> Quantity | None:
    is_range = bool(match["last"]) and _joins(sentence, match)
    if match["last"] and not is_range:  # a score, or two numbers of different things
        return None
    before = sentence[: match.start()]
    if _YEAR.match(match["first"]) and _BEFORE_YEAR.search(before):
        return None
    unit = _unit(sentence, match, before)
    if not unit:
        return None
    low = _value(match["first"], match["scale"] or match["last_scale"] or "") * unit.scale
    high = _value(match["last"], match["last_scale"] or "") * unit.scale if is_range else low
    slack = ABOUT if _ROUGHLY.search(before) else ROUNDED if _looks_rounded(match) else 0.0
    return Quantity(
        unit=unit.name,
        scale=unit.scale,
        low=low,
        high=high,
        bound=_bound(sentence, before, unit.end),
        slack=slack,
        start=match.start(),
        end=unit.end,
        text=sentence[match.start() : unit.end],
    )


def _joins(sentence: str, match: re.Match[str]) -> bool:
    """Whether two numbers are the ends of a range, not a score or two things."""
    joint = sentence[match.end("scale") if match["scale"] else match.end("first") :].lstrip()
    between = re.search(r"\bbetween\s[$£€¥]?$", sentence[: match.start()], re.IGNORECASE)
    rising = _value(match["first"], "") < _value(match["last"], "") or bool(match["last_scale"])
    return rising and (bool(between) or not joint.lower().startswith("and"))


def _value(number: str, scale: str) -> float:
    parts = number.lower().split("-")
    value = (
        float(number.replace(",", ""))
        if number[0].isdigit()
        else float(sum(_VALUES[part] for part in parts))
    )
    return value * _SCALES.get(scale.strip().lower(), 1.0)


def _looks_rounded(match: re.Match[str]) -> bool:
    digits = match["first"].replace(",", "")
    return bool(match["scale"]) or (len(digits) > 3 and digits.endswith("00"))


def _unit(sentence: str, match: re.Match[str], before: str) -> _Unit | None:
    """What the number counts, with the rate it is counted at; None if nothing is known."""
    if match["money"]:
        return _rated(sentence, _Unit(match["money"].strip(), 1.0, match.end()))
    unit = _named_unit(sentence, match.end())
    if _AGED.search(before) or (unit and _OLD.match(sentence, unit.end)):
        return _Unit("age", 1.0, match.end()) if not unit or unit.name == "time" else unit
    return _rated(sentence, unit) if unit else None


def _named_unit(sentence: str, end: int) -> _Unit | None:
    """A measure behind the number, or else the first plural among the next three words."""
    if percent := _PERCENT.match(sentence, end):
        return _Unit("%", 1.0, percent.end())
    for _ in range(3):
        following = _FOLLOWING.match(sentence, end)
        if not following or (word := following[1].lower()) in FUNCTION_WORDS:
            return None
        end = following.end()
        if measure := _MEASURES.get(word) or _MEASURES.get(_singular(word)):
            return _Unit(*measure, end)
        if word in _PLURAL or (word.endswith("s") and not word.endswith("ss") and len(word) > 3):
            return _Unit(words(word)[0].term, 1.0, end)
    return None


def _rated(sentence: str, unit: _Unit) -> _Unit:
    """The unit with what follows it: `requests per minute`."""
    rate = _RATE.match(sentence, unit.end)
    if not rate:
        return unit
    per = _singular(rate[1].lower())
    if per in _DAYS:
        return _Unit(f"{unit.name}/time", unit.scale / _DAYS[per], rate.end())
    return _Unit(f"{unit.name}/{per}", unit.scale, rate.end())


def _singular(word: str) -> str:
    if word == "centuries":
        return "century"
    return word.removesuffix("s") if len(word) > 2 else word


def _bound(sentence: str, before: str, end: int) -> Bound:
    for bound, pattern in _BEFORE.items():
        if pattern.search(before):
            return bound
    for bound, pattern in _AFTER.items():
        if pattern.match(sentence, end):
            return bound
    if _FLOOR.search(sentence):
        return "least"
    return "most" if _CEILING.search(sentence) else "exact"
