"""Reading tables (CSV, TSV): one document a row, its columns named in the first line."""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, ClassVar, TextIO

import typer

from atlas_search.core.errors import SourceError
from atlas_search.readers import Read, Skipped
from atlas_search.readers.columns import (
    Columns,
    IdColumn,
    MetadataColumns,
    Record,
    Rename,
    TextColumn,
    TitleColumn,
    columns_of,
    drafts,
)
from atlas_search.readers.fields import name_of
from atlas_search.readers.text_files import Undecodable, open_text

DELIMITERS = ",;\t|"
LONGEST = 100_000_000
"""Characters of one value; only a quote that nobody closed comes near."""

_TABS = {"tab", "\\t"}
_NO_HEADER = "its first line is empty, but must name the columns"


@dataclass(frozen=True)
class CsvReader:
    """Reads tables. Without a `delimiter` it is the one of DELIMITERS that splits the header most.

    With `quotes` a value may stand in double quotes; otherwise they are characters as any other.
    """

    columns: Columns = field(default_factory=Columns)
    delimiter: str = ""
    quotes: bool = True
    suffixes: ClassVar[frozenset[str]] = frozenset({".csv", ".tsv"})

    @property
    def options(self) -> Mapping[str, object]:
        """All settings change what is read."""
        own = {"version": 2, "delimiter": self.delimiter, "quotes": self.quotes}
        return own | self.columns.options

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        """One draft or Skipped for every row, in order. A blank line is no row."""
        try:
            with open_text(path, encoding) as text:
                tabs = "\t" if path.suffix.lower() == ".tsv" else ""
                yield from drafts(self._records(text, self.delimiter or tabs), self.columns)
        except Undecodable as error:
            yield Skipped(str(error))

    def _records(self, text: TextIO, delimiter: str) -> Iterator[Record | Skipped]:
        first = text.readline()
        rows = rows_of(chain([first], text), self._format(delimiter or delimiter_of(first)))
        _, header = next(rows, (1, []))
        problem = self._problem(header)
        if problem or isinstance(header, csv.Error):
            yield Skipped(problem)
            return
        for number, (line, row) in enumerate(((line, row) for line, row in rows if row), start=1):
            yield _record(f"row-{number}", f"line {line}", header, row)

    def _format(self, delimiter: str) -> dict[str, Any]:
        quoting = csv.QUOTE_MINIMAL if self.quotes else csv.QUOTE_NONE
        return {"delimiter": delimiter, "quoting": quoting, "strict": True}

    def _problem(self, header: list[str] | csv.Error) -> str:
        """Why a table with this header cannot be read, or empty."""
        if isinstance(header, csv.Error):
            return f"its first line does not name the columns: {header}"
        names = [name for column in header if (name := name_of(column))]
        names = [self.columns.rename.get(name, name) for name in names]
        twice = sorted(name for name, count in Counter(names).items() if count > 1)
        if not names:
            return _NO_HEADER
        if twice:
            return f"several columns are named `{twice[0]}`: rename all but one, in the file"
        return "" if self._has_text(names) else self.columns.lacking(names)

    def _has_text(self, names: list[str]) -> bool:
        return len(self.columns.texts(names)) >= max(1, len(self.columns.text))


def csv_reader(
    text_column: TextColumn = "",
    id_column: IdColumn = "",
    title_column: TitleColumn = "title",
    metadata_columns: MetadataColumns = "",
    rename: Rename = "",
    delimiter: Annotated[
        str,
        typer.Option(help="What separates values; `tab` for tabs (default: as in the first line)"),
    ] = "",
    quotes: Annotated[bool, typer.Option(help="Values may stand in double quotes")] = True,
) -> CsvReader:
    """Build a collection from CSV and TSV files: one document a row."""
    delimiter = "\t" if delimiter in _TABS else delimiter
    if len(delimiter) > 1 or delimiter in ('"', "\n", "\r"):
        raise SourceError(f"--delimiter {delimiter}: give one character, or `tab`.")
    columns = columns_of(text_column, id_column, title_column, metadata_columns, rename)
    return CsvReader(columns, delimiter, quotes)


def delimiter_of(header: str) -> str:
    """The one of DELIMITERS that splits a header most; of equals the first."""
    return max(DELIMITERS, key=lambda each: len(next(csv.reader([header], delimiter=each), ())))


def rows_of(
    lines: Iterator[str], format_: Mapping[str, Any]
) -> Iterator[tuple[int, list[str] | csv.Error]]:
    """Each row and the line it begins at. After a broken row the next line is read as a new one."""
    csv.field_size_limit(LONGEST)
    rows = csv.reader(lines, **format_)
    while True:
        line = rows.line_num + 1
        try:
            yield line, next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield line, error


def _record(
    key: str, place: str, header: list[str], row: list[str] | csv.Error
) -> Record | Skipped:
    if isinstance(row, csv.Error):
        return Skipped(f"{place}: {_explain(row)}", key)
    if len(row) != len(header):
        reason = f"{place}: {len(row)} values, but the header names {len(header)} columns"
        return Skipped(reason, key)
    return Record(key, place, dict(zip(header, row, strict=True)))


def _explain(error: csv.Error) -> str:
    if "unexpected end of data" in str(error):
        return (
            "a quote opens here and never closes, so the rest of the file is not read; close it, "
            "or pass `--no-quotes` if quotes are part of the text"
        )
    return f"not a row: {error}; double the quotes inside quotes, or pass `--no-quotes`"
