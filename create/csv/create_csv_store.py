"""Build a collection from CSV and TSV files."""

from typing import Annotated

import typer

from backend.errors import SourceError
from create.columns import (
    IdColumn,
    MetadataColumns,
    Rename,
    TextColumn,
    TitleColumn,
    columns_of,
)
from create.command import run, store_command
from create.csv.read import CsvReader

_TABS = {"tab", "\\t"}


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


create_csv_store = store_command("csv", csv_reader)

if __name__ == "__main__":
    run(create_csv_store)
