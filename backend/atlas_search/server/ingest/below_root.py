"""Files that lie in INGEST_ROOT already, named by their path: nothing outside of it is read."""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO

from atlas_search.core.errors import RequestError
from atlas_search.core.files import folder_below, open_below
from atlas_search.server.ingest.arrival import MOST_FILES, Handed

SEEN = 100_000  # files and folders that are looked at: listing them holds a thread of the server


def path_below(root: Path, path: str) -> Path:
    """What is meant by `path` from `root`, without links.

    Raises RequestError for what is not there, lies outside of `root`, or is hidden.
    """
    home = root.resolve()
    try:
        found = (home / path).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        raise RequestError(_nothing(path)) from None
    _check_inside(found, home, path)
    return found


def files_below(root: Path, found: Path, suffixes: frozenset[str]) -> list[Handed]:
    """The files at or below a path that `path_below` gave, with their names from there.

    Those that cannot be read are among them. Raises RequestError for a link that leads out of
    `root`, for more than MOST_FILES that end in one of `suffixes`, and for a folder of very many
    others.
    """
    home = root.resolve()
    if found.is_file():
        return [Handed(found.name, partial(_open, home, found))]
    if not found.is_dir():
        return []
    handed, readable = [], 0
    for seen, (name, file) in enumerate(_walk(found, home)):
        if file is None:
            continue
        readable += name.lower().endswith(tuple(suffixes))
        if readable > MOST_FILES or seen > SEEN:
            most = f"{MOST_FILES} files" if seen <= SEEN else f"{SEEN} files and folders"
            raise RequestError(f"More than {most} lie there. Name a part of them.")
        handed.append(Handed(name, partial(_open, home, file)))
    return handed


def _walk(folder: Path, home: Path) -> Iterator[tuple[str, Path | None]]:
    """What is below a folder of `home`, with its name from there; None for what is no file."""
    try:
        with folder_below(home, folder.relative_to(home)) as top:
            for base, folders, names, _ in os.fwalk(".", dir_fd=top):
                folders[:] = sorted(name for name in folders if not name.startswith("."))
                for name in (*folders, *sorted(names)):
                    if not name.startswith("."):
                        yield _seen(folder, Path(base, name), home)
    except OSError as error:
        raise RequestError(f"{folder.name!r} cannot be listed: {error.strerror}.") from error


def _seen(folder: Path, inner: Path, home: Path) -> tuple[str, Path | None]:
    name, path = os.fsencode(inner).decode(errors="replace"), folder / inner
    if path.is_symlink():
        path = path.resolve()
        _check_inside(path, home, name)
    return name, path if path.is_file() else None


def _check_inside(found: Path, home: Path, said: str) -> None:
    """Raise RequestError unless `found`, a path without links, lies in `home` and is not hidden."""
    if found == home:
        raise RequestError("INGEST_ROOT holds what is kept already. Name a folder or file in it.")
    if not found.is_relative_to(home):
        raise RequestError(_nothing(said))
    if any(part.startswith(".") for part in found.relative_to(home).parts):
        raise RequestError(f"{said[:80]!r} is hidden: a part of its path begins with a dot.")


def _nothing(path: str) -> str:
    # one sentence for both: else it would tell what lies elsewhere on this machine
    return f"There is no {path[:80]!r} in INGEST_ROOT, and nothing outside of it is read."


def _open(home: Path, path: Path) -> IO[bytes]:
    """Open what was a regular file in `home`. Raises RequestError if it is not any more."""
    try:
        return open_below(home, path.relative_to(home))
    except OSError as error:
        raise RequestError(f"{path.name!r} cannot be read: {error.strerror}.") from error
