"""Counts of hits, and how they are handed out."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from atlas_search.core.notebook import frame
from atlas_search.words.request import CORPUS

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class Cell:
    """Hits in the documents with one value, and what they were counted in.

    `hits` and `per_million` words are None where there is no word to count in. `documents` and
    `passages` hold a hit, `of_documents` and `of_passages` are all that were looked through.
    A value of None is that of documents without one, or with a date of several years; an empty
    corpus is every one. `filters` finds the same documents in a search; None if no filter does.
    """

    value: str | None
    corpus: str
    hits: int | None
    per_million: float | None
    words: int
    documents: int
    of_documents: int
    passages: int
    of_passages: int
    filters: Mapping[str, Sequence[str]] | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self) | {"corpus": self.corpus or None}


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What was counted `by` a value, in its cells and in `total`.

    Documents with several values of a field are in several cells, but once in the total.
    """

    text: str
    by: str
    cells: tuple[Cell, ...]
    cells_left_out: int
    total: Cell
    trace_id: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as POST /api/trends and /api/counts send them."""
        return {
            "query": self.text,
            "by": self.by,
            "trace_id": self.trace_id,
            "total": self.total.to_dict(),
            "cells": [cell.to_dict() for cell in self.cells],
            "cells_left_out": self.cells_left_out,
        }

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each cell."""
        found = []
        for cell in self.cells:
            row = cell.to_dict()
            del row["filters"]
            value = row.pop("value")
            # a metadata field may be called as a figure is
            found.append(row if self.by == CORPUS else {self._column(row): value} | row)
        return found

    def _column(self, row: Mapping[str, object]) -> str:
        return "value" if self.by in row else self.by

    def to_frame(self) -> "DataFrame":
        """A pandas table: a row for each cell. Raises ConfigurationError without pandas."""
        return frame(self.rows())
