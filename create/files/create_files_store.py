"""Build a collection from a folder with files of several formats."""

from typer import run

from atlas_search.cli.source_types import COMMANDS

create_files_store = COMMANDS["files"]

if __name__ == "__main__":
    run(create_files_store)
