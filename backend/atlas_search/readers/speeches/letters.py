"""Whether a document is letters: what is before a colon there is whom they address."""

import re
from collections.abc import Sequence
from itertools import pairwise

from atlas_search.language.dates import bounds
from atlas_search.readers.speeches.openings import Opening

_SHARE = 0.5
"""Of all labels, salutations and those under a date: a debate has its date once, and a letter that
is read out in it is one among many speeches."""

_ADDRESS = 6  # lines between the date of a letter and whom it addresses
_LONGEST = 80  # characters of a line with a date and a place; what is longer is a text
_DATED = re.compile(
    r"(\b[^\W\d_]{3,9}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}"
    r"|\b\d{1,2}(?:st|nd|rd|th)?(?: of)? [^\W\d_]{3,9}\.?,? \d{4})\b.{0,14}"
)
_LABELLED = ("colon", "dash")
_SPOKEN = (*_LABELLED, "stop", "question")


def are_letters(text: str, found: Sequence[Opening]) -> bool:
    """Whether half of the labels are salutations, or names under the date and place of a letter.

    `Dear Sir:` can be nothing else; `General Hay:` may speak, or be written to.
    """
    salutations = sum(each.form == "salutation" for each in found)
    spoken = sum(each.form in _SPOKEN for each in found)
    dated = sum(
        each.form in _LABELLED and _is_dated(text, before.said, each.start)
        for before, each in pairwise([Opening(0, 0, "none"), *found])
    )
    return 0 < salutations + dated >= _SHARE * (salutations + spoken)


def _is_dated(text: str, start: int, end: int) -> bool:
    """Whether a date ends one of the last lines of a part of the text."""
    near = text[max(start, end - _LONGEST * _ADDRESS) : end]
    lines = [line.strip() for line in near.split("\n") if line.strip()]
    return any(map(_ends_in_date, lines[-_ADDRESS:]))


def _ends_in_date(line: str) -> bool:
    dates = _DATED.finditer(line) if len(line) <= _LONGEST else ()
    return any(found.end() == len(line) and _is_day(found[1]) for found in dates)


def _is_day(date: str) -> bool:
    days = bounds(date)
    return days is not None and days[0] == days[1]
