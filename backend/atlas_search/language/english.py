"""English words that several rules look for, each list in its one place."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from atlas_search.language.languages import FUNCTION_WORDS
from atlas_search.language.numerals import NUMBERS, SCALES
from atlas_search.language.text import words


def stems(listed: str) -> frozenset[str]:
    """Return the stems of words with blanks between them."""
    return frozenset(word.term for word in words(listed))


def any_of(listed: str) -> str:
    """Return a pattern for any of some words, whatever their case."""
    return rf"(?i:\b(?:{'|'.join(listed.split())})\b)"


MONTHS = (
    "january february march april may june july august september october november december".split()
)

AUXILIARIES = (
    "am is are was were do does did has have had can could may might must shall should will would"
)
NEGATIONS = "not never no neither nor none nobody nothing cannot without"
DENIES = re.compile(rf"{any_of(NEGATIONS)}|n['’]t\b", re.IGNORECASE)

_OPPOSITES = """
    north south; northern southern; east west; eastern western; increase decrease; increase reduce;
    rise fall; rose fell; grow shrink; gain lose; expand contract; most least; most fewest; high
    low; higher lower; highest lowest; large small; larger smaller; largest smallest; big small;
    biggest smallest; long short; longer shorter; longest shortest; old young; older younger; oldest
    youngest; oldest newest; first last; earliest latest; early late; begin end; start end; start
    stop; open closed; male female; man woman; men women; father mother; son daughter;
    brother sister; upper lower; top bottom; inside outside; internal external; interior exterior;
    domestic foreign; public private; rich poor; strong weak; stronger weaker; strongest weakest;
    hot cold; warm cool; wet dry; fast slow; faster slower; fastest slowest; heavy light; easy
    difficult; accept reject; approve reject; support oppose; friend enemy; allow forbid; allow
    prohibit; allow ban; permit forbid; permit prohibit; permit ban; guilty innocent; convicted
    acquitted; granted refused; granted denied; upheld overturned; affirmed reversed; positive
    negative; major minor; majority minority; maximum minimum; always never; create destroy; build
    destroy; built destroyed; include exclude; ancient modern; urban rural; birth death; born died;
    war peace; success failure; succeed fail; win lose; won lost; advantage disadvantage; simple
    complex; best worst; better worse; thick thin; wide narrow; deep shallow; common rare; similar
    different; voluntary compulsory; optional mandatory; optional required; encourage discourage;
    safe dangerous; liberal conservative; abolish retain; abolished kept; true false; present
    absent; alive dead; enable disable; encrypted plaintext; exempt liable
"""
"""Pairs of which one cannot be said where the other is meant; not `buy` and `sell`."""
_DENYING_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "anti")


def _pairs() -> dict[str, set[str]]:
    result: dict[str, set[str]] = {}
    for pair in _OPPOSITES.split(";"):
        one, other = (word.term for word in words(pair))
        result.setdefault(one, set()).add(other)
        result.setdefault(other, set()).add(one)
    return result


_OPPOSITE = _pairs()


@lru_cache(maxsize=1 << 15)  # sentences on one matter have the same words in many pairs
def are_opposite(one: str, other: str) -> bool:
    """Check if one of two folded words denies the other: `lawful` and `unlawful`."""
    first, second = _stem(one), _stem(other)
    return (
        second in _OPPOSITE.get(first, ())
        or second in _without_prefix(one)
        or first in _without_prefix(other)
    )


@lru_cache(maxsize=1 << 14)  # every word of a sentence is compared with every word of a question
def _stem(word: str) -> str:
    # a folded word may be several: `½` becomes `1⁄2`
    return " ".join(each.term for each in words(word))


@lru_cache(maxsize=1 << 14)
def _without_prefix(word: str) -> frozenset[str]:
    """Return the stems of what `word` may deny: that of `formal` for `informal`."""
    rests = [word.removeprefix(prefix) for prefix in _DENYING_PREFIXES]
    return frozenset(_stem(rest) for rest in rests if 3 < len(rest) < len(word))


NEAR = 0.035
"""Share by which two times may differ and be the same: 30 days are a month, four weeks are not."""

Bound = Literal["", "about", "most", "least", "over", "under"]

_DIGIT = re.compile(r"\d")
_LETTERS = re.compile("[a-z]+")
_SPELT = "|".join(sorted(NUMBERS, key=lambda word: (-len(word), word)))
_NUMBER = rf"(?:\d+(?:,\d{{3}})*(?:\.\d+)?|\b(?:{_SPELT})\b)"
_AMOUNT = re.compile(
    rf"(?P<money>(?:US|NZ|AU?|CA?)?[$£€¥]\s?)?(?<![\w.,])(?P<number>{_NUMBER})"
    rf"(?P<scale>\s?(?:{'|'.join(SCALES)})\b)?(?P<more>\s?(?:-|–|—|to|and|or)\s?[$£€¥]?{_NUMBER})?"
    r"(?P<percent>\s?(?:%|per ?cent\b))?(?![\d/]|\.\d)",
    re.IGNORECASE,
)
_DATE = re.compile(
    rf"\b(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)? )?(?P<month>{'|'.join(MONTHS)})"
    rf"(?: (?P<late>\d{{1,2}})(?:st|nd|rd|th)?,)?,? (?P<dated>[12]\d{{3}})\b|"
    r"(?<![\w$£€.,-])(?P<year>1\d{3}|20\d\d)(?![\w%-]|,\d|\.\d)",
    re.IGNORECASE,
)
_IN_DATE = re.compile(rf"\b(?:{'|'.join(MONTHS)}) (?:\d+,? )?$", re.IGNORECASE)
_BEFORE_YEAR = re.compile(r"(?:\b(?:in|since|by|of)|\b[A-Z]\w+\.?,?)\s$")
_AGED = re.compile(r"\bag(?:e|ed|es)(?: of)? $", re.IGNORECASE)
_NAMED = re.compile(r"(?:\b(?!in|by|since|from|on|until|of)[A-Z][\w’']*\.?,?\s|[(\[])$")
_BOUNDS: dict[Bound, str] = {
    "most": r"\b(?:up to|at (?:the )?most|maximum|(?:not?|never) (?:more|longer|later|greater|over|"
    r"older)(?: than)?|(?:not|never) exceed(?:ing)?|cannot exceed)",
    "least": r"\b(?:at least|minimum|not? (?:less|fewer|shorter|earlier) than)",
    "over": r"\b(?:(?:more|longer|greater) than|over|above|exceed(?:s|ing)?)",
    "under": r"\b(?:(?:less|fewer|shorter) than|under|below)",
    "about": r"(?:\b(?:about|approximately|around|nearly|almost|roughly|some|circa|an? estimated|"
    r"one of)|~|\bc\.)",
}
_BEFORE = {
    bound: re.compile(rf"{before}\s(?:of\s|the\s)?$", re.IGNORECASE)
    for bound, before in _BOUNDS.items()
}
_AFTER: dict[Bound, re.Pattern[str]] = {
    "least": re.compile(r"\s(?:or|and) (?:more|over|older|longer|above)\b|\sminimum\b"),
    "most": re.compile(r"\s(?:or|and) (?:less|fewer|under|shorter|below)\b|\smaximum\b"),
}
_FOLLOWING = re.compile(r"[\s-]([a-z]+)", re.IGNORECASE)
_RATE = re.compile(r"(?:\s(?:per|an?|(?:for )?(?:each|every))\s|/)([a-z]{3,})\b", re.IGNORECASE)
_ADVERB = re.compile(r"\s(hourly|daily|weekly|monthly|yearly|annually)\b", re.IGNORECASE)
_DAYS = {"second": 1 / 86400, "minute": 1 / 1440, "hour": 1 / 24, "day": 1.0, "week": 7.0}
_DAYS |= {"month": 365.25 / 12, "year": 365.25, "decade": 3652.5, "century": 36525.0}
_ADVERBS = {
    "hourly": "hour",
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "yearly": "year",
    "annually": "year",
}
_PLURAL = frozenset("people men women children".split())
_LONGEST_BEFORE = 100
"""Characters before an amount that tell what it is: what bounds it, a month, a name."""

_MEASURES = frozenset({"time", "age", "date"})

Value = float | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount of a unit, or a date (year, month, day as far as it is told), as it stands at
    `start` to `end` of a sentence.

    Times are in days. Amounts for each of a time (`requests/time`) are for a day, and `per` is the
    days that were named: 5 a minute are 7,200, per 1/1440. A range is `about` itself.
    """

    unit: str
    value: Value
    bound: Bound
    start: int
    end: int
    text: str
    per: float = 0.0

    @property
    def noun(self) -> str:
        """Stem of what is counted: `request`; empty for a measure or a date."""
        unit = self.unit.split("/")[0]
        return unit if unit.isalpha() and unit not in _MEASURES else ""

    def differs(self, other: "Quantity") -> bool:
        """Return whether both cannot be meant where both are exact, or bounds of one kind.

        Of rates for several times, a limit for the longer one is no use where what the shorter
        allows is less: 5 a minute and 500 an hour, but not 10 a minute and 500 an hour.
        """
        if isinstance(self.value, tuple) and isinstance(other.value, tuple):
            return any(a != b for a, b in zip(self.value, other.value, strict=False))
        one, two = float(self.value), float(other.value)  # type: ignore[arg-type]
        if self.per != other.per:
            short, long = (one, two) if self.per < other.per else (two, one)
            return short < (1 - NEAR) * long
        return abs(one - two) > (NEAR if self.unit == "time" else 1e-9) * max(one, two)

    def exceeds(self, other: "Quantity") -> bool:
        """Return whether it is an amount greater than the other."""
        if isinstance(self.value, tuple) or isinstance(other.value, tuple):
            return False
        return self.value > other.value


def quantities(sentence: str) -> list[Quantity]:
    """The amounts whose unit is known, then the dates; numbers of sections and names are none."""
    has_digit = bool(_DIGIT.search(sentence))
    # most sentences hold no number, and to see that takes a tenth of looking for amounts and dates
    if not has_digit and NUMBERS.keys().isdisjoint(_LETTERS.findall(sentence.lower())):
        return []
    amounts = [result for m in _AMOUNT.finditer(sentence) if (result := _amount(sentence, m))]
    in_amounts = {at for amount in amounts for at in range(amount.start, amount.end)}
    dates = [
        result
        for match in (_DATE.finditer(sentence) if has_digit else ())
        if match.start() not in in_amounts
        if (result := _date(sentence, match))
    ]
    return [*amounts, *dates]


def _date(sentence: str, match: re.Match[str]) -> Quantity | None:
    if match["year"]:
        if _stands_before(_NAMED, sentence, match.start()):
            return None
        parts: tuple[int, ...] = (int(match["year"]),)
    else:
        day = match["day"] or match["late"]
        month = MONTHS.index(match["month"].lower()) + 1
        parts = (int(match["dated"]), month, *([int(day)] if day else []))
    text = "-".join(f"{part:02}" for part in parts)
    return Quantity("date", parts, _bound(sentence, *match.span()), *match.span(), text)


def _amount(sentence: str, match: re.Match[str]) -> Quantity | None:
    number, begin = match["number"].lower(), match.start("number")
    is_year = len(number) == 4 and _stands_before(_BEFORE_YEAR, sentence, begin)
    if is_year or _stands_before(_IN_DATE, sentence, begin):
        return None
    if match["money"]:
        unit, end, scale = match["money"].strip(), match.end(), 1.0
    elif match["percent"]:
        unit, end, scale = "%", match.end(), 1.0
    elif _stands_before(_AGED, sentence, begin):
        unit, end, scale = "age", match.end("number"), 1.0
    elif (result := _unit(sentence, match.end())) is None:
        return None
    else:
        unit, end, scale = result
    per = 0.0
    if rate := _RATE.match(sentence, end) or _ADVERB.match(sentence, end):
        each = _singular(_ADVERBS.get(rate[1].lower(), rate[1].lower()))
        per, end = _DAYS.get(each, 0.0), rate.end()
        unit = f"{unit}/{'time' if per else each}"
    value = float(number.replace(",", "")) if number[0].isdigit() else float(NUMBERS[number])
    value *= 10.0 ** SCALES.get((match["scale"] or "").strip().lower(), 0)
    start = match.start("money") if match["money"] else match.start("number")
    bound = "about" if match["more"] else _bound(sentence, start, end)
    return Quantity(unit, value * scale / (per or 1.0), bound, start, end, sentence[start:end], per)


def _bound(sentence: str, start: int, end: int) -> Bound:
    """Return what the words directly before an amount, or behind it, make of it."""
    for bound, before in _BEFORE.items():
        if _stands_before(before, sentence, start):
            return bound
    return next((bound for bound, after in _AFTER.items() if after.match(sentence, end)), "")


def _stands_before(pattern: re.Pattern[str], sentence: str, at: int) -> bool:
    """Return whether a pattern that ends in `$` is found right before a place."""
    # only from near the place on, or a row of many amounts takes quadratic time
    return pattern.search(sentence, max(at - _LONGEST_BEFORE, 0), at) is not None


def _unit(sentence: str, end: int) -> tuple[str, int, float] | None:
    """A measure of time, or the first plural among the next three words; its end, and days."""
    for _ in range(3):
        following = _FOLLOWING.match(sentence, end)
        if not following or (word := following[1].lower()) in FUNCTION_WORDS:
            return None
        end = following.end()
        if days := _DAYS.get(_singular(word)):
            return "time", end, days
        if word in _PLURAL or (word.endswith("s") and not word.endswith("ss") and len(word) > 3):
            return words(word)[0].term, end, 1.0
    return None


def _singular(word: str) -> str:
    return "century" if word == "centuries" else word.removesuffix("s")
