"""Dates as sources give them: full, or only a year or a month."""

import calendar
import re
from datetime import date

_PARTIAL = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")


def bounds(text: str) -> tuple[str, str] | None:
    """The first and last day that `1954-05-17`, `1954-05` or `1954` can mean, as ISO dates.

    None if `text` is not such a date.
    """
    match = _PARTIAL.fullmatch(text.strip())
    if not match:
        return None
    year, month, day = match.groups()
    last_month = int(month or 12)
    try:
        first = date(int(year), int(month or 1), int(day or 1))
        last_day = int(day or calendar.monthrange(first.year, last_month)[1])
        return first.isoformat(), date(first.year, last_month, last_day).isoformat()
    except ValueError:
        return None
