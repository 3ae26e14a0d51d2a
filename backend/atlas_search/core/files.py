"""Files that are written and opened with care: full disks in one line, and no link followed.

Files below a folder are reached part by part, so that no link leads away from it: a path that is
checked first and used afterwards can become a link in between. A descriptor of the folder it lies
in cannot.
"""

import errno
import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import IO

from atlas_search.core.errors import AtlasError, FullDisk, Unavailable, UnwritableFolder

FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
CLOSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_NO_PLACE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP})

# tantivy and Chroma give the system's words, and no number
_WORDS_OF_FULL = (
    "no space left",
    "disk is full",
    "disk quota",
    "file too large",
    "disk i/o error",
    "requested and",
)
_WORDS_OF_CLOSED = ("read-only file system", "readonly database", "unable to open database file")

_BUILDING = (
    "What is live has not changed. Make room and run the same command again: it goes on with what "
    "it has read and embedded."
)
_SERVED = (
    "It can be served and verified as it is; to change it, mount it for writing, or give this user "
    "the right to write."
)

MEGABYTE = 1_000_000


def stamp(path: Path) -> tuple[int, int, int] | None:
    """The inode, time and size of a file, which tell a new one in its place; None without one."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


@contextmanager
def writing(folder: Path, needed: int = 0, then: str = "") -> Iterator[None]:
    """Turn what a full disk or a read-only `folder` raises into UnwritableFolder.

    `needed` are the bytes that the whole takes, about; 0 if that is not known yet. `then` says what
    has become of it and what to do, where it is no build.
    """
    try:
        yield
    except AtlasError:
        raise
    except Exception as error:  # SQLite, NumPy, tantivy and Chroma each raise their own
        if is_full(error):
            raise UnwritableFolder(_full(folder, needed, then or _BUILDING)) from error
        if _is_closed(error, folder):
            raise UnwritableFolder(_closed(folder, error, then or _SERVED)) from error
        raise


@contextmanager
def crowded(folder: Path, needed: int) -> Iterator[None]:
    """Take what fails while less than half of `needed` is free for a full disk.

    Chroma does not say why its index could not be written.
    """
    try:
        yield
    except AtlasError:
        raise
    except Exception as error:
        if is_full(error) or free_bytes(folder) * 2 >= needed:
            raise
        raise OSError(errno.ENOSPC, str(error)) from error


@contextmanager
def writing_anywhere() -> Iterator[None]:
    """Turn what a full disk or a closed folder raises for a file it names into UnwritableFolder."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL | CLOSED | _NO_PLACE or not isinstance(error.filename, str):
            raise
        if error.errno in _NO_PLACE:
            raise UnwritableFolder(
                f"{error.filename} cannot be written or read ({error.strerror}). Name another "
                "file, in a folder that is there."
            ) from error
        raise UnwritableFolder(
            f"{error.filename} cannot be written or read ({error.strerror}). Make room there, "
            "allow this user to use it, or name another file."
        ) from error


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that is never seen half-written."""
    unfinished = path.with_name(f".{path.name}.new")
    unfinished.write_bytes(content)
    unfinished.replace(path)


def is_full(error: BaseException) -> bool:
    """Return True if an error, of whatever library, says that there is no room left."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno in FULL
    if isinstance(error, sqlite3.Error):
        name = getattr(error, "sqlite_errorname", "")
        # SQLite calls a write that the system refused for another reason an I/O error
        return name == "SQLITE_FULL" or (name.startswith("SQLITE_IOERR") and "READ" not in name)
    return any(words in str(error).lower() for words in _WORDS_OF_FULL)


def not_kept(name: str, folder: str, error: OSError) -> Unavailable:
    """The error for what a caller sent and the disk of the server's `folder` does not take."""
    message = f"{name} cannot be kept in {folder}: {error.strerror or error}."
    if not is_full(error):
        return Unavailable(message)
    return FullDisk(f"{message} Nothing of it was taken in. Make room there, and send it again.")


def _is_closed(error: BaseException, folder: Path) -> bool:
    if isinstance(error, OSError) and error.errno is not None:
        named = Path(error.filename) if isinstance(error.filename, str) else folder
        return error.errno in CLOSED and (named == folder or folder in named.parents)
    if isinstance(error, sqlite3.Error):
        names = ("SQLITE_READONLY", "SQLITE_CANTOPEN")
        return getattr(error, "sqlite_errorname", "").startswith(names)
    return any(words in str(error).lower() for words in _WORDS_OF_CLOSED)


def _full(folder: Path, needed: int, then: str) -> str:
    need = f", and this takes about {_megabytes(needed)}" if needed else ""
    return f"The disk is full: {folder} has {_megabytes(free_bytes(folder))} left{need}. {then}"


def _closed(folder: Path, error: Exception, then: str) -> str:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{folder} cannot be written ({reason}). {then}"


def free_bytes(folder: Path) -> int:
    """The room that is left for this user on the disk of `folder`, be it there or not."""
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    return shutil.disk_usage(there).free


def _megabytes(count: int) -> str:
    return f"{count / MEGABYTE:,.1f} MB"


# with O_PATH the right to pass through a folder is enough; macOS has no such thing
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | getattr(os, "O_PATH", 0)
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe would be waited for


@contextmanager
def folder_below(root: PurePath, path: PurePath, *, make: bool = False) -> Iterator[int]:
    """A descriptor of the folder that lies at `path` from `root`; what is missing may be made.

    Only `root` may be reached by links. Raises OSError for a link, or for what is no folder.
    """
    if path.is_absolute() or ".." in path.parts:
        raise OSError(errno.EINVAL, "It does not lie below", str(path))
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in path.parts:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=descriptor)
            inner = os.open(part, _FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def open_below(root: PurePath, path: PurePath) -> IO[bytes]:
    """A regular file that lies at `path` from `root`, to be read.

    Raises OSError for a link on the way or in its place, and for a pipe or device.
    """
    with folder_below(root, path.parent) as folder:
        descriptor = os.open(path.name, _FILE, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "It is not a regular file", str(path))
    return os.fdopen(descriptor, "rb")


_PACKAGE = Path(__file__).resolve().parent.parent
_IN_CHECKOUT = {"targets": "targets", "frontend": "frontend", "samples": "create/samples"}


def checkout() -> Path | None:
    """The folder of the checkout that this package is run from; None if it is installed."""
    root = _PACKAGE.parent.parent
    return root if (root / "create" / "samples").is_dir() else None


def bundled_folder(name: str) -> Path:
    """The folder `targets`, `frontend` or `samples`. Nothing may be written into it."""
    root = checkout()
    return root / _IN_CHECKOUT[name] if root else _PACKAGE / "bundled" / name
