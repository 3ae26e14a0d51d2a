"""The rows of a label set, whatever form it is kept in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from atlas_search.core.errors import SourceError
from atlas_search.evaluation.labels.names import INSIDE


@dataclass(frozen=True)
class Row:
    """A row by its fields, as named in the file; `place` is the file and the line or record."""

    place: str
    fields: Mapping[str, object]


@dataclass(frozen=True)
class Rows:
    """All rows of a set, in order: `form` is what it was read as, `remarks` what is told of it."""

    form: str
    rows: Sequence[Row]
    remarks: tuple[str, ...] = ()


def opened(row: Row) -> Row:
    """The row with what stands inside its `metadata` as fields of its own."""
    inner = row.fields.get("metadata")
    if not isinstance(inner, Mapping):
        return row
    fields = {name: value for name, value in row.fields.items() if name != "metadata"}
    return Row(row.place, fields | {f"{INSIDE}{name}": value for name, value in inner.items()})


def not_a_label(place: str, reason: object) -> SourceError:
    """The error of a row, which names its place."""
    return SourceError(f"{place}: not a label: {reason}")


def nothing_understood(path: Path, found: str, wanted: str) -> SourceError:
    """The error of a file in which there is no label at all."""
    return SourceError(f"{path}: no labels are understood: {found}. What is understood: {wanted}.")
