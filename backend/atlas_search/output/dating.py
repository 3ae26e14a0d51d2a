"""Written dates as reference managers want them."""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date

from atlas_search.language.dates import OPEN_END, OPEN_START, bounds

_ABOUT = re.compile(
    r"^(?:circa |ca\.? ?|c\.? ?|about |around |approximately |approx\.? |~)|[~%]$", re.IGNORECASE
)

Parts = tuple[int, ...]
"""A year, a year and a month, or a day."""


@dataclass(frozen=True)
class Dating:
    """A date as the source writes it, and what it says.

    `parts` are one, or the first and last of a span; none if it is open at one end or no date.
    """

    written: str
    parts: tuple[Parts, ...] = ()
    circa: bool = False


def dating(written: str) -> Dating:
    """What the date `written` says."""
    written = written.strip()
    plain = _ABOUT.sub("", written)
    days = bounds(plain) if bounds(written) else None
    if days is None:
        days, plain = bounds(written), written
    if days is None or days[0] == OPEN_START or days[1] == OPEN_END:
        return Dating(written)
    return Dating(written, _parts(*map(date.fromisoformat, days)), circa=plain != written)


def _parts(first: date, last: date) -> tuple[Parts, ...]:
    """The shortest parts that mean the days from `first` to `last`."""
    months = first.day == 1 and last.day == monthrange(last.year, last.month)[1]
    years = months and first.month == 1 and last.month == 12
    count = 1 if years else 2 if months else 3
    start, end = (tuple(day.timetuple()[:count]) for day in (first, last))
    return (start,) if start == end else (start, end)
