"""Build a collection from text and Markdown files."""

from typer import run

from atlas_search.cli.source_types import COMMANDS

create_txt_store = COMMANDS["txt"]

if __name__ == "__main__":
    run(create_txt_store)
