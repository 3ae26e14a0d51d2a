"""Build a collection from PDF files."""

from typer import run

from atlas_search.cli.source_types import COMMANDS

create_pdf_store = COMMANDS["pdf"]

if __name__ == "__main__":
    run(create_pdf_store)
