"""Build a collection from the corpora of retrieval benchmarks."""

from typer import run

from atlas_search.cli.source_types import COMMANDS

create_beir_store = COMMANDS["beir"]

if __name__ == "__main__":
    run(create_beir_store)
