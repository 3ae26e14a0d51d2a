"""What a judge said, kept: the same question of the same model is not paid for twice."""

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from threading import Lock

from atlas_search.core.errors import ConfigurationError
from atlas_search.core.files import writing

NAME = "judge.sqlite"

_TABLE = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL)"


class KeptReplies:
    """Replies by key, in a file of its user alone. Safe to use from several threads.

    Raises ConfigurationError if the file cannot be used.
    """

    def __init__(self, path: Path):
        self.path = path
        self._lock = Lock()
        with writing(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
        self._run(_TABLE)

    def find(self, key: str) -> str | None:
        """The reply, if there is one."""
        found = self._run("SELECT reply FROM replies WHERE key = ?", key)
        return str(found[0][0]) if found else None

    def keep(self, key: str, reply: str) -> str:
        """Keep a reply; the one that is kept, which is another's if that came first."""
        self._run("INSERT OR IGNORE INTO replies VALUES (?, ?)", key, reply)
        return self.find(key) or reply

    def _run(self, statement: str, *values: str) -> Sequence[tuple[object, ...]]:
        try:
            with (
                self._lock,
                writing(self.path.parent),
                closing(sqlite3.connect(self.path, timeout=30)) as connection,
                connection,
            ):
                return connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise ConfigurationError(
                f"{self.path} cannot be used: {error}. Delete it: the judge is asked again then."
            ) from error


def key_of(*parts: str) -> str:
    """The digest of all that decides a reply."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
