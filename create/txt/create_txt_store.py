"""Build a collection from text and Markdown files."""

from create.command import run, store_command
from create.txt.read import TxtReader


def txt_reader() -> TxtReader:
    """Build a collection from text and Markdown files (YAML front matter is metadata)."""
    return TxtReader()


create_txt_store = store_command("txt", txt_reader)

if __name__ == "__main__":
    run(create_txt_store)
