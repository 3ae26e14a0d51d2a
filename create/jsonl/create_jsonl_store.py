"""Build a collection from JSON files."""

from typer import run

from atlas_search.cli.source_types import COMMANDS

create_jsonl_store = COMMANDS["jsonl"]

if __name__ == "__main__":
    run(create_jsonl_store)
