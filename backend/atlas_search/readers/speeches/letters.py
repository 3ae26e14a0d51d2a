"""Whether a document is letters: what is before a colon there is whom they address."""

import re
from collections.abc import Sequence
from itertools import pairwise

from atlas_search.language.dates import bounds
from atlas_search.readers.speeches.openings import Opening

_SHARE = 0.5
"""Of all labels, salutations and those under a date: a debate has its date once, and a letter that
is read out in it is one among many speeches."""
_SHARE_DATED = 0.9
"""The same where nobody is saluted: dates are those of sittings too, in which several speak."""

_ADDRESS = 6  # lines between the date of a letter and whom it addresses
_LONGEST = 80  # characters of a line with a date and a place; what is longer is a text
_DATED = re.compile(
    r"(\b[^\W\d_]{3,9}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}"
    r"|\b\d{1,2}(?:st|nd|rd|th)?(?: of)? [^\W\d_]{3,9}\.?,? \d{4})\b"
    r"(?!.{0,14}\d:\d\d(?::\d\d)?\Z).{0,14}"
)
"""A date, with `4 P.M.` behind it or the like; `10:31` alone is that of a message in a log."""

_LABELLED = ("colon", "dash")
_ADDRESSED = (*_LABELLED, "salutation")
_SPOKEN = (*_LABELLED, "stop", "question")


def without_letters(text: str, found: Sequence[Opening]) -> list[Opening]:
    """The openings without those of letters, which are no speeches.

    In letters nobody speaks behind a colon or a dash. Where speeches begin with a full stop they
    may still be those of a hearing, with letters for the record behind them. A letter that is read
    out in a debate is of who reads it; but whoever is called `SIR` in a play speaks himself.
    """
    if _are_letters(text, found):
        return [
            each._replace(form="end", label=None) if each.form in _ADDRESSED else each
            for each in found
        ]
    return [
        each._replace(form="unread") if each.form == "salutation" else each
        for each in found
        if each.form != "salutation" or each.label
    ]


def _are_letters(text: str, found: Sequence[Opening]) -> bool:
    """Whether half of the labels are salutations, or names under the date and place of a letter.

    `Dear Sir:` can be nothing else; `General Hay:` and `SIR:` may speak, or be written to.
    """
    salutations = sum(each.form == "salutation" and not each.label for each in found)
    spoken = sum(each.form in _SPOKEN for each in found)
    dated = [
        each
        for before, each in pairwise([Opening(0, 0, "none"), *found])
        if each.form in _LABELLED or (each.form == "salutation" and each.label)
        if _is_dated(text, before.said, each.start)
    ]
    salutations += sum(each.form == "salutation" for each in dated)
    addressed = sum(each.form in _LABELLED for each in dated)
    share = _SHARE if salutations else _SHARE_DATED
    return 0 < salutations + addressed >= share * (salutations + spoken)


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
