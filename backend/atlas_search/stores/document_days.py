"""The first and last day of every document of a store."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

DayArray = NDArray[np.datetime64]
DATE = "date"
"""The metadata field that dates a document."""


@dataclass(frozen=True)
class DocumentDays:
    """The days that each document's date can mean, by the document's index.

    NaT where a document has no date; `language.dates.OPEN_START` and `OPEN_END` where it leaves an
    end open.
    """

    first: DayArray
    last: DayArray

    @classmethod
    def of(cls, documents: int, dated: Iterable[tuple[int, str, str]]) -> Self:
        """Of so many documents; `dated` are (index, first day, last day) of those with a date."""
        rows = list(dated)
        indices = [index for index, _, _ in rows]
        days = [np.full(documents, np.datetime64("NaT", "D")) for _ in range(2)]
        for at, side in enumerate(days, start=1):
            side[indices] = np.array([row[at] for row in rows], dtype="datetime64[D]")
        return cls(*days)
