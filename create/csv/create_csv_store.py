"""Build a collection from CSV and TSV files."""

from typer import run

from atlas_search.cli.source_types import COMMANDS

create_csv_store = COMMANDS["csv"]

if __name__ == "__main__":
    run(create_csv_store)
