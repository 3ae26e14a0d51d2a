"""Taking files in: checked, and copied to where a build finds them. Nothing is overwritten yet."""

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from atlas_search.core.errors import Conflict, RequestError, Unavailable
from atlas_search.core.files import folder_below, open_below
from atlas_search.server.ingest.documents import LeftOut, TakenFile
from atlas_search.server.ingest.names import find_clash, safe_name

MEGABYTE = 1_000_000
MOST_FILES = 1000  # in one request
MOST_LEFT_OUT = 100  # files that are named; of more the number is said
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
class Places:
    """Where files of a corpus come to, each a path from `root`: first, and once they are live."""

    root: Path
    arriving: Path
    kept: Path


@dataclass(frozen=True)
class Arrival:
    """Files in the folder of a job, not yet among the kept ones.

    Of those that are left out the first are named, and the number of the others given.
    """

    files: list[TakenFile]
    left_out: list[LeftOut]
    more_left_out: int = 0


def take_in(
    handed: Sequence[Handed],
    places: Places,
    limits: Limits,
    *,
    replace: bool,
    waiting: Collection[str],
) -> Arrival:
    """Copy what can be read to where it arrives; `waiting` are the names that jobs before this one
    bring there.

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
        place = places.arriving / name
        size = _copy(each, places.root, place, min(room, limits.file), limits)
        room -= size
        replaces = _replaces(name, places, waiting)
        files[name] = TakenFile(sent_as=each.name, name=name, bytes=size, replaces=replaces)
    if taken := [name for name, file in files.items() if file.replaces and not replace]:
        raise Conflict(
            f"Other files of these names are kept: {', '.join(taken[:5])}. Send `replace` to put "
            "the new ones in their places, or rename them."
        )
    check_clash(files, waiting)
    if not files:
        reasons = "; ".join(f"{each.name}: {each.reason}" for each in left_out[:3])
        raise RequestError(f"There is no file to take in ({reasons or 'none was sent'}).")
    named = left_out[:MOST_LEFT_OUT]
    return Arrival(list(files.values()), named, len(left_out) - len(named))


def check_clash(names: Collection[str], waiting: Collection[str]) -> None:
    """Raise Conflict for the name of a file that a request before this one uses for a folder."""
    if clash := find_clash(names, waiting):
        raise Conflict(
            f"{clash!r} cannot be kept: another request brings a folder or file of that name. "
            "Wait for its end."
        )


def _copy(handed: Handed, root: Path, place: Path, room: int, limits: Limits) -> int:
    """Copy a file to its place from `root`; its bytes."""
    size = 0
    try:
        with handed.open() as source, _new_file(root, place) as target:
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


def _new_file(root: Path, place: Path) -> IO[bytes]:
    with folder_below(root, place.parent, make=True) as folder:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        return os.fdopen(os.open(place.name, flags, 0o666, dir_fd=folder), "wb")


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


def _replaces(name: str, places: Places, waiting: Collection[str]) -> bool:
    """Whether there is, or will be, another text at the place.

    Raises Conflict for a folder or a link there, and for a file or a link on the way.
    """
    with open_below(places.root, places.arriving / name) as new:
        try:
            with open_below(places.root, places.kept / name) as old:
                return name in waiting or not _is_same(new, old)
        except FileNotFoundError:
            return name in waiting
        except OSError as error:
            raise Conflict(
                f"{name!r} cannot be kept: a folder, file or link has that name already."
            ) from error


def _is_same(one: IO[bytes], other: IO[bytes]) -> bool:
    while block := one.read(_BLOCK):
        if other.read(len(block)) != block:
            return False
    return not other.read(1)
