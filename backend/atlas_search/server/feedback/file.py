"""The file of answers that can be rated, and of votes."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from atlas_search.core.errors import ConfigurationError
from atlas_search.server.access.private import open_private

_TABLES = """
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS answers (
    id INTEGER PRIMARY KEY,
    owner TEXT NOT NULL, qa_id TEXT NOT NULL, collection TEXT NOT NULL, target TEXT NOT NULL,
    kept REAL NOT NULL, about TEXT NOT NULL, span_id TEXT NOT NULL,
    changed INTEGER NOT NULL DEFAULT 0, sent INTEGER NOT NULL DEFAULT 0,
    voted REAL NOT NULL DEFAULT 0, due REAL NOT NULL DEFAULT 0, tries INTEGER NOT NULL DEFAULT 0,
    placed TEXT NOT NULL DEFAULT '[]'
);
CREATE INDEX IF NOT EXISTS by_name ON answers (owner, qa_id);
CREATE INDEX IF NOT EXISTS to_send ON answers (due) WHERE changed > sent AND span_id <> '';
CREATE TABLE IF NOT EXISTS votes (
    answer INTEGER NOT NULL, voter TEXT NOT NULL, vote TEXT NOT NULL, given INTEGER NOT NULL,
    updated TEXT NOT NULL, version INTEGER NOT NULL, placed TEXT NOT NULL DEFAULT '[]',
    PRIMARY KEY (answer, voter)
) WITHOUT ROWID;
"""
# `changed` counts the changes to an answer's votes, `sent` says up to which Phoenix has them, and
# `placed` what stands there under their names and must be taken back if it is withdrawn


class FeedbackFile:
    """The file, made when it is first used. Safe to use from several threads."""

    def __init__(self, path: Path):
        self.path = path
        self._lock = threading.Lock()

    @contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        """One transaction. Raises ConfigurationError if the file cannot be used."""
        try:
            with self._lock, closing(open_private(self.path, _TABLES)) as connection, connection:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
        except (OSError, sqlite3.Error) as error:
            raise ConfigurationError(f"{self.path} cannot be used: {error}.") from error
