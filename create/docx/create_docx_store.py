"""Build a collection from Word files."""

from typer import run

from atlas_search.cli.source_types import COMMANDS

create_docx_store = COMMANDS["docx"]

if __name__ == "__main__":
    run(create_docx_store)
