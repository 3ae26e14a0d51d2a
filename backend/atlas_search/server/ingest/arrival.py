"""Taking files in: checked, and copied to where a build finds them. Nothing is overwritten yet."""

import filecmp
import os
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from atlas_search.core.errors import Conflict, RequestError, Unavailable
from atlas_search.server.ingest.documents import LeftOut, TakenFile
from atlas_search.server.ingest.names import safe_name

MEGABYTE = 1_000_000
_BLOCK = 1024 * 1024


@dataclass(frozen=True)
class Handed:
    """A file as it was handed over: what it is called, and its bytes when they are wanted."""

    name: str
    open: Callable[[], IO[bytes]]


@dataclass(frozen=True)
class Limits:
    """What is taken: bytes of one file and of all, and what names end in."""

    file: int
    request: int
    suffixes: frozenset[str]


@dataclass(frozen=True)
class Arrival:
    """Files in the folder of a job, not yet among the kept ones."""

    files: list[TakenFile]
    left_out: list[LeftOut]


def take_in(
    handed: Sequence[Handed],
    arriving: Path,
    kept: Path,
    limits: Limits,
    *,
    replace: bool,
    waiting: Collection[str],
) -> Arrival:
    """Copy what can be read to `arriving`; `kept` is where it will lie, `waiting` the names that
    jobs before this one bring there.

    Raises RequestError for what is too large or has no usable name, Conflict for another file of
    the same name unless it may `replace` it, and Unavailable if the disk does not take them.
    """
    files, left_out, room = dict[str, TakenFile](), list[LeftOut](), limits.request
    for each in handed:
        name = safe_name(each.name)
        if not name.lower().endswith(tuple(limits.suffixes)):
            reason = f"not a {' or '.join(sorted(limits.suffixes))} file"
            left_out.append(LeftOut(name=each.name, reason=reason))
            continue
        if name in files:
            raise RequestError(f"{files[name].sent_as!r} and {each.name!r} are both {name!r}.")
        size = _copy(each, arriving / name, min(room, limits.file), limits)
        room -= size
        replaces = _replaces(name, arriving, kept, waiting)
        files[name] = TakenFile(sent_as=each.name, name=name, bytes=size, replaces=replaces)
    if taken := [name for name, file in files.items() if file.replaces and not replace]:
        raise Conflict(
            f"Other files of these names are kept: {', '.join(taken[:5])}. Send `replace` to put "
            "the new ones in their places, or rename them."
        )
    if not files:
        reasons = "; ".join(f"{each.name}: {each.reason}" for each in left_out[:3])
        raise RequestError(f"There is no file to take in ({reasons or 'none was sent'}).")
    return Arrival(list(files.values()), left_out)


def path_below(root: Path, path: str) -> Path:
    """What is meant by `path` from `root`, without links.

    Raises RequestError for what is not there, lies outside of `root`, or is hidden.
    """
    home = root.resolve()
    try:
        found = (home / path).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        raise RequestError(f"There is no {path[:80]!r} in INGEST_ROOT.") from None
    _check_inside(found, home, path)
    return found


def files_below(root: Path, found: Path) -> list[Handed]:
    """The files at or below a path that `path_below` gave, with their names from there.

    Raises RequestError for a link that leads out of `root`.
    """
    home = root.resolve()
    if found.is_file():
        return [Handed(found.name, partial(_open_plain, found))]
    return [Handed(name, partial(_open_plain, file)) for name, file in _walk(found, home)]


def _walk(folder: Path, home: Path) -> Iterator[tuple[str, Path]]:
    for base, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in (*folders, *sorted(names)):
            if name.startswith("."):
                continue
            path = Path(base, name)
            inner = os.fsencode(path.relative_to(folder)).decode(errors="replace")
            if path.is_symlink():
                path = path.resolve()
                _check_inside(path, home, inner)
            if path.is_file():
                yield inner, path


def _check_inside(found: Path, home: Path, said: str) -> None:
    """Raise RequestError unless `found`, a path without links, lies in `home` and is not hidden."""
    if found == home or not found.is_relative_to(home):
        raise RequestError(f"{said!r} does not lie in INGEST_ROOT. Nothing outside it is read.")
    if any(part.startswith(".") for part in found.relative_to(home).parts):
        raise RequestError(f"{said!r} is hidden: a part of its path begins with a dot.")


def _open_plain(path: Path) -> IO[bytes]:
    """Open a regular file that has not become a link meanwhile."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise RequestError(f"{path.name!r} is not a regular file.")
    return os.fdopen(descriptor, "rb")


def _copy(handed: Handed, place: Path, room: int, limits: Limits) -> int:
    """Copy a file to its place; its bytes."""
    size = 0
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with handed.open() as source, place.open("xb") as target:
            while block := source.read(_BLOCK):
                size += len(block)
                if size > room:
                    raise RequestError(_too_large(handed.name, size, limits))
                target.write(block)
            target.flush()
            os.fsync(target.fileno())
    except (FileExistsError, NotADirectoryError) as error:
        raise RequestError(f"{handed.name!r} is the name of a folder and of a file.") from error
    except OSError as error:
        raise Unavailable(f"{handed.name!r} cannot be kept: {error.strerror or error}.") from error
    return size


def _too_large(name: str, size: int, limits: Limits) -> str:
    if size > limits.file:
        return (
            f"{name!r} is larger than {limits.file // MEGABYTE} MB. Split it, or raise "
            "INGEST_MAX_FILE_MB."
        )
    return (
        f"The files are larger than {limits.request // MEGABYTE} MB together. Send fewer, or "
        "raise INGEST_MAX_REQUEST_MB."
    )


def _replaces(name: str, arriving: Path, kept: Path, waiting: Collection[str]) -> bool:
    """Whether there is, or will be, another text at the place. Raises Conflict for a folder."""
    place = kept / name
    if place.is_dir() or any(above.is_file() for above in place.parents if above != kept.parent):
        raise Conflict(f"{name!r} cannot be kept: a folder or file has that name already.")
    if name in waiting:
        return True
    return place.is_file() and not filecmp.cmp(arriving / name, place, shallow=False)
