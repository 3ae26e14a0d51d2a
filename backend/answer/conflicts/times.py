"""Dates in an English sentence, as exactly as it tells them."""

import re
from typing import NamedTuple

from backend.text import Span

Parts = tuple[int, ...]  # year, and as far as it is told, month and day

_MONTHS = (
    "january february march april may june july august september october november december".split()
)
_MONTH = "|".join(_MONTHS)
_DATE = re.compile(
    rf"\b(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)? )?(?P<month>{_MONTH})"
    rf"(?: (?P<late>\d{{1,2}})(?:st|nd|rd|th)?,)? (?P<dated>[12]\d{{3}})\b|"
    r"(?<![\w$£€.,-])(?P<year>1\d{3}|20\d\d)(?![\w%-]|,\d|\.\d)",
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?:\b(?!in|by|since|from|on|until|of)[A-Z][\w’']*\.?,?\s|[(\[])$")


class Date(NamedTuple):
    """A date and where it stands in a sentence."""

    parts: Parts
    span: Span


def dates(sentence: str) -> list[Date]:
    """The dates in order, but not the year that belongs to the name of an Act."""
    found = []
    for match in _DATE.finditer(sentence):
        if year := match["year"]:
            if _NAMED.search(sentence[: match.start()]):
                continue
            parts: Parts = (int(year),)
        else:
            month = _MONTHS.index(match["month"].lower()) + 1
            day = match["day"] or match["late"]
            parts = (int(match["dated"]), month, *([int(day)] if day else []))
        found.append(Date(parts, Span(*match.span())))
    return found


def same_date(a: Parts, b: Parts) -> bool:
    """Whether two dates may be the same, one of them told less exactly."""
    return all(x == y for x, y in zip(a, b, strict=False))
