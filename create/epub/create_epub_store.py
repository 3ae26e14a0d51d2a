"""Build a collection from EPUB files."""

from typer import run

from atlas_search.cli.source_types import COMMANDS

create_epub_store = COMMANDS["epub"]

if __name__ == "__main__":
    run(create_epub_store)
