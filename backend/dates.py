"""Dates as sources give them: full, or only a year or a month."""

import calendar
import re
from datetime import date

_PARTIAL = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")


def bounds(text: str) -> tuple[str, str] | None:
    """The first and last day that `1954-05-17`, `1954-05` or `1954` can mean, as ISO dates.

    None if `text` is not such a date.
    """
    match = _PARTIAL.fullmatch(text.strip())
    if not match:
        return None
    year, month, day = (int(part) if part else None for part in match.groups())
    try:
        first = date(year or 0, month or 1, day or 1)
    except ValueError:
        return None
    last_month = month or 12
    last_day = day or calendar.monthrange(first.year, last_month)[1]
    return first.isoformat(), date(first.year, last_month, last_day).isoformat()
