"""Build a collection from XML files."""

from typer import run

from atlas_search.cli.source_types import COMMANDS

create_xml_store = COMMANDS["xml"]

if __name__ == "__main__":
    run(create_xml_store)
