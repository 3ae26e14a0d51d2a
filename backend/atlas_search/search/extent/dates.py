"""The time that documents are of."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from atlas_search.language.dates import OPEN_END, OPEN_START
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.filters import DocumentDays

_START, _END = np.datetime64(OPEN_START), np.datetime64(OPEN_END)


@dataclass(frozen=True)
class Dates:
    """The first and last day that documents state (ISO), empty if none states one.

    A date that is open at one end (`since 1901`) counts with the other, and `or_earlier` or
    `or_later` says that there is one. `undated` documents have no date that can be read.
    """

    first: str = ""
    last: str = ""
    or_earlier: bool = False
    or_later: bool = False
    undated: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "first": self.first or None,
            "last": self.last or None,
            "or_earlier": self.or_earlier,
            "or_later": self.or_later,
            "undated": self.undated,
        }


def dates_of(days: DocumentDays, documents: IntArray) -> Dates:
    """The dates of some documents, by their indices."""
    first, last = days.first[documents], days.last[documents]
    dated = ~np.isnat(first)
    first, last = first[dated], last[dated]
    undated = len(documents) - len(first)
    earlier, later = first == _START, last == _END
    stated = np.concatenate([first[~earlier], last[~later]])
    if not len(stated):
        return Dates(undated=undated)
    return Dates(
        str(stated.min()), str(stated.max()), bool(earlier.any()), bool(later.any()), undated
    )


def joint_dates(of: Iterable[Dates]) -> Dates:
    """The dates of all together."""
    every = list(of)
    return Dates(
        min((dates.first for dates in every if dates.first), default=""),
        max((dates.last for dates in every if dates.last), default=""),
        any(dates.or_earlier for dates in every),
        any(dates.or_later for dates in every),
        sum(dates.undated for dates in every),
    )
