"""SQLite files that only their owner may read."""

import os
import sqlite3
from pathlib import Path

BUSY_SECONDS = 10.0


def open_private(path: Path, schema: str) -> sqlite3.Connection:
    """A file with its tables, made if there is none. Raises OSError and sqlite3.Error."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS)
    connection.executescript(schema)
    return connection
