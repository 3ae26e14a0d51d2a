"""A file to read, and what holds for it. A process that reads needs no more of the sources."""

import hashlib
import os
import sqlite3
import time
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple


@dataclass(frozen=True)
class CorpusRule:
    """Rule for the files of one corpus.

    Without `corpus` each document's own metadata field `corpus_field` names it. `metadata` are
    values for documents that do not say; `encoding` is what text files are in, empty for UTF-8.
    `language` is the one its words are analysed in, empty if nobody says.
    """

    corpus: str = ""
    corpus_field: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    encoding: str = ""
    language: str = ""


class SourceFile(NamedTuple):
    """A file to read.

    `location` is its path, `name` how reports call it, `stem` what the ids of its documents begin
    with. `known` are the digests of its documents in the live version, by key, if they were read
    and cut in the same way. `metadata` goes before what its documents say: somebody wrote it by
    hand. `parts` are the other files that it is read with, `replaced` the keys of its records that
    are no documents, since the files that they name are.
    """

    location: str
    name: str
    stem: str
    rule: CorpusRule
    known: Mapping[str, bytes] = {}
    metadata: Mapping[str, object] = {}
    parts: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        return Path(self.location)


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


_Known = tuple[str, bytes]
"""The state of a file, and its digest."""


_UNKNOWN: _Known = "", b""


class FileDigests:
    """Digests of the files of one origin, kept in `folder` from build to build.

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
        self._asked: set[str] = set()

    def unchanged(self, files: Iterable[str]) -> list[bytes]:
        """Return the SHA-256 of each of these files that is as it was when it was read last.

        Of others, and of those that are not there, it is empty: `of` tells of them.
        """
        before, now = self._before, self._now
        result = []
        for name in files:
            known = before.get(name, _UNKNOWN)
            try:
                is_same = _state(os.stat(name)) == known[0]
            except OSError:
                is_same = False
            if is_same:
                now[name] = known
            result.append(known[1] if is_same else b"")
        return result

    def of(self, file: Path | str) -> bytes:
        """Return the SHA-256 of its bytes. Raises OSError."""
        # a process may stand in a folder that is gone, and has no need of it for a whole path
        name = str(file) if os.path.isabs(file) else os.path.join(os.getcwd(), file)
        now = os.stat(name)
        state = _state(now)
        known = self._now.get(name) or self._before.get(name)
        if known is None or known[0] != state:
            is_settled = time.time_ns() - max(now.st_mtime_ns, now.st_ctime_ns) > _SETTLED_NS
            known = state if is_settled else "", sha256_of(file)
        self._now[name] = known
        self._asked.add(name)
        return known[1]

    def keep(self) -> None:
        """Keep those that were asked for, and forget the others of this origin.

        What lies below a folder whose name is no text is read each time.
        """
        # all others are as they were
        asked = [(name, self._now[name]) for name in self._asked]
        settled = [(name, known) for name, known in asked if known[0] and _is_text(name)]
        gone = self._kept.keys() - self._now.keys()
        gone |= {name for name, (state, _) in asked if not state and name in self._kept}
        with closing(sqlite3.connect(self._path)) as connection, connection:
            connection.executescript(_SCHEMA)
            connection.executemany(
                "DELETE FROM files WHERE origin = ? AND path = ?",
                ((self._origin, name) for name in gone),
            )
            connection.executemany(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)",
                ((self._origin, name, *known) for name, known in settled),
            )

    def _read(self) -> dict[str, _Known]:
        if not self._path.exists():
            return {}
        query = "SELECT path, state, digest FROM files WHERE origin = ?"
        try:
            with closing(sqlite3.connect(self._path)) as connection:
                rows = connection.execute(query, (self._origin,)).fetchall()
        except sqlite3.DatabaseError:  # damaged: it only saves work
            self._path.unlink()
            return {}
        return {path: (state, digest) for path, state, digest in rows}


def _state(file: os.stat_result) -> str:
    """Return what changes whenever a file is written to."""
    return f"{file.st_dev} {file.st_ino} {file.st_size} {file.st_mtime_ns} {file.st_ctime_ns}"


def _is_text(name: str) -> bool:
    """Return whether a name of the file system can be written: some are not UTF-8."""
    return name.isascii() or name.encode("utf-8", "ignore").decode() == name


def sha256_of(file: Path | str) -> bytes:
    """Return the SHA-256 of a file's bytes. Raises OSError."""
    with open(file, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").digest()
