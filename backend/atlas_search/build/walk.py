"""The files of a folder of sources, without those that a link leads to from outside of it."""

import os
from collections.abc import Iterable, Iterator, Sequence
from errno import ENAMETOOLONG
from pathlib import Path
from typing import NamedTuple

from atlas_search.core.errors import SourceError

LEADS_OUT = "a link that leads out of the source folder, which is not followed"
"""Why a file or folder is left out."""

_UNPRINTABLE = "its name is not UTF-8: rename it"


class Found(NamedTuple):
    """A file below a folder: its absolute path, its name from there, and why it is left out, if it
    is.

    Text, not a Path: there are tens of thousands of them, of which few are read.
    """

    location: str
    name: str
    reason: str


def real_paths(roots: Iterable[Path]) -> list[Path]:
    """Where sources really are. Whoever names a link as a source means what it leads to."""
    return [root.resolve() for root in roots]


def leads_out(path: Path, roots: Sequence[Path]) -> bool:
    """Whether `path` is a link to what is in none of `roots`, as `real_paths` gives them."""
    return path.is_symlink() and not any(path.resolve().is_relative_to(root) for root in roots)


def walk(root: Path, suffixes: frozenset[str], inside: Sequence[Path]) -> list[Found]:
    """Each file below `root`, folder by folder in order of name, or `root` itself.

    Links that lead out of `inside` are not followed. Names that begin with a dot are passed over.
    Raises SourceError for a folder that cannot be listed: its documents would seem to be gone.
    """
    top = str(root.absolute())
    if root.is_file():
        return [Found(top, printable(root.name), _refusal(root, suffixes, real_paths([root])))]
    if not root.is_dir():
        raise SourceError(f"{root} does not exist. Give a file or a folder of sources.")
    above = len(top.rstrip(os.sep)) + 1
    endings = tuple(suffixes)
    found = []
    for location, is_plain in _files(top):
        inner = location[above:].replace(os.sep, "/")
        name = printable(inner)
        if name != inner:  # a folder may be called so, too
            reason = _UNPRINTABLE
        elif is_plain:
            reason = _refusal_by_name(os.path.basename(location), endings)
        else:
            reason = _refusal(Path(location), suffixes, inside)
        found.append(Found(location, name, reason))
    return sorted(found, key=lambda each: each.location.replace(os.sep, "\0"))


def _files(top: str) -> Iterator[tuple[str, bool]]:
    """What is below `top` and no folder, links and folders too deep to be listed among it, and
    whether it is surely a file: of thousands, nothing more is asked."""
    waiting = [top]  # not os.walk, which calls itself: a thousand folders in folders are too many
    while waiting:
        folder = waiting.pop()
        try:
            entries = [entry for entry in os.scandir(folder) if not entry.name.startswith(".")]
        except OSError as error:
            if error.errno != ENAMETOOLONG:
                raise SourceError(
                    f"{folder} cannot be listed: {error.strerror}. Mend that first."
                ) from error
            yield folder, False
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            else:
                yield entry.path, entry.is_file(follow_symlinks=False)


def _refusal_by_name(name: str, endings: tuple[str, ...]) -> str:
    if not name.lower().endswith(endings):
        return f"not a {' or '.join(sorted(endings))} file"
    return ""


def _refusal(path: Path, suffixes: frozenset[str], inside: Sequence[Path]) -> str:
    if printable(path.name) != path.name:
        return _UNPRINTABLE
    try:
        is_folder, is_file = path.is_dir(), path.is_file()
    except OSError:
        return "its path is too long for the system: move it up"
    if is_folder:
        return "a link to a folder, which is not followed: name that folder as a source"
    if not is_file:
        return "a link to nothing" if path.is_symlink() else "not a regular file"
    by_name = _refusal_by_name(path.name, tuple(suffixes))
    return LEADS_OUT if not by_name and leads_out(path, inside) else by_name


def printable(name: str) -> str:
    """A name of the file system as text."""
    return name if name.isascii() else os.fsencode(name).decode("utf-8", "replace")
