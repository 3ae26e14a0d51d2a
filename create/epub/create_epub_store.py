"""Build a collection from EPUB files."""

from create.command import run, store_command
from create.epub.read import EpubReader


def epub_reader() -> EpubReader:
    """Build a collection from EPUB files; each part of the reading order is a page."""
    return EpubReader()


create_epub_store = store_command("epub", epub_reader)

if __name__ == "__main__":
    run(create_epub_store)
