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


class LeftOut(NamedTuple):
    """A file below a folder that is not to be read: its absolute path, its name from the folder,
    and why."""

    location: str
    name: str
    reason: str


class Walk(NamedTuple):
    """What lies below a folder: the absolute path of each file to read, in the same order its name
    from there, and the others.

    Text, not a Path: there are tens of thousands of them, of which few are read.
    """

    locations: list[str]
    names: list[str]
    left_out: list[LeftOut]


def real_paths(roots: Iterable[Path]) -> list[Path]:
    """Where sources really are. Whoever names a link as a source means what it leads to."""
    return [root.resolve() for root in roots]


def leads_out(path: Path, roots: Sequence[Path]) -> bool:
    """Whether `path` is a link to what is in none of `roots`, as `real_paths` gives them."""
    return path.is_symlink() and not any(path.resolve().is_relative_to(root) for root in roots)


def walk(root: Path, suffixes: frozenset[str], inside: Sequence[Path]) -> Walk:
    """Each file below `root`, in no order, or `root` itself.

    Links that lead out of `inside` are not followed. Names that begin with a dot are passed over.
    Raises SourceError for a folder that cannot be listed: its documents would seem to be gone.
    """
    top = str(root.absolute())
    found = Walk([], [], [])
    if root.is_file():
        _sort_in(found, top, root.name, _refusal(root, suffixes, real_paths([root])))
        return found
    if not root.is_dir():
        raise SourceError(f"{root} does not exist. Give a file or a folder of sources.")
    endings = tuple(suffixes)
    above = len(top.rstrip(os.sep)) + 1
    for folder, plain, others in _folders(top):
        before = f"{folder[above:]}{os.sep}".replace(os.sep, "/") if folder != top else ""
        for location, own in plain:  # of tens of thousands, nothing more is asked
            name = before + own
            if name.isascii() and own.lower().endswith(endings):
                found.locations.append(location)
                found.names.append(name)
            else:
                _sort_in(found, location, name, _refusal_by_name(own, endings))
        for location in others:
            name = location[above:].replace(os.sep, "/")
            _sort_in(found, location, name, _refusal(Path(location), suffixes, inside))
    return found


def _sort_in(found: Walk, location: str, name: str, reason: str) -> None:
    """Add a file, which is left out for a `reason`, if there is one, or for its name."""
    said = printable(name)
    if said != name:  # a folder may be called so, too
        reason = _UNPRINTABLE
    if reason:
        found.left_out.append(LeftOut(location, said, reason))
    else:
        found.locations.append(location)
        found.names.append(name)


def _folders(top: str) -> Iterator[tuple[str, list[tuple[str, str]], list[str]]]:
    """Every folder from `top` on: what are surely its files, with their names, and what else there
    is but folders. That is links, say, or the folder itself if it is too deep to be listed."""
    waiting = [top]  # not os.walk, which calls itself: a thousand folders in folders are too many
    while waiting:
        folder = waiting.pop()
        try:
            entries = [entry for entry in os.scandir(folder) if entry.name[0] != "."]
        except OSError as error:
            if error.errno != ENAMETOOLONG:
                raise SourceError(
                    f"{folder} cannot be listed: {error.strerror}. Mend that first."
                ) from error
            yield folder, [], [folder]
            continue
        plain, others = [], []
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                plain.append((entry.path, entry.name))
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            else:
                others.append(entry.path)
        yield folder, plain, others


def _refusal_by_name(name: str, endings: tuple[str, ...]) -> str:
    if not name.lower().endswith(endings):
        return f"not a {' or '.join(sorted(endings))} file"
    return ""


def _refusal(path: Path, suffixes: frozenset[str], inside: Sequence[Path]) -> str:
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
