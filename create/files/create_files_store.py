"""Build a collection from a folder with files of several formats."""

from create.command import run, store_command
from create.files.read import READERS, FilesReader


def files_reader() -> FilesReader:
    """Build a collection from files of every format, each read by what its name ends in."""
    return FilesReader([reader() for reader in READERS])


create_files_store = store_command("files", files_reader)

if __name__ == "__main__":
    run(create_files_store)
