"""Build a collection from web pages: saved ones, or those of a list of addresses."""

from typer import run

from atlas_search.cli.source_types import COMMANDS

create_html_store = COMMANDS["html"]

if __name__ == "__main__":
    run(create_html_store)
