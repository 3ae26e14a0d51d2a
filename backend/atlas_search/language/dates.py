"""Dates as sources and archives write them: full, partial, approximate or open.

A date stands for every day it can mean. Where a form has two readings, its days are those of both:

    1954-05-17, 17 May 1954, May 17th, 1954, 17/05/1954       the day; the time of day is ignored
    1954-05, May 1954; 1954, [1954], 19[54], early 1954       all of the month; all of the year
    1890s, 189X, [189-]; 1900s, 19XX, [19--]                  the decade; the century
    19th century                                              1800 to 1900: centuries start twice
    1954~, c. 1954, about 1954                                5 years either way, 1949 to 1959
    1954-05~, about 17 May 1954                               one month, one week either way
    1954?, probably 1954                                      the date itself: doubt has no width
    1901/1903, 1901–1903, between 1901 and 1903, 1898-99      from the first day to the last
    1901/.., 1901-, since 1901, after 1900; before 1901       open at one end
    1954-21, Spring 1954; 1954-33                             northern season; quarter

Five years are what cataloguers allow `ca. 1610`: 1605 to 1615 (Cataloging Cultural Objects, 2006,
4.2.3.2). A span such as a decade is not widened. Month names are English. Nothing is guessed:
`03/04/1954`, numbers, versions, citations and titles are no dates.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from functools import lru_cache

Days = tuple[date, date]
OPEN_START, OPEN_END = date.min.isoformat(), date.max.isoformat()
"""Days that `bounds` gives for an end that a date leaves open."""

_LONGEST = 60  # characters; whatever is longer is a text
_DAY = timedelta(days=1)
# for EDTF's codes from 21: seasons, of the north, of the south; quarters, thirds, halves of a year
_FIRST_MONTHS = (3, 6, 9, 12, 3, 6, 9, 12, 9, 12, 3, 6, 1, 4, 7, 10, 1, 5, 9, 1, 7)
_NAMES = "jan feb mar apr may jun jul aug sep oct nov dec spr sum aut win fal".split()
_NUMBERS = dict(zip(_NAMES, (*range(1, 13), 21, 22, 23, 24, 23), strict=True))


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.ASCII | re.IGNORECASE)


_Y = r"(?P<year>[0-2]\d{3})"  # not 5000, of feet or of copies
_M = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|spring|summer|autumn|fall|winter)\.?"
)
_TH = "(?:st|nd|rd|th)"
_D = rf"(?P<day>[0-3]?\d){_TH}?"
_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\.?,? )?"
_ZONE = r"(?: ?(?:z|[ap]m|[+-]\d\d:?(?:\d\d)?|[a-z]{3,4}))?(?: \([a-z ]+\))?"
_CLOCK = rf"(?:(?:t|,? )[0-2]?\d:[0-5]\d(?::[0-6]\d(?:\.\d+)?)?{_ZONE})?"
# `C1954` begins like the number of something; catalogues write `c1954`, also for copyright
_CIRCA = r"circa |ca\.? ?|c\. ?|(?-i:c) ?|(?:about|around|approximately|approx\.?) |~"
_PLAIN = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")
_MAYBE = _pattern(rf"\d\d[\dx-]{{2}}|\d{_TH}")
_OPEN = _pattern(r"(?P<word>before|after|not before|not after|since|from|until|by) (?P<date>.+)")
_BETWEEN = _pattern(r"(?:between|from) (?P<ends>.+)")
_SEPARATORS = (" to ", "/", "–", " - ", " or ", "-")
_MARKED = _pattern(
    rf"(?:(?:probably|possibly|perhaps|copyright) |© ?)?(?P<about>{_CIRCA})?(?:the )?"
    r"(?:(?:early|mid|late)[ -](?:the )?)?(?P<date>.+?)(?: ?(?P<mark>[?~%]|\(\?\)))?\.?"
)
_CHARACTERS = str.maketrans(dict.fromkeys("[]") | dict.fromkeys("‒—―−", "–") | {"‐": "-", "‑": "-"})


def bounds(text: str) -> tuple[str, str] | None:
    """Return the first and last day that the date `text` can mean, as ISO dates.

    None if it is no date. Dates sort by (first day, last day, text). An open end is OPEN_START or
    OPEN_END.
    """
    text = text.strip()
    match = _PLAIN.fullmatch(text)
    if match:
        year, month, day = match.groups()
        last_month = int(month or 12)
        try:
            first = date(int(year), int(month or 1), int(day or 1))
            last_day = int(day or monthrange(first.year, last_month)[1])
            return first.isoformat(), date(first.year, last_month, last_day).isoformat()
        except ValueError:
            pass  # the 21 of 1954-21 is not a month but a season
    return _written_days(text) if len(text) <= _LONGEST else None


@lru_cache(maxsize=1 << 14)
def _written_days(text: str) -> tuple[str, str] | None:
    text = " ".join(text.translate(_CHARACTERS).split())
    if not _MAYBE.search(text):
        return None
    try:
        days = _read_unmarked(text) or _read_marked(text, _read_unmarked)
    except (ValueError, OverflowError):  # the form of a date, but no calendar has that day
        return None
    return (days[0].isoformat(), days[1].isoformat()) if days and days[0] <= days[1] else None


def _read_unmarked(text: str) -> Days | None:
    return _date(text) or _open(text) or _interval(text)


def _date(text: str) -> Days | None:
    for pattern, days in _FORMS:
        if match := pattern.fullmatch(text):
            return days(match)
    return None


def _open(text: str) -> Days | None:
    match = _OPEN.fullmatch(text)
    if not match or not (days := _date(match["date"])):
        return None
    word = match["word"].lower()
    if word == "before":
        return date.min, days[0] - _DAY
    if word == "after":
        return days[1] + _DAY, date.max
    return (days[0], date.max) if word in {"since", "from", "not before"} else (date.min, days[1])


def _interval(text: str) -> Days | None:
    between = _BETWEEN.fullmatch(text)
    for separator in (" and ", *_SEPARATORS) if between else _SEPARATORS:
        left, result, right = (between["ends"] if between else text).partition(separator)
        if result and separator not in right:
            days = _ends(left.strip(), right.strip(), separator)
            if days:
                return days
    return None


def _ends(left: str, right: str, separator: str) -> Days | None:
    # each may leave out what the other says: `17–19 May 1954`, `May 17–19, 1954`
    before, after = left.split(), right.split()
    starts = [left] + [" ".join((left, *after[n:])) for n in range(1, len(after))]
    # a leading dash is a minus: `-1901` is a year before our era
    open_start = separator == "/" and left in {"", ".."}
    first = (date.min, date.min) if open_start else _first_date(starts)
    stops = [right] + [" ".join((*before[:n], right)) for n in range(1, len(before))]
    open_ended = right in {"", "..", "present"}
    last = (date.max, date.max) if open_ended else first and _first_date(stops)
    return (first[0], last[1]) if first and last else None


def _first_date(texts: Iterable[str]) -> Days | None:
    return next(
        (days for text in texts if (days := _date(text) or _read_marked(text, _date))), None
    )


def _read_marked(text: str, read: Callable[[str], Days | None]) -> Days | None:
    match = _MARKED.fullmatch(text)
    if not match or match["date"] == text:
        return None
    days = read(match["date"])
    about = match["about"] or match["mark"] in {"~", "%"}
    return _about(*days) if days and about else days


def _about(first: date, last: date) -> Days:
    length = (last - first).days
    if length == 0:
        return first - 7 * _DAY, last + 7 * _DAY
    if length <= 30:
        after = last + _DAY
        return (first - _DAY).replace(day=1), _months(after.year, after.month)[1]
    if first == date(first.year, 1, 1) and last == date(first.year, 12, 31):
        return _years(first.year - 5, last.year + 5)
    return first, last


def _years(first: int, last: int) -> Days:
    return date(max(first, 1), 1, 1), date(last, 12, 31)


def _months(year: int, number: int) -> Days:
    """Return a month, or what EDTF numbers from 21 on."""
    first, count = number, 1
    if number > 12:
        if not 21 <= number <= 41:
            raise ValueError(f"{number} is neither a month nor a season")
        first, count = _FIRST_MONTHS[number - 21], 3 if number < 37 else 4 if number < 40 else 6
    more, last = divmod(first + count - 2, 12)
    day = monthrange(year + more, last + 1)[1]
    return date(year, first, 1), date(year + more, last + 1, day)


def _parts(match: re.Match[str]) -> Days:
    parts = match.groupdict()
    year, month = int(parts["year"]), parts.get("month")
    if not month:
        return _years(year, year)
    number = _NUMBERS.get(month[:3].lower()) or int(month)
    if parts.get("day"):
        day = date(year, number, int(parts["day"]))
        return day, day
    pair = year - year % 100 + number
    if month.isdigit() and number > 12 and year < pair <= year + 10:
        return _years(year, pair)  # `1923-24` can be two years as well as EDTF's winter
    return _months(year, number)


def _short_pair(match: re.Match[str]) -> Days:
    year, short = match["year"], match["short"]
    last = int(year[: -len(short)] + short)
    if match["slash"] and (int(short) <= 12 or last != int(year) + 1):
        raise ValueError("it can be a month, or number a case")
    return _years(int(year), last)


def _digits(match: re.Match[str]) -> Days:
    return _years(int(match["digits"].ljust(4, "0")), int(match["digits"].ljust(4, "9")))


def _century(match: re.Match[str]) -> Days:
    last = 100 * int(match["number"])
    return _years(last - 100, last)


def _numeric(match: re.Match[str]) -> Days:
    year, one, two = (int(match[name]) for name in ("year", "one", "two"))
    if one != two and one <= 12 and two <= 12:
        raise ValueError("either can be the month")
    day = date(year, two, one) if one > 12 else date(year, one, two)
    return day, day


_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Days]], ...] = (
    (_pattern(rf"{_Y}(?:-XX(?:-XX)?|-(?P<month>\d\d)(?:-XX|-(?P<day>\d\d){_CLOCK})?)?"), _parts),
    (_pattern(rf"{_Y}/(?P<month>\d\d?)/(?P<day>\d\d?)"), _parts),
    (_pattern(rf"{_WEEKDAY}{_D}(?: of)?[ -]{_M}[ ,-]+{_Y}{_CLOCK}"), _parts),
    (_pattern(rf"{_WEEKDAY}{_M} {_D},? {_Y}{_CLOCK}"), _parts),
    (_pattern(rf"{_M}(?: of)?[ ,-]+{_Y}"), _parts),
    (_pattern(rf"{_Y},? {_M}(?: {_D})?"), _parts),
    (_pattern(r"(?P<digits>[0-2]\d\d)[x-](?:-xx){0,2}"), _digits),
    (_pattern(r"(?P<digits>[0-2]\d)(?:xx|--)(?:-xx){0,2}"), _digits),
    (_pattern(r"(?P<digits>[0-2]\d[1-9])0['’]?s"), _digits),
    (_pattern(r"(?P<digits>[0-2]\d)00['’]?s"), _digits),
    (_pattern(rf"(?P<number>[12]?\d){_TH}[ -](?:c\.|cent\.?|century|centuries)"), _century),
    (_pattern(rf"{_Y}(?:(?P<slash>/)|–)(?P<short>\d\d?)"), _short_pair),
    (_pattern(rf"(?P<one>\d\d?)(?P<by>[/.-])(?P<two>\d\d?)(?P=by){_Y}"), _numeric),
)
