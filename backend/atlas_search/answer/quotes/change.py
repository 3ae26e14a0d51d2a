"""Questions about a change over time: the first and the last that the sources say."""

import re
from collections.abc import Sequence

from atlas_search.answer.quotes.quotable import Quote

_CHANGE = re.compile(
    r"\b(?:chang(?:e[sd]?|ing)|evolv(?:e[sd]?|ing)|evolution|develop(?:ed|ment)s?|shift(?:ed|s)?|"
    r"histor(?:y|ical\w*)|over (?:time|the (?:years|decades|centur\w+)))\b|"
    r"\b(?:from|between) (?:the )?(?:1[5-9]|20)\d\ds? (?:to|and|until) (?:the )?(?:1[5-9]|20)\d\d",
    re.IGNORECASE,
)
_OVER_TIME = re.compile(
    r"^how (?:did|has|have|had|was|were)\b|\bover (?:time|the)\b|\bfrom\b.+\bto\b|"
    r"\bbetween\b.+\band\b|\bsince\b|\bhistory of\b",
    re.IGNORECASE,
)


def asks_for_change(question: str) -> bool:
    """Whether it asks how something changed."""
    return bool(_CHANGE.search(question) and _OVER_TIME.search(question))


def ends_in_time(quotes: Sequence[Quote]) -> list[Quote]:
    """The best quote of the earliest and of the latest date, in that order.

    `quotes` are best first. None if they are not of two dates at least.
    """
    dates = sorted({quote.passage.date for quote in quotes if quote.passage.date})
    if len(dates) < 2:
        return []
    return [next(q for q in quotes if q.passage.date == date) for date in (dates[0], dates[-1])]
