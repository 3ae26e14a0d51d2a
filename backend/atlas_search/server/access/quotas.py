"""Limits of each caller: requests in a minute, streams at once, model cost in a day.

Links, too, by which anybody may read an answer, until they expire or their maker loses access.
A link holds 256 random bits of which only the hash is kept, so nobody can make one up, and the file
gives none away.
"""

import hashlib
import json
import os
import secrets
import sqlite3
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from time import monotonic
from time import time as time_time
from typing import NamedTuple

from cachetools import LRUCache

from atlas_search.core.errors import ConfigurationError, Conflict, NotFound, TooManyQuestions
from atlas_search.core.settings import Settings
from atlas_search.server.access.caller import Caller
from atlas_search.server.access.keys import KeyLimits

BUSY_SECONDS = 10.0


def open_private(path: Path, schema: str) -> sqlite3.Connection:
    """A file with its tables, made if there is none. Raises OSError and sqlite3.Error."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS)
    connection.executescript(schema)
    return connection


DAYS_KEPT = 31
_SPENDING_TABLE = """
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
        """Return what somebody has spent on a day."""
        if not self._path.exists():
            return 0.0
        with self._lock, closing(self._open()) as connection:
            query = "SELECT cost FROM spent WHERE day = ? AND who = ?"
            row = connection.execute(query, (day.isoformat(), who)).fetchone()
        return float(row[0]) if row else 0.0

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
            return open_private(self._path, _SPENDING_TABLE)
        except (OSError, sqlite3.Error) as error:
            raise ConfigurationError(f"{self._path} cannot be used: {error}.") from error


MINUTE = 60.0
STREAM_SECONDS = 5.0  # after which a place may be free again
COUNTED_AT_ONCE = 10_000  # callers; those who have not asked for longest are forgotten

Release = Callable[[], None]
"""Frees a place; it may be called again."""


class Limiter:
    """Counts the requests, streams and costs of callers. Safe to use from several threads.

    A caller is a key, or an address where none is sent. A key that says nothing of a limit has
    that of the settings, as an address has. Raises TooManyQuestions, with the seconds to wait.
    """

    def __init__(
        self, settings: Settings, spending: Spending, clock: Callable[[], float] = monotonic
    ):
        self._default = KeyLimits(
            requests_per_minute=settings.limit_requests_per_minute or None,
            streams=settings.limit_streams or None,
            cost_per_day=settings.limit_cost_per_day or None,
        )
        self._spending = spending
        self._clock = clock
        self._lock = threading.Lock()
        self._requests: LRUCache[str, deque[float]] = LRUCache(COUNTED_AT_ONCE)
        self._streams: Counter[str] = Counter()

    def count_request(self, caller: Caller, address: str) -> None:
        """Count a request, unless it is one too many in the last minute."""
        most = self._limits(caller).requests_per_minute
        if most is None:
            return
        who, now = spender(caller, address), self._clock()
        with self._lock:
            times = self._requests.setdefault(who, deque())
            while times and times[0] <= now - MINUTE:
                times.popleft()
            if len(times) >= most:
                raise TooManyQuestions(
                    f"{most} requests were sent within a minute, as many as may be.",
                    times[-most] + MINUTE - now,
                )
            times.append(now)

    def open_stream(self, caller: Caller, address: str) -> Release:
        """Take one of the caller's places for answers that are sent at once."""
        who, most = spender(caller, address), self._limits(caller).streams
        with self._lock:
            if most is not None and self._streams[who] >= most:
                raise TooManyQuestions(
                    f"{most} answers are being sent to you at once, as many as may be.",
                    STREAM_SECONDS,
                )
            self._streams[who] += 1
        return self._releasing(who)

    def check_cost(self, caller: Caller, address: str) -> None:
        """Refuse who has spent all they may today; an answer that has begun is finished."""
        most = self._limits(caller).cost_per_day
        if most is None:
            return
        now = datetime.now(UTC)
        if self._spending.of(spender(caller, address), now.date()) >= most:
            midnight = datetime.combine(now.date() + timedelta(days=1), time(), UTC)
            raise TooManyQuestions(
                f"Language models have cost {most} today, as much as they may; a new day begins "
                "at midnight (UTC).",
                (midnight - now).total_seconds(),
            )

    def _limits(self, caller: Caller) -> KeyLimits:
        own = caller.key.limits if caller.key else KeyLimits()
        return self._default.model_copy(update=own.model_dump(exclude_none=True))

    def _releasing(self, who: str) -> Release:
        held = [who]

        def release() -> None:
            with self._lock:
                if not held:
                    return
                held.clear()
                self._streams[who] -= 1
                if not self._streams[who]:
                    del self._streams[who]

        return release


def spender(caller: Caller, address: str) -> str:
    """Name the account: the key's, or the address's."""
    return caller.key.id if caller.key else caller.owner or address


MOST_OF_ONE = 1000  # open links; an answer is 0.1 MB
_SHARED_TABLE = """
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

    def __init__(
        self, path: Path, knows: Callable[[str], bool], clock: Callable[[], float] = time_time
    ):
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
        """Return the answer behind a link. Raises NotFound, whatever the reason."""
        row = self._find(_hash(token)) if self._path.exists() else None
        if row is None or row[1] <= self._clock() or not self._knows(row[0]):
            raise NotFound("There is no such link, or it has expired or was taken back.")
        document: dict[str, object] = json.loads(row[2])
        return document

    def _find(self, token: str) -> tuple[str, float, str] | None:
        with self._lock, closing(self._open()) as connection:
            query = "SELECT owner, expires, document FROM shared WHERE token = ?"
            row: tuple[str, float, str] | None = connection.execute(query, (token,)).fetchone()
        return row

    def _open(self) -> sqlite3.Connection:
        try:
            return open_private(self._path, _SHARED_TABLE)
        except (OSError, sqlite3.Error) as error:
            raise ConfigurationError(f"{self._path} cannot be used: {error}.") from error


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
