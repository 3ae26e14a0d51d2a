"""The files of a folder of sources, without those that a link leads to from outside of it."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from atlas_search.core.errors import SourceError

LEADS_OUT = "a link that leads out of the source folder, which is not followed"
"""Why a file or folder is left out."""


def real_paths(roots: Iterable[Path]) -> list[Path]:
    """Where sources really are. Whoever names a link as a source means what it leads to."""
    return [root.resolve() for root in roots]


def leads_out(path: Path, roots: Sequence[Path]) -> bool:
    """Whether `path` is a link to what is in none of `roots`, as `real_paths` gives them."""
    return path.is_symlink() and not any(path.resolve().is_relative_to(root) for root in roots)


def walk(
    root: Path, suffixes: frozenset[str], inside: Sequence[Path]
) -> list[tuple[Path, str, str]]:
    """Each file below `root`, or itself: path, name from there, and why it is left out, if it is.

    Links that lead out of `inside` are not followed. Names that begin with a dot are passed over.
    Raises SourceError for a folder that cannot be listed: its documents would seem to be gone.
    """
    if root.is_file():
        return [(root, root.name, _refusal(root, suffixes, real_paths([root])))]
    if not root.is_dir():
        raise SourceError(f"{root} does not exist. Give a file or a folder of sources.")
    found = []
    for folder, folders, names in os.walk(root, onerror=_raise_unlisted):
        links = [name for name in folders if Path(folder, name).is_symlink()]
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(folder, name) for name in (*names, *links) if not name.startswith(".")]
    return [
        (path, printable(path.relative_to(root).as_posix()), _refusal(path, suffixes, inside))
        for path in sorted(found)
    ]


def _raise_unlisted(error: OSError) -> None:
    raise SourceError(f"{error.filename} cannot be listed: {error.strerror}. Mend that first.")


def _refusal(path: Path, suffixes: frozenset[str], inside: Sequence[Path]) -> str:
    if printable(path.name) != path.name:
        return "its name is not UTF-8: rename it"
    if path.is_dir():
        return "a link to a folder, which is not followed: name that folder as a source"
    if not path.is_file():
        return "a link to nothing" if path.is_symlink() else "not a regular file"
    if not path.name.lower().endswith(tuple(suffixes)):
        return f"not a {' or '.join(sorted(suffixes))} file"
    if leads_out(path, inside):
        return LEADS_OUT
    return ""


def printable(name: str) -> str:
    """A name of the file system as text."""
    return os.fsencode(name).decode("utf-8", "replace")
