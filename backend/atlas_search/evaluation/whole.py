"""Files and folders that are there as a whole or not at all."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from atlas_search.core.errors import AtlasError
from atlas_search.core.files import writing

LOCK = ".lock"
_PART = ".part"  # what is being written, or was broken off


@contextmanager
def new_folder(path: Path, last: str) -> Iterator[Path]:
    """A folder to write into, whose contents are at `path` when the block has ended.

    If the block fails they are gone. A folder that is empty may be at `path` already; the file
    called `last`, which makes the folder what it is, comes into it after all others. Raises
    AtlasError where anything but Atlas' own traces is there: it is left as it is.
    """
    check_empty(path)
    target = path.resolve()
    there = target.exists()
    name = f".{target.name}.{os.getpid()}{_PART}"
    half = target / name if there else target.with_name(name)
    with writing(target):
        half.mkdir(parents=True)
    try:
        yield half
        check_empty(path)
        with writing(target):
            if there:
                for made in sorted(half.iterdir(), key=lambda made: (made.name == last, made.name)):
                    os.rename(made, target / made.name)
            else:
                os.rename(half, target)
    finally:
        shutil.rmtree(half, ignore_errors=True)


def replace_file(path: Path, text: str) -> None:
    """Write a file, and its folder if need be: a reader finds the old one or the new one.

    What is no file but can be written to, such as a pipe, is written to as it is.
    """
    target = path.resolve()
    with writing(path.parent):
        target.parent.mkdir(parents=True, exist_ok=True)
        content = text.encode("utf-8", errors="replace")
        if target.exists() and not target.is_file() and not target.is_dir():
            target.write_bytes(content)
            return
        half = target.with_name(f".{target.name}.{os.getpid()}{_PART}")
        try:
            half.write_bytes(content)
            os.replace(half, target)
        finally:
            half.unlink(missing_ok=True)


def check_empty(path: Path) -> None:
    """Raise AtlasError unless a new folder can be at `path`."""
    if not path.exists():
        return
    if not path.is_dir():
        raise AtlasError(f"{path} is a file. Name a folder that is not there yet.")
    foreign = sorted(each.name for each in path.iterdir() if not _is_own(each.name))
    if foreign:
        raise AtlasError(f"{path} holds {foreign[0]}, which stays as it is. Name another folder.")


def _is_own(name: str) -> bool:
    return name == LOCK or name.endswith(_PART)
