"""Answers that may be read by whoever has a link, until it expires or its maker is let in no more.

A link holds 256 random bits of which only the hash is kept, so nobody can make one up, and the file
gives none away.
"""

import hashlib
import json
import secrets
import sqlite3
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from time import time
from typing import NamedTuple

from atlas_search.core.errors import ConfigurationError, Conflict, NotFound
from atlas_search.server.access.private import open_private

MOST_OF_ONE = 1000  # open links; an answer is 0.1 MB
_TABLE = """
CREATE TABLE IF NOT EXISTS shared (
    token TEXT PRIMARY KEY, owner TEXT NOT NULL, expires REAL NOT NULL, document TEXT NOT NULL
) WITHOUT ROWID
"""


class Link(NamedTuple):
    """The secret of a link, and when it expires (seconds since 1970)."""

    token: str
    expires: float


class SharedAnswers:
    """The answers behind links, in a file. Safe to use from several threads.

    `knows` says whether an owner is still let in. Raises ConfigurationError if the file cannot be
    used.
    """

    def __init__(self, path: Path, knows: Callable[[str], bool], clock: Callable[[], float] = time):
        self._path = path
        self._knows = knows
        self._clock = clock
        self._lock = threading.Lock()

    def share(self, document: Mapping[str, object], owner: str, seconds: float) -> Link:
        """Keep an answer for so long. Raises Conflict for one link too many."""
        token, expires = secrets.token_urlsafe(32), self._clock() + seconds
        with self._lock, closing(self._open()) as connection, connection:
            connection.execute("DELETE FROM shared WHERE expires <= ?", (self._clock(),))
            query = "SELECT COUNT(*) FROM shared WHERE owner = ?"
            (count,) = connection.execute(query, (owner,)).fetchone()
            if count >= MOST_OF_ONE:
                raise Conflict(f"{count} links of yours are open. Wait until some expire.")
            row = (_hash(token), owner, expires, json.dumps(document))
            connection.execute("INSERT INTO shared VALUES (?, ?, ?, ?)", row)
        return Link(token, expires)

    def read(self, token: str) -> dict[str, object]:
        """The answer behind a link. Raises NotFound, whatever the reason."""
        found = self._find(_hash(token)) if self._path.exists() else None
        if found is None or found[1] <= self._clock() or not self._knows(found[0]):
            raise NotFound("There is no such link, or it has expired or was taken back.")
        document: dict[str, object] = json.loads(found[2])
        return document

    def _find(self, token: str) -> tuple[str, float, str] | None:
        with self._lock, closing(self._open()) as connection:
            query = "SELECT owner, expires, document FROM shared WHERE token = ?"
            found: tuple[str, float, str] | None = connection.execute(query, (token,)).fetchone()
        return found

    def _open(self) -> sqlite3.Connection:
        try:
            return open_private(self._path, _TABLE)
        except (OSError, sqlite3.Error) as error:
            raise ConfigurationError(f"{self._path} cannot be used: {error}.") from error


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
