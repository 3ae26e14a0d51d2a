"""SHA-256 of source files, computed again only of those that may have changed."""

import hashlib
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

KEPT = ".sources.sqlite"
"""Beside the versions of a collection. Without it every file is read, and nothing else is lost."""

_SETTLED_NS = 2_000_000_000
"""A file written to this shortly before it is read may be so once more without a trace: some disks
know the time of a change to two seconds only."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS files (
    origin TEXT NOT NULL, path TEXT NOT NULL, state TEXT NOT NULL, digest BLOB NOT NULL,
    PRIMARY KEY (origin, path)
) WITHOUT ROWID;
"""


class _Known(NamedTuple):
    state: str
    digest: bytes


class FileDigests:
    """The digests of the files of one origin, kept in `folder` from build to build.

    A file counts as unchanged while its disk, inode and size and the times of the last change of
    its content and of its entry stay the same; nobody can set the last of these. `read_all` reads
    each file at least once.
    """

    def __init__(self, folder: Path, origin: str, *, read_all: bool = False):
        self._path = folder / KEPT
        self._origin = origin
        self._kept = self._read()  # in any case: a damaged list goes before it is written to
        self._before: dict[str, _Known] = {} if read_all else self._kept
        self._now: dict[str, _Known] = {}

    def of(self, file: Path | str) -> bytes:
        """The SHA-256 of its bytes. Raises OSError."""
        # a process may stand in a folder that is gone, and has no need of it for a whole path
        name = str(file) if os.path.isabs(file) else os.path.join(os.getcwd(), file)
        s = os.stat(name)
        state = f"{s.st_dev} {s.st_ino} {s.st_size} {s.st_mtime_ns} {s.st_ctime_ns}"
        known = self._now.get(name) or self._before.get(name)
        if known is None or known.state != state:
            is_settled = time.time_ns() - max(s.st_mtime_ns, s.st_ctime_ns) > _SETTLED_NS
            known = _Known(state if is_settled else "", sha256_of(file))
        self._now[name] = known
        return known.digest

    def keep(self) -> None:
        """Keep those that were asked for, and forget the others of this origin.

        What lies below a folder whose name is no text is read each time.
        """
        settled = {
            name: known for name, known in self._now.items() if known.state and _is_text(name)
        }
        gone = [(self._origin, name) for name in self._kept.keys() - settled.keys()]
        rows = [
            (self._origin, name, *known)
            for name, known in settled.items()
            if self._kept.get(name) != known
        ]
        with closing(sqlite3.connect(self._path)) as connection, connection:
            connection.executescript(_SCHEMA)
            connection.executemany("DELETE FROM files WHERE origin = ? AND path = ?", gone)
            connection.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)", rows)

    def _read(self) -> dict[str, _Known]:
        if not self._path.exists():
            return {}
        query = "SELECT path, state, digest FROM files WHERE origin = ?"
        try:
            with closing(sqlite3.connect(self._path)) as connection:
                found = connection.execute(query, (self._origin,)).fetchall()
        except sqlite3.DatabaseError:  # damaged: it only saves work
            self._path.unlink()
            return {}
        return {path: _Known(state, digest) for path, state, digest in found}


def _is_text(name: str) -> bool:
    """Whether a name of the file system can be written: some are not UTF-8."""
    return name.isascii() or name.encode("utf-8", "ignore").decode() == name


def sha256_of(file: Path | str) -> bytes:
    """The SHA-256 of a file's bytes. Raises OSError."""
    with open(file, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").digest()
