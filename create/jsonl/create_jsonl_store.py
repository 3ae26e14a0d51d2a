"""Build a collection from JSON files."""

from create.columns import (
    IdColumn,
    MetadataColumns,
    Rename,
    TextColumn,
    TitleColumn,
    columns_of,
)
from create.command import run, store_command
from create.jsonl.read import JsonlReader


def jsonl_reader(
    text_column: TextColumn = "",
    id_column: IdColumn = "",
    title_column: TitleColumn = "title",
    metadata_columns: MetadataColumns = "",
    rename: Rename = "",
) -> JsonlReader:
    """Build a collection from JSON files: one document a line, or one an item of an array."""
    return JsonlReader(columns_of(text_column, id_column, title_column, metadata_columns, rename))


create_jsonl_store = store_command("jsonl", jsonl_reader)

if __name__ == "__main__":
    run(create_jsonl_store)
