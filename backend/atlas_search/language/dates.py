"""Dates as sources and archives write them: full, partial, approximate or open.

A date stands for every day it can mean. Where a form has two readings, its days are those of both:

    1954-05-17, 17 May 1954, May 17th, 1954, 17/05/1954       the day; the time of day is ignored
    12. Mai 1954, 3 de mayo de 1902, 12.V.1954, 20240131      the day, as is 2024年5月6日
    1954-05, May 1954; 1954, [1954], 19[54], early 1954       all of the month; all of the year
    1890s, 189X, [189-]; 1900s, 19XX, [19--]                  the decade; the century
    19th century, XIXe siècle                                 1800 to 1900: centuries start twice
    1954~, c. 1954, about 1954                                5 years either way, 1949 to 1959
    1954-05~, about 17 May 1954                               one month, one week either way
    1954?, probably 1954, n.d. [1954]                         the date itself: doubt has no width
    1901/1903, 1901–1903, between 1901 and 1903, 1898-99      from the first day to the last
    1905/06                                                   both years, and June of the first
    1901, 1910-1912                                           from the first day to the last
    1901/.., 1901-, since 1901, after 1900; before 1901       open at one end
    1954-21, Spring 1954; 1954-33; 2024-W05                   northern season; quarter; week
    44 BC, -0043, 5th century BC; AD 79; MDCCLXXVI            before our era; in it; 1776
    12 brumaire an VIII                                       3 November 1799
    10 February 1723/4                                        of 1724, as historians count

Five years are what cataloguers allow `ca. 1610`: 1605 to 1615 (Cataloging Cultural Objects, 2006,
4.2.3.2). A span such as a decade is not widened. Words are English, French, German, Spanish,
Italian, Dutch or Portuguese. A Julian day stays as it is written. Nothing is guessed:
`03/04/1954`, numbers, versions, citations and titles are no dates.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from functools import lru_cache

from atlas_search.language.languages import fold

Day = tuple[int, int, int]
"""A year, a month and a day. The year before 1 is 0, and that before it -1, as in ISO 8601."""
Days = tuple[Day, Day]
_EARLIEST, _LATEST = (-9999, 1, 1), (9999, 12, 31)
OPEN_START, OPEN_END = "-0000-01-01", "9999-12-31"
"""Days that `bounds` gives for an end that a date leaves open."""

_LONGEST = 60  # characters; whatever is longer is a text
# for EDTF's codes from 21: seasons, of the north, of the south; quarters, thirds, halves of a year
_FIRST_MONTHS = (3, 6, 9, 12, 3, 6, 9, 12, 9, 12, 3, 6, 1, 4, 7, 10, 1, 5, 9, 1, 7)
_NAMES = "jan feb mar apr may jun jul aug sep oct nov dec spr sum aut win".split()
_NUMBERS = dict(zip(_NAMES, (*range(1, 13), *range(21, 25)), strict=True))
_REPUBLICAN = (
    "vendemiaire brumaire frimaire nivose pluviose ventose germinal floreal prairial messidor "
    "thermidor fructidor"
).split()

_MONTHS = {
    "jan": "january janvier januar janner enero gennaio januari janeiro",
    "feb": "february fevrier februar feber febrero febbraio februari fevereiro",
    "mar": "march mars marz maerz marzo maart marco mrz mrt",
    "apr": "april avril abril aprile",
    "may": "may mai mayo maggio mei maio",
    "jun": "june juin juni junio giugno junho",
    "jul": "july juillet juli julio luglio julho",
    "aug": "august aout agosto augustus",
    "sep": "september septembre septiembre setiembre settembre setembro",
    "oct": "october octobre oktober octubre ottobre outubro",
    "nov": "november novembre noviembre",
    "dec": "december decembre dezember diciembre dicembre dezembro",
}
"""Names of months without accents; three letters of one or more stand for it, too: `Sett. 1909`."""
_WORDS = {
    "spring": "printemps fruhling fruhjahr primavera lente voorjaar",
    "summer": "ete sommer verano estate zomer verao",
    "autumn": "fall automne herbst otono autunno herfst najaar outono",
    "winter": "hiver invierno inverno",
    "about": "ca circa around approximately approx environ env vers um etwa hacia alrededor cerca "
    "verso intorno omstreeks rond",
    "before": "vor avant antes prima ante voor",
    "after": "nach apres despues dopo depois apos post na",
    "between": "zwischen entre tra fra tussen",
    "and": "et und y e en",
    "or": "oder ou o",
    "to": "through bis au al a hasta tot ate",
    "from": "von vom",
    "since": "seit ab depuis desde dal vanaf sinds",
    "early": "beginning debut anfang principios inicio inizio begin",
    "mid": "middle mitte milieu mediados meta midden meados",
    "late": "end ende fin fine finales eind einde fim",
    "first": "erste ersten premiere primera primeira eerste",
    "second": "zweite zweiten seconde deuxieme segunda seconda tweede",
    "half": "quarter third halfte moitie mitad metade helft",
    "century": "centuries cent jahrhundert jahrhunderts jh jhdt siecle siecles siglo siglos secolo "
    "secoli sec seculo seculos eeuw",
    "decade": "annees anni anos jaren",
    "present": "date",
    "to present": "onward onwards",
    "": "am im the of in le la les l' el los il der den dem des d' del dell' dall' du de do da het "
    "van anno domini year annee ano jahr jahre lundi mardi mercredi jeudi vendredi samedi "
    "dimanche montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag lunes martes "
    "miercoles jueves viernes sabado domingo lunedi martedi mercoledi giovedi venerdi sabato "
    "domenica maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
} | {name: name for name in _REPUBLICAN}


def _in_english() -> dict[str, str]:
    """The English of each word; `jui` can be two months, and is none."""
    months = {
        name[:length]: english
        for english, names in _MONTHS.items()
        for name in names.split()
        for length in range(3, len(name) + 1)
    }
    del months["jui"]
    words = {word: english for english, known in _WORDS.items() for word in known.split()}
    return months | words


_IN_ENGLISH = _in_english()


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.ASCII | re.IGNORECASE)


_BC = "¬"  # before a year: 44 BC is `¬0043`
_Y = rf"(?P<year>[0-2]\d{{3}}|{_BC}\d{{4}})"  # not 5000, of feet or of copies
_M = rf"(?P<month>{'|'.join(_MONTHS)}|spring|summer|autumn|winter)"
_DUAL = r"(?:/(?P<dual>\d\d?))?"
_TH = r"(?:st|nd|rd|th|er|[a-z]{0,2}e|\.{1,2})"
_D = rf"(?P<day>[0-3]?\d){_TH}?"
_ROMAN = "(?P<roman>(?-i:[IVX]+))"
_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\.?,? )?"
_ZONE = r"(?: ?(?:z|[ap]m|[+-]\d\d:?(?:\d\d)?|[a-z]{3,4}))?(?: \([a-z ]+\))?"
_CLOCK = rf"(?:(?:t|,? )[0-2]?\d:[0-5]\d(?::[0-6]\d(?:\.\d+)?)?{_ZONE})?"
# `C1954` begins like the number of something; catalogues write `c1954`, also for copyright
_CIRCA = r"c\. ?|(?-i:c) ?|about ?|~"
_PLAIN = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")
_MAYBE = _pattern(r"\d|[IVXLCDM]{2}|\b[IVXLCDM]\b")
_LONG_WORD = re.compile(r"(?<![^\W\d_])(?![IVXLCDM]{3})[^\W\d_]{5,}")
_KNOWN = {*_IN_ENGLISH, *_WORDS} | set(
    "monday tuesday wednesday thursday friday saturday sunday probably possibly perhaps copyright "
    "present until undated ongoing recte".split()
)
"""Words of five letters or more that are in dates; a value with another is none, at a glance."""
_OPEN = _pattern(
    r"(?P<word>before|after|not before|not after|since|from|(?:up )?to|until|by) (?P<date>.+)"
)
_BETWEEN = _pattern(r"(?:between|from|since) (?P<ends>.+)")
_SEPARATORS = (" to ", "/", "–", " - ", " or ", " and ", "-")
_MARKED = _pattern(
    rf"(?:(?:probably|possibly|perhaps|copyright) |© ?)?(?P<about>{_CIRCA})?"
    r"(?:(?:early|mid|late)[ -]|[\w.]+ (?:half|mid) )?"
    r"(?P<date>.+?)(?: ?(?P<mark>[?~%]|\(\?\)))?\.?"
)
_CHARACTERS = str.maketrans(
    dict.fromkeys("[]")
    | dict.fromkeys("‒—―−", "–")
    | dict.fromkeys("ºª°", ".")
    | {"‐": "-", "‑": "-", "&": "and"}
)
_WORD = re.compile(r"(?<!\w)[^\W\d_]+(?:['’](?=\w)|\.)?")
_UNDATED = r"(?:n\. ?d\.?|s\. ?[ad]\.?|[oz]\. ?[dj]\.?|undated)"
_BESIDE = _pattern(
    rf"^{_UNDATED},? |(?:,|,? and|,? &) (?:{_UNDATED}|ongoing)$| \(?[on]\. ?s\.\)?$|"
    r"^.* (?:i\. ?e\.|recte) |^\(?bulk[:,]? ([^()]+)\)?$|"
    r"[,;]? \(?bulk\b.*$|(?<=\d{4}),? ?(?:c|©|cop\. ?)\d{4}(?=\.?$)"
)
"""Words beside a date: `n.d. [1907]`, `1901, undated`, `3 May 1640 (O.S.)`, `1945 [i.e. 1954]`,
`1910-1950, bulk 1920-1930`, `1968, c1962`."""
_ROMAN_YEAR = re.compile(r"(?<![\w.])M(?:[. ]?[MDCLXVI]){3,}(?!\w)")
_ERAS = (
    (
        _pattern(
            r"\b(?:b\. ?c\.(?: ?e\.)?|bce?\b|v\. ?Chr\.?|a\. ?C\.|av(?:ant|\.) J\.?[ -]*C\.?)"
        ),
        "BC",
    ),
    (_pattern(r"\b(?:a\. ?d\.|c\. ?e\.|(?-i:CE)\b|n\. ?Chr\.?|d\. ?C\.|ap\. J\.?[ -]*C\.?)"), "AD"),
)
_BOTH_BC = _pattern(r"\b(\d{1,4})(?= ?(?:-|–|/|to|or|and) ?(?:c\. ?|about )?\d{1,4} BC)")
_YEAR_BC = _pattern(r"\b0*([1-9]\d{0,3}) BC")
_YEAR_AD = _pattern(r"\bAD ?(\d{1,4})\b|\b(\d{1,4}) AD\b")
_MINUS = re.compile(r"(?:^|(?<=/))-(?=[0-9]{4})")
_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def bounds(text: str) -> tuple[str, str] | None:
    """Return the first and last day that the date `text` can mean, as ISO dates.

    A day before our era is written so that days sort as texts, and `iso_day` gives its ISO date.
    None if `text` is no date. Dates sort by (first day, last day, text). An open end is OPEN_START
    or OPEN_END.
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


def iso_day(day: str) -> str:
    """The ISO date of a day of `bounds`: `-0043-03-15` (44 BC) of `-9956-03-15`."""
    if not day.startswith("-"):
        return day
    year = int(day[1:5]) - 9999
    return f"{'-' if year else ''}{-year:04}{day[5:]}"


def year_name(year: int) -> str:
    """A year as `bounds` reads it: `0079`, `44 BC`."""
    return f"{year:04}" if year > 0 else f"{1 - year} BC"


def _sortable(day: Day) -> str:
    year, month, number = day
    start = f"{year:04}" if year > 0 else f"-{9999 + year:04}"
    return f"{start}-{month:02}-{number:02}"


@lru_cache(maxsize=1 << 14)
def _written_days(text: str) -> tuple[str, str] | None:
    before_zone = text.partition(" (")[0]
    if not _MAYBE.search(text) or any(
        fold(word) not in _KNOWN for word in _LONG_WORD.findall(before_zone)
    ):
        return None
    text = _plain_english(text)
    try:
        days = _read_unmarked(text) or _read_marked(text, _read_unmarked) or _listed(text)
    except (ValueError, OverflowError):  # the form of a date, but no calendar has that day
        return None
    return (_sortable(days[0]), _sortable(days[1])) if days and days[0] <= days[1] else None


def _plain_english(text: str) -> str:
    """A date in English words without articles, with years in four digits."""
    text = " ".join(text.translate(_CHARACTERS).split())
    text = _ROMAN_YEAR.sub(lambda match: str(_roman(match[0])), _BESIDE.sub(r"\1", text))
    for pattern, era in _ERAS:
        text = pattern.sub(era, text)
    text = _WORD.sub(lambda match: _IN_ENGLISH.get(fold(match[0]).rstrip("."), match[0]), text)
    text = " ".join(text.split()).strip(" ,")
    text = _YEAR_BC.sub(lambda match: f"{_BC}{int(match[1]) - 1:04}", _BOTH_BC.sub(r"\1 BC", text))
    text = _YEAR_AD.sub(lambda match: (match[1] or match[2]).zfill(4), text)
    return _MINUS.sub(_BC, text)


def _roman(text: str) -> int:
    values = [_DIGITS[letter] for letter in text if letter in _DIGITS]
    return sum(-v if v < after else v for v, after in zip(values, [*values[1:], 0], strict=False))


def _read_unmarked(text: str) -> Days | None:
    return _date(text) or _open(text) or _interval(text)


def _listed(text: str) -> Days | None:
    """The days from the first to the last date of a list that goes forward in time."""
    parts = re.split("[,;] ?(?:and )?", text)
    spans = [_first_date([part]) or _interval(part) for part in parts if len(parts) > 1]
    dated = [span for span in spans if span]
    if len(dated) < len(parts) or dated != sorted(dated):
        return None
    return dated[0][0], max(last for _, last in dated)


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
        return _EARLIEST, _plus(days[0], -1)
    if word == "after":
        return _plus(days[1], 1), _LATEST
    return (days[0], _LATEST) if word in {"since", "from", "not before"} else (_EARLIEST, days[1])


def _interval(text: str) -> Days | None:
    between = _BETWEEN.fullmatch(text)
    for separator in _SEPARATORS:
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
    open_start = separator == "/" and left in {"", ".."}
    first = (_EARLIEST, _EARLIEST) if open_start else _first_date(starts)
    stops = [right] + [" ".join((*before[:n], right)) for n in range(1, len(before))]
    open_ended = right in {"", "..", "present"}
    last = (_LATEST, _LATEST) if open_ended else first and _first_date(stops)
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


def _about(first: Day, last: Day) -> Days:
    if first == last:
        return _plus(first, -7), _plus(last, 7)
    if first[:2] == last[:2]:
        year, month, _ = _plus(first, -1)
        return (year, month, 1), _months(*_plus(last, 1)[:2])[1]
    if (first, last) == _years(first[0], first[0]):
        return _years(first[0] - 5, last[0] + 5)
    return first, last


def _same_calendar(year: int) -> int:
    """A year of the same calendar that `date` knows: it repeats after 400."""
    return 2000 + year % 400


def _plus(day: Day, days: int) -> Day:
    year, month, number = day
    moved = date(_same_calendar(year), month, number) + timedelta(days)
    return year + moved.year - _same_calendar(year), moved.month, moved.day


def _one_day(year: int, month: int, number: int) -> Days:
    """Raises ValueError if there is no such day."""
    date(_same_calendar(year), month, number)
    return (year, month, number), (year, month, number)


def _years(first: int, last: int) -> Days:
    return (first, 1, 1), (min(last, 9999), 12, 31)


def _months(year: int, number: int) -> Days:
    """Return a month, or what EDTF numbers from 21 on."""
    first, count = number, 1
    if not (1 <= number <= 12 or 21 <= number <= 41):
        raise ValueError(f"{number} is neither a month nor a season")
    if number > 12:
        first, count = _FIRST_MONTHS[number - 21], 3 if number < 37 else 4 if number < 40 else 6
    more, last = divmod(first + count - 2, 12)
    day = monthrange(_same_calendar(year + more), last + 1)[1]
    return (year, first, 1), (year + more, last + 1, day)


def _year(text: str) -> int:
    return -int(text[1:]) if text.startswith(_BC) else int(text)


def _parts(match: re.Match[str]) -> Days:
    parts = match.groupdict()
    year, month = _year(parts["year"]), parts.get("month") or ""
    if parts.get("dual") and month.lower() != "winter":  # `10 February 1723/4`, a year from March
        year = _next_year(parts["year"], parts["dual"])
    number = _NUMBERS.get(month[:3].lower()) or _roman(parts.get("roman") or "") or int(month or 0)
    if parts.get("day"):
        return _one_day(year, number, int(parts["day"]))
    if parts["year"] == "0000" and not month:
        raise ValueError("tables write it for no year")
    if not month:
        return _years(year, year)
    pair = year - year % 100 + number
    if month.isdigit() and number > 12 and year < pair <= year + 10:
        return _years(year, pair)  # `1923-24` can be two years as well as EDTF's winter
    return _months(year, number)


def _next_year(year: str, short: str) -> int:
    last = int(year[: -len(short)] + short)
    if last != int(year) + 1:
        raise ValueError("it can number a case")
    return last


def _short_pair(match: re.Match[str]) -> Days:
    year, short = match["year"], match["short"]
    last = _next_year(year, short) if match["slash"] else int(year[: -len(short)] + short)
    return _years(int(year), last)


def _digits(match: re.Match[str]) -> Days:
    first, last = (match["digits"].ljust(4, digit) for digit in "09")
    return _years(int(first.lower().replace("u", "0")), int(last.lower().replace("u", "9")))


def _century(match: re.Match[str]) -> Days:
    parts = match.groupdict()
    last = 100 * (int(parts.get("number") or 0) or _roman(parts["roman"]))
    return _years(1 - last, 100 - last) if match["bc"] else _years(last - 100, last)


def _numeric(match: re.Match[str]) -> Days:
    year, one, two = _year(match["year"]), int(match["one"]), int(match["two"])
    if one != two and one <= 12 and two <= 12:
        raise ValueError("either can be the month")
    return _one_day(year, two, one) if one > 12 else _one_day(year, one, two)


def _week(match: re.Match[str]) -> Days:
    year, week, day = int(match["year"]), int(match["week"]), match["day"]
    first, last = (date.fromisocalendar(year, week, int(day or end)) for end in (1, 7))
    return (first.year, first.month, first.day), (last.year, last.month, last.day)


def _republican(match: re.Match[str]) -> Days:
    """Years of twelve months of thirty days, and five or six days; they began in September."""
    year = int(match["number"] or 0) or _roman(match["roman"])
    if year > 14:
        raise ValueError("that calendar ended in year 14")
    start, after = (_plus((1792, 9, 22), 365 * (y - 1) + y // 4) for y in (year, year + 1))
    if not match["month"]:
        return start, _plus(after, -1)
    start = _plus(start, 30 * _REPUBLICAN.index(match["month"].lower()))
    if not match["day"]:
        return start, _plus(start, 29)
    day = _plus(start, int(match["day"]) - 1)
    return day, day


_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Days]], ...] = (
    (_pattern(rf"{_Y}(?:-XX(?:-XX)?|-(?P<month>\d\d)(?:-XX|-(?P<day>\d\d){_CLOCK})?)?"), _parts),
    (_pattern(rf"{_Y}/(?P<month>\d\d?)/(?P<day>\d\d?)"), _parts),
    (
        _pattern(rf"{_Y} ?[年년](?: ?(?P<month>\d\d?) ?[月월](?: ?(?P<day>\d\d?) ?[日일])?)?"),
        _parts,
    ),
    (_pattern(rf"{_Y}(?P<month>\d\d)(?P<day>\d\d)(?:t?\d{{4}}(?:\d\d)?z?)?"), _parts),
    (_pattern(rf"{_WEEKDAY}{_D}[ -]?{_M}[ ,-]+{_Y}{_DUAL}{_CLOCK}"), _parts),
    (_pattern(rf"{_D}[ -]?{_ROMAN}(?:[ -]|\. ?){_Y}"), _parts),
    (_pattern(rf"{_WEEKDAY}{_M} {_D},? {_Y}{_DUAL}{_CLOCK}"), _parts),
    (_pattern(rf"{_M}[ ,-]+{_Y}{_DUAL}"), _parts),
    (_pattern(rf"{_Y}{_DUAL},? {_M}(?: {_D})?"), _parts),
    (_pattern(r"(?P<digits>[0-2]\d[\du])[xu-](?:-xx){0,2}"), _digits),
    (_pattern(r"(?P<digits>[0-2]\d)(?:xx|--)(?:-xx){0,2}"), _digits),
    (_pattern(r"(?P<digits>[0-2]\d[1-9])0(?:['’]?s|er)"), _digits),
    (_pattern(r"decade (?P<digits>[0-2]\d\d)0s?"), _digits),
    (_pattern(r"(?P<digits>[0-2]\d)00['’]?s"), _digits),
    (_pattern(rf"(?P<number>[12]?\d){_TH}[ -]?(?:c\.?|century)(?P<bc> BC)?(?: AD)?"), _century),
    (_pattern(rf"{_ROMAN}{_TH}? (?:s\.?|century)(?P<bc> BC)?(?: AD)?"), _century),
    (_pattern(rf"(?:century|(?-i:s)\.) ?{_ROMAN}(?P<bc> BC)?"), _century),
    (_pattern(rf"{_Y}(?:(?P<slash>/)|–)(?P<short>\d\d?)"), _short_pair),
    (_pattern(rf"(?P<one>\d\d?)(?P<by>[/.-]) ?(?P<two>\d\d?)(?P=by) ?{_Y}"), _numeric),
    (_pattern(r"(?P<year>\d{4})-?w(?P<week>\d\d)(?:-?(?P<day>[1-7]))?"), _week),
    (
        _pattern(
            rf"(?:(?:{_D} )?(?P<month>{'|'.join(_REPUBLICAN)}) )?an (?:{_ROMAN}|(?P<number>\d\d?))"
        ),
        _republican,
    ),
)
