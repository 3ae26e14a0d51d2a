"""Conditions on metadata, and the SQL that checks them."""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from string import ascii_lowercase, ascii_uppercase
from typing import Self

import numpy as np
from numpy.typing import NDArray

from atlas_search.language.dates import bounds, iso_day

DayArray = NDArray[np.datetime64]
DATE = "date"
"""The metadata field that dates a document."""


@dataclass(frozen=True)
class DocumentDays:
    """Days that each document's date can mean, by the document's index.

    NaT where a document has no date; `language.dates.OPEN_START` and `OPEN_END` where it leaves an
    end open.
    """

    first: DayArray
    last: DayArray

    @classmethod
    def of(cls, documents: int, dated: Iterable[tuple[int, str, str]]) -> Self:
        """Make it for so many documents; `dated` are (index, first day, last day) of some."""
        rows = list(dated)
        indices = [index for index, _, _ in rows]
        ends = [first for _, first, _ in rows], [last for _, _, last in rows]
        days = [np.full(documents, np.datetime64("NaT", "D")) for _ in ends]
        for side, end in zip(days, ends, strict=True):
            side[indices] = np.array([iso_day(day) for day in end], dtype="datetime64[D]")
        return cls(*days)


@dataclass(frozen=True)
class Range:
    """Values from a low to a high end, both included; None leaves a side open.

    Dates are compared with the days (ISO), numbers with the numbers.
    """

    first_day: str | None = None
    last_day: str | None = None
    low: float | None = None
    high: float | None = None


Condition = Range | tuple[str, ...]
Filter = Mapping[str, Condition]
"""For each field either a range, or the values of which one must match."""

DOCUMENT_ID, PASSAGE_ID = "document_id", "passage_id"
PASSAGE_FIELDS = ("section", "speaker", PASSAGE_ID)
"""Fields of a passage, not of its whole document; metadata of these names counts as well."""


def where(filters: Filter) -> tuple[str, list[str | float]]:
    """Return the condition on `documents` for all `filters`, for `RecordFiles`, and its values.

    For PASSAGE_FIELDS `passages` must be there too. A list of values is bound as one: a query can
    bind only so many. The connection needs FUNCTIONS.
    """
    clauses, values = ["1"], list[str | float]()
    for field, condition in filters.items():
        clause, bound = _condition(condition)
        alternatives = [
            "documents.document IN (SELECT m.document FROM {of}metadata m "
            f"WHERE m.field = ? AND {clause})"
        ]
        values += [field, *bound]
        if not isinstance(condition, Range):
            if field == DOCUMENT_ID:
                alternatives.append(f"documents.id IN {_LISTED}")
                values.append(json.dumps(condition))
            elif field == PASSAGE_ID:
                alternatives.append(f"passages.id IN {_LISTED}")
                values.append(json.dumps(condition))
            elif field in PASSAGE_FIELDS:
                # each name once: thousands of passages have the same; without a limit SQLite asks
                # before it takes out the equal ones
                alternatives.append(
                    f"passages.{field} IN (SELECT {field} FROM (SELECT DISTINCT {field} "
                    f"FROM {{of}}passages LIMIT -1) WHERE {_HELD[field]})"
                )
                values.append(json.dumps(condition))
        clauses.append(f"({' OR '.join(alternatives)})")
    return " AND ".join(clauses), values


_LISTED = "(SELECT value FROM json_each(?))"
_HELD = {"speaker": "is_one(speaker, ?)", "section": "says_one(section, ?)"}
# a letter or digit, but not of Chinese and the like, which have no blanks between words
_LETTER = "[^\\W_\u2e80-\U0010ffff]"
_SMALL = str.maketrans(ascii_uppercase, ascii_lowercase)


def _condition(condition: Condition) -> tuple[str, list[str | float]]:
    if not isinstance(condition, Range):
        # `1954` means every day of 1954
        spans = [span for value in condition if (span := bounds(value))]
        within = "OR lies_in_one(m.first_day, m.last_day, ?)" if spans else ""
        listed = f"(CAST(m.value AS TEXT) COLLATE NOCASE IN {_LISTED} {within})"
        return listed, [json.dumps(condition), *([json.dumps(spans)] if spans else ())]
    # a date meets a range if any day it can mean lies in it
    days = _within(
        ("m.last_day >= ?", condition.first_day), ("m.first_day <= ?", condition.last_day)
    )
    numbers = _within(("m.value >= ?", condition.low), ("m.value <= ?", condition.high))
    return (
        f"(m.first_day IS NOT NULL AND {days[0]} "
        f"OR typeof(m.value) IN ('integer', 'real') AND {numbers[0]})",
        [*days[1], *numbers[1]],
    )


def _within(*ends: tuple[str, str | float | None]) -> tuple[str, list[str | float]]:
    """Join the conditions of the ends that are set; without any nothing is within."""
    parts = [(clause, value) for clause, value in ends if value is not None]
    return " AND ".join(clause for clause, _ in parts) or "0", [value for _, value in parts]


def _is_one(speakers: str, listed: str) -> bool:
    """Return whether one of the speakers, joined by `; `, is in a JSON list. Letters A to Z match
    in either case, as in SQL."""
    names = speakers.translate(_SMALL).split("; ")
    return any(value in names for value in _folded(listed))


def _says_one(section: str, listed: str) -> bool:
    """Return whether a section path has the words of one of a JSON list: not `Part 1` of `Part 12`.

    Small and capital letters are alike, of A to Z.
    """
    return any(pattern.search(section.translate(_SMALL)) for pattern in _as_words(listed))


def _lies_in_one(first: str | None, last: str, spans: str) -> bool:
    """Return whether the days from `first` to `last` lie in one of the spans of a JSON list."""
    if first is None:
        return False
    begins, ends = _sorted(spans)
    before = bisect_right(begins, first)
    return before > 0 and last <= ends[before - 1]


@lru_cache(maxsize=8)
def _folded(listed: str) -> tuple[str, ...]:
    return tuple(value.translate(_SMALL) for value in json.loads(listed))


@lru_cache(maxsize=8)
def _as_words(listed: str) -> tuple[re.Pattern[str], ...]:
    def edge(character: str, pattern: str) -> str:
        return pattern if re.match(_LETTER, character) else ""

    return tuple(
        re.compile(
            edge(value[:1], f"(?<!{_LETTER})")
            + re.escape(value)
            + edge(value[-1:], f"(?!{_LETTER})")
        )
        for value in _folded(listed)
    )


@lru_cache(maxsize=8)
def _sorted(spans: str) -> tuple[Sequence[str], Sequence[str]]:
    """Return the first days in order, and with each the last day of all spans up to there."""
    ordered = sorted(json.loads(spans))
    return [first for first, _ in ordered], list(accumulate((last for _, last in ordered), max))


FUNCTIONS: Mapping[str, Callable[..., bool]] = {
    "is_one": _is_one,
    "says_one": _says_one,
    "lies_in_one": _lies_in_one,
}
"""Functions that the conditions call, by their names in SQL."""
