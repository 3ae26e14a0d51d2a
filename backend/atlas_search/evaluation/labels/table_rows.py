"""The rows of a table (CSV, TSV): one label a row, the columns named in the first line."""

import csv
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from itertools import chain
from pathlib import Path

from atlas_search.core.errors import SourceError
from atlas_search.documents.export import original
from atlas_search.evaluation.labels.names import columns_of, understood_names
from atlas_search.evaluation.labels.rows import Row, Rows, not_a_label, nothing_understood
from atlas_search.evaluation.labels.values import Cell
from atlas_search.evaluation.labels.write import ALWAYS
from atlas_search.readers.tables import delimiter_of, rows_of

OWN = ALWAYS
"""What the columns of a table begin with that Atlas wrote, in which no spreadsheet computes."""

_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "`|`"}


def table_rows(text: str, path: Path) -> Rows:
    """The rows of a table; its delimiter is what splits the first line most. Raises SourceError."""
    lines = StringIO(text, newline="")
    first = next(lines)
    delimiter = delimiter_of(first)
    format_ = {"delimiter": delimiter, "strict": True}
    _, header = next(found := rows_of(chain([first], lines), format_))
    if isinstance(header, csv.Error):
        raise SourceError(f"{path}:1: the first line does not name the columns: {header}")
    _check(header, path)
    rows = tuple(_rows(found, [name.strip() for name in header], path))
    return Rows(f"a table separated by {_NAMES[delimiter]}", rows)


def _check(header: list[str], path: Path) -> None:
    """Whether a table is read at all: prose has a first line too."""
    twice = [name for name, count in Counter(header).items() if count > 1 and name.strip()]
    if twice:
        raise SourceError(f"{path}:1: several columns are named `{twice[0]}`: rename all but one.")
    if "question" not in columns_of(header).meanings.values():
        columns = ", ".join(header[:9])[:200]
        raise nothing_understood(
            path, f"as a table its columns would be: {columns}", understood_names()
        )


def _rows(
    found: Iterator[tuple[int, list[str] | csv.Error]], header: list[str], path: Path
) -> Iterator[Row]:
    read = original if tuple(header[: len(OWN)]) == OWN else str
    for line, cells in found:
        place = f"{path}:{line}"
        if isinstance(cells, csv.Error):
            raise not_a_label(place, f"not a row of a table: {cells}")
        if len(cells) not in (0, len(header)):
            reason = f"{len(cells)} values, but the first line names {len(header)} columns"
            raise not_a_label(place, reason)
        if any(cell.strip() for cell in cells):
            values = (Cell(read(cell)) for cell in cells)
            yield Row(place, dict(zip(header, values, strict=True)))
