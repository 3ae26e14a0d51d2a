"""Build a collection from an existing Chroma collection."""

from typer import run

from atlas_search.cli.source_types import COMMANDS

create_chroma_store = COMMANDS["chroma"]

if __name__ == "__main__":
    run(create_chroma_store)
