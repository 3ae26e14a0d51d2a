"""Amounts and dates in an English sentence, so that two can be told to differ."""

import re
from dataclasses import dataclass

from atlas_search.language.english import MONTHS, NUMBERS, SCALES
from atlas_search.language.text import FUNCTION_WORDS, words

NEAR = 0.035
"""Share by which two times may differ and be the same: 30 days are a month, four weeks are not."""

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
_VAGUE = re.compile(
    r"(?:\b(?:about|approximately|around|nearly|almost|roughly|some|circa|an? estimated|at least|"
    r"(?:more|less|fewer) than|over|under|above|below|minimum|no more than|one of)|~|\bc\.)\s"
    r"(?:of\s|the\s)?$",
    re.IGNORECASE,
)
_FOLLOWING = re.compile(r"[\s-]([a-z]+)", re.IGNORECASE)
_RATE = re.compile(r"(?:\s(?:per|an?|(?:for )?each)\s|/)([a-z]{3,})\b", re.IGNORECASE)
_DAYS = {"second": 1 / 86400, "minute": 1 / 1440, "hour": 1 / 24, "day": 1.0, "week": 7.0}
_DAYS |= {"month": 365.25 / 12, "year": 365.25, "decade": 3652.5, "century": 36525.0}
_PLURAL = frozenset("people men women children".split())

Value = float | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount of a unit, or a date (year, month, day as far as it is told), as it stands at
    `start` to `end` of a sentence. Times are in days. A `vague` one is about that, or a bound or
    range."""

    unit: str
    value: Value
    vague: bool
    start: int
    end: int
    text: str

    def differs(self, other: "Quantity") -> bool:
        """Whether both cannot be meant. Nothing differs from what is vague."""
        if self.vague or other.vague:
            return False
        if isinstance(self.value, tuple) and isinstance(other.value, tuple):
            return any(a != b for a, b in zip(self.value, other.value, strict=False))
        one, two = float(self.value), float(other.value)  # type: ignore[arg-type]
        return abs(one - two) > (NEAR if self.unit == "time" else 1e-9) * max(one, two)


def quantities(sentence: str) -> list[Quantity]:
    """The amounts whose unit is known, then the dates; numbers of sections and names are none."""
    amounts = [found for m in _AMOUNT.finditer(sentence) if (found := _amount(sentence, m))]
    dates = [
        found
        for match in _DATE.finditer(sentence)
        if not any(amount.start <= match.start() < amount.end for amount in amounts)
        if (found := _date(sentence, match))
    ]
    return [*amounts, *dates]


def _date(sentence: str, match: re.Match[str]) -> Quantity | None:
    if match["year"]:
        if _NAMED.search(sentence[: match.start()]):
            return None
        parts: tuple[int, ...] = (int(match["year"]),)
    else:
        day = match["day"] or match["late"]
        month = MONTHS.index(match["month"].lower()) + 1
        parts = (int(match["dated"]), month, *([int(day)] if day else []))
    vague = bool(_VAGUE.search(sentence[: match.start()]))
    text = "-".join(f"{part:02}" for part in parts)
    return Quantity("date", parts, vague, *match.span(), text)


def _amount(sentence: str, match: re.Match[str]) -> Quantity | None:
    number, before = match["number"].lower(), sentence[: match.start("number")]
    if _IN_DATE.search(before) or (len(number) == 4 and _BEFORE_YEAR.search(before)):
        return None
    if match["money"]:
        unit, end, scale = match["money"].strip(), match.end(), 1.0
    elif match["percent"]:
        unit, end, scale = "%", match.end(), 1.0
    elif _AGED.search(before):
        unit, end, scale = "age", match.end("number"), 1.0
    elif (found := _unit(sentence, match.end())) is None:
        return None
    else:
        unit, end, scale = found
    if rate := _RATE.match(sentence, end):
        unit, end = f"{unit}/{_singular(rate[1].lower())}", rate.end()
    value = float(number.replace(",", "")) if number[0].isdigit() else float(NUMBERS[number])
    value *= 10.0 ** SCALES.get((match["scale"] or "").strip().lower(), 0)
    start = match.start("money") if match["money"] else match.start("number")
    vague = bool(match["more"] or _VAGUE.search(sentence[:start]))
    return Quantity(unit, value * scale, vague, start, end, sentence[start:end])


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
