"""What language models cost each caller today; on disk, so that a restart forgets nothing."""

import sqlite3
import threading
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

from atlas_search.core.errors import ConfigurationError
from atlas_search.server.access.private import open_private

DAYS_KEPT = 31
_TABLE = """
CREATE TABLE IF NOT EXISTS spent (
    day TEXT NOT NULL, who TEXT NOT NULL, cost REAL NOT NULL, PRIMARY KEY (day, who)
) WITHOUT ROWID
"""


class Spending:
    """The sums by day and caller, in the currency of the targets' prices. Safe for threads.

    The file is made with the first cost. Raises ConfigurationError if it cannot be used.
    """

    def __init__(self, path: Path):
        self._path = path
        self._lock = threading.Lock()

    def of(self, who: str, day: date) -> float:
        """What somebody has spent on a day."""
        if not self._path.exists():
            return 0.0
        with self._lock, closing(self._open()) as connection:
            query = "SELECT cost FROM spent WHERE day = ? AND who = ?"
            found = connection.execute(query, (day.isoformat(), who)).fetchone()
        return float(found[0]) if found else 0.0

    def add(self, who: str, day: date, cost: float) -> None:
        """Add a cost, and forget old days."""
        with self._lock, closing(self._open()) as connection, connection:
            connection.execute(
                "INSERT INTO spent VALUES (?, ?, ?) "
                "ON CONFLICT (day, who) DO UPDATE SET cost = cost + excluded.cost",
                (day.isoformat(), who, cost),
            )
            oldest = day - timedelta(days=DAYS_KEPT)
            connection.execute("DELETE FROM spent WHERE day < ?", (oldest.isoformat(),))

    def _open(self) -> sqlite3.Connection:
        try:
            return open_private(self._path, _TABLE)
        except (OSError, sqlite3.Error) as error:
            raise ConfigurationError(f"{self._path} cannot be used: {error}.") from error
