"""Limits of each caller: requests in a minute, streams at once, model cost in a day.

Links, too, by which anybody may read an answer, until they expire or their maker loses access.
All of it lies in state files, which may be damaged, locked or on a full disk at any time.
A link holds 256 random bits of which only the hash is kept, so nobody can make one up, and the file
gives none away.
"""

import hashlib
import json
import os
import secrets
import sqlite3
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from time import monotonic
from time import time as time_time
from typing import NamedTuple

from cachetools import LRUCache

from atlas_search.core.errors import (
    ConfigurationError,
    Conflict,
    NotAllowed,
    NotFound,
    TooManyQuestions,
)
from atlas_search.core.files import is_full
from atlas_search.core.settings import Settings
from atlas_search.server.access.caller import Caller
from atlas_search.server.access.keys import KeyLimits
from atlas_search.server.limits import owner_of

BUSY_SECONDS = 1.0  # every transaction takes milliseconds


class StateFile:
    """A SQLite file of what the server keeps, made when first used. Safe for threads.

    `problem` says why the last transaction failed; it is empty if it did not.
    """

    def __init__(self, path: Path, schema: str):
        self.path = path
        self.problem = ""
        self._schema = schema
        self._failed_with: tuple[int, ...] | None = ()
        self._lock = threading.Lock()

    @contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        """One transaction. Raises ConfigurationError for any fault of the file, at any statement.

        What is read is parsed inside, for damage may lie in a value.
        """
        with self._lock:
            try:
                self._make()
                with closing(sqlite3.connect(self.path, timeout=BUSY_SECONDS)) as connection:
                    connection.executescript(self._schema)
                    with connection:
                        connection.execute("BEGIN IMMEDIATE")
                        yield connection
            except (OSError, sqlite3.Error, ValueError) as error:
                self.problem = f"{self.path} {_fault(error)}"
                self._failed_with = () if _is_locked(error) else self._state()
                raise ConfigurationError(self.problem) from error
            self.problem = ""

    def check(self) -> str:
        """Return the problem that a transaction has now, or the last one had; empty if none."""
        last, state = self.problem, self._state()
        self.problem = ""
        if state:
            with suppress(ConfigurationError), self.open():
                pass
        if state == self._failed_with:  # another statement than those of this look may fail
            self.problem = self.problem or last
        return self.problem

    def _state(self) -> tuple[int, ...] | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def _make(self) -> None:
        """Put an empty database there in one step, so that an empty file is a damaged one."""
        if self.path.exists():
            if not self.path.stat().st_size:
                raise sqlite3.DatabaseError("it is empty")
            return
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = self.path.with_suffix(f".{secrets.token_hex(4)}")
        try:
            os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            with closing(sqlite3.connect(new)) as connection:
                connection.executescript(self._schema)
            with suppress(FileExistsError):  # another process was faster
                os.link(new, self.path)
        finally:
            new.unlink(missing_ok=True)


def _is_locked(error: Exception) -> bool:
    return getattr(error, "sqlite_errorname", "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _fault(error: Exception) -> str:
    """The fault of a state file, and what to do."""
    name = getattr(error, "sqlite_errorname", "")
    if is_full(error):
        return f"cannot be written: the disk is full ({error}). Make room there."
    if _is_locked(error):
        return "is locked by another program. End that program, or let it finish."
    if isinstance(error, OSError) or name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
        return f"cannot be used ({error}). Give the user who runs Atlas the right to write it."
    return (
        f"is damaged ({error}). Put a copy of it back, or move it away: a new one is begun at once."
    )


DAYS_KEPT = 31
_SPENDING_TABLE = """
CREATE TABLE IF NOT EXISTS spent (
    day TEXT NOT NULL, who TEXT NOT NULL, cost REAL NOT NULL, PRIMARY KEY (day, who)
) WITHOUT ROWID
"""


class Spending:
    """The sums by day and caller, in the currency of the targets' prices. Safe for threads.

    No answer fails for the file, which is made with the first cost: while it cannot be used, costs
    are kept in memory, and sums are those last read.
    """

    def __init__(self, path: Path):
        self.file = StateFile(path, _SPENDING_TABLE)
        self._lock = threading.Lock()
        self._unwritten: defaultdict[tuple[str, str], float] = defaultdict(float)
        self._read: LRUCache[tuple[str, str], float] = LRUCache(COUNTED_AT_ONCE)

    def of(self, who: str, day: date) -> float:
        """Return what somebody has spent on a day."""
        account = (day.isoformat(), who)
        with self._lock:
            with suppress(ConfigurationError):
                self._write()
                if self.file.path.exists():
                    with self.file.open() as connection:
                        query = "SELECT cost FROM spent WHERE day = ? AND who = ?"
                        row = connection.execute(query, account).fetchone()
                        self._read[account] = float(row[0]) if row else 0.0
            return self._read.get(account, 0.0) + self._unwritten.get(account, 0.0)

    def add(self, who: str, day: date, cost: float) -> None:
        """Add a cost, and forget old days."""
        with self._lock:
            self._unwritten[day.isoformat(), who] += cost
            with suppress(ConfigurationError):
                self._write()

    def check(self) -> str:
        """Write what is not written yet, and return the problem of the file."""
        with self._lock, suppress(ConfigurationError):
            self._write()
        return self.file.check()

    def _write(self) -> None:
        if not self._unwritten:
            return
        with self.file.open() as connection:
            connection.executemany(
                "INSERT INTO spent VALUES (?, ?, ?) "
                "ON CONFLICT (day, who) DO UPDATE SET cost = cost + excluded.cost",
                [(*account, cost) for account, cost in self._unwritten.items()],
            )
            newest = date.fromisoformat(max(day for day, _ in self._unwritten))
            oldest = newest - timedelta(days=DAYS_KEPT)
            connection.execute("DELETE FROM spent WHERE day < ?", (oldest.isoformat(),))
        for account, cost in self._unwritten.items():
            self._read[account] = self._read.get(account, 0.0) + cost
        self._unwritten.clear()


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
        self.spending = spending
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
                    f"{most} requests a minute are allowed, and as many were sent.",
                    times[-most] + MINUTE - now,
                )
            times.append(now)

    def open_stream(self, caller: Caller, address: str) -> Release:
        """Take one of the caller's places for answers that are sent at once."""
        who, most = spender(caller, address), self._limits(caller).streams
        with self._lock:
            if most is not None and self._streams[who] >= most:
                raise TooManyQuestions(
                    f"You may have {most} answers in progress at once, and have as many.",
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
        if self.spending.of(spender(caller, address), now.date()) >= most:
            midnight = datetime.combine(now.date() + timedelta(days=1), time(), UTC)
            raise TooManyQuestions(
                f"Today's limit of {most} for language models is reached; a new day begins at "
                "midnight (UTC).",
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
    """Name the account: the key's, or the address's (of IPv6 its /64)."""
    return caller.key.id if caller.key else caller.owner or owner_of(address)


MOST_LINKS = 10_000  # in all; an answer is 0.1 MB
MOST_OF_ONE = MOST_LINKS // 10
KEPT_EXPIRED = 30 * 86_400.0  # seconds: a clock that was ahead for days deletes nothing
_SHARED_TABLE = """
CREATE TABLE IF NOT EXISTS shared (
    token TEXT PRIMARY KEY, owner TEXT NOT NULL, expires REAL NOT NULL, document TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS makers (
    token TEXT PRIMARY KEY, maker TEXT NOT NULL, expires REAL NOT NULL
) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS deleted AFTER DELETE ON shared
BEGIN DELETE FROM makers WHERE token = old.token; END;
"""
_NO_LINK = "There is no such link, or it has expired or was taken back."


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
        self.file = StateFile(path, _SHARED_TABLE)
        self._knows = knows
        self._clock = clock

    def share(
        self, document: Mapping[str, object], owner: str, seconds: float, maker: str = ""
    ) -> Link:
        """Keep an answer for so long. `maker` is the account it counts for.

        Raises Conflict for one link too many.
        """
        token, expires = secrets.token_urlsafe(32), self._clock() + seconds
        with self.file.open() as connection:
            long_ago = self._clock() - KEPT_EXPIRED
            connection.execute("DELETE FROM shared WHERE expires <= ?", (long_ago,))
            self._make_room(connection, MOST_OF_ONE, "links of yours", maker)
            self._make_room(connection, MOST_LINKS, "links of all")
            row = (_hash(token), owner, expires, json.dumps(document))
            connection.execute("INSERT INTO shared VALUES (?, ?, ?, ?)", row)
            connection.execute("INSERT INTO makers VALUES (?, ?, ?)", (row[0], maker, expires))
        return Link(token, expires)

    def _make_room(
        self, connection: sqlite3.Connection, most: int, whose: str, maker: str = ""
    ) -> None:
        """Delete the link that expired first, if `most` are kept. Raises Conflict if none did."""
        query = "SELECT token, expires FROM makers WHERE ? IN (maker, '') ORDER BY expires, token"
        rows = connection.execute(query, (maker,)).fetchall()
        if len(rows) < most:
            return
        token, expires = rows[0]
        if expires > self._clock():
            when = datetime.fromtimestamp(expires, UTC)
            raise Conflict(
                f"{len(rows)} {whose} are open, which is the limit. Delete one, or wait: the first "
                f"expires at {when:%Y-%m-%d %H:%M} (UTC)."
            )
        connection.execute("DELETE FROM shared WHERE token = ?", (token,))

    def read(self, token: str) -> dict[str, object]:
        """Return the answer behind a link. Raises NotFound, whatever the reason."""
        if not self.file.path.exists():
            raise NotFound(_NO_LINK)
        with self.file.open() as connection:
            query = "SELECT owner, expires, document FROM shared WHERE token = ?"
            row = connection.execute(query, (_hash(token),)).fetchone()
            document: dict[str, object] = json.loads(row[2]) if row else {}
        if row is None or row[1] <= self._clock() or not self._knows(row[0]):
            raise NotFound(_NO_LINK)
        return document

    def delete(self, token: str, maker: str, *, is_administrator: bool) -> None:
        """Take a link back. Raises NotFound, and NotAllowed for the link of another maker."""
        with self.file.open() as connection:
            query = "SELECT maker FROM shared LEFT JOIN makers USING (token) WHERE token = ?"
            row = connection.execute(query, (_hash(token),)).fetchone()
            if row is None:
                raise NotFound(_NO_LINK)
            if row[0] != maker and not is_administrator:
                raise NotAllowed("Only whoever made a link, or an administrator, can delete it.")
            connection.execute("DELETE FROM shared WHERE token = ?", (_hash(token),))


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
