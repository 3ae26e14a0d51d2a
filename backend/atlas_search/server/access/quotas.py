"""Limits of each caller: requests in a minute, streams at once, model cost in a day.

Links, too, by which anybody may read an answer, until they expire or their maker loses access. A
link holds 256 random bits of which only the hash is kept, so nobody can make one up, and what is
kept gives none away. All of it may be damaged, locked, on a full disk or away at any time.
"""

import hashlib
import json
import secrets
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
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
from atlas_search.core.settings import Settings
from atlas_search.server.access.caller import Caller
from atlas_search.server.access.keys import KeyLimits
from atlas_search.server.limits import owner_of
from atlas_search.server.state import State, Transaction

DAYS_KEPT = 31
SPENDING_TABLE = """
CREATE TABLE IF NOT EXISTS spent (
    day TEXT NOT NULL, who TEXT NOT NULL, cost REAL NOT NULL, PRIMARY KEY (day, who)
) WITHOUT ROWID
"""


class Spending:
    """The sums by day and caller, in the currency of the targets' prices. Safe for threads.

    No answer fails for the file, which is made with the first cost: while it cannot be used, costs
    are kept in memory, and sums are those last read.
    """

    def __init__(self, state: State):
        self.state = state
        self._lock = threading.Lock()
        self._unwritten: defaultdict[tuple[str, str], float] = defaultdict(float)
        self._read: LRUCache[tuple[str, str], float] = LRUCache(COUNTED_AT_ONCE)

    def of(self, who: str, day: date) -> float:
        """Return what somebody has spent on a day."""
        account = (day.isoformat(), who)
        with self._lock:
            with suppress(ConfigurationError):
                self._write()
                if self.state.exists:
                    with self.state.open() as connection:
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
        return self.state.check()

    def _write(self) -> None:
        if not self._unwritten:
            return
        with self.state.open() as connection:
            for account, cost in self._unwritten.items():
                connection.execute(
                    "INSERT INTO spent VALUES (?, ?, ?) "
                    "ON CONFLICT (day, who) DO UPDATE SET cost = spent.cost + excluded.cost",
                    (*account, cost),
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
        self,
        settings: Settings,
        spending: Spending,
        clock: Callable[[], float] | None = None,
        shared: State | None = None,
    ):
        self._default = KeyLimits(
            requests_per_minute=settings.limit_requests_per_minute or None,
            streams=settings.limit_streams or None,
            cost_per_day=settings.limit_cost_per_day or None,
        )
        self.spending = spending
        self._clock = clock or (time_time if shared else monotonic)
        self._shared = shared
        self._lock = threading.Lock()
        self._requests: LRUCache[str, deque[float]] = LRUCache(COUNTED_AT_ONCE)
        self._streams: Counter[str] = Counter()

    def count_request(self, caller: Caller, address: str) -> None:
        """Count a request, unless it is one too many in the last minute."""
        most = self._limits(caller).requests_per_minute
        if most is None:
            return
        if seconds := self._count(spender(caller, address), most):
            raise TooManyQuestions(
                f"{most} requests a minute are allowed, and as many were sent.", seconds
            )

    def _count(self, who: str, most: int) -> float:
        """Count a request over all servers, or in this one while their state cannot be used.

        Returns the seconds to wait for one too many, which is not counted.
        """
        if self._shared:
            with suppress(ConfigurationError):
                return _count_shared(self._shared, who, most, self._clock())
        with self._lock:
            return _wait(self._requests.setdefault(who, deque()), most, self._clock())

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


REQUESTS_TABLE = """
CREATE UNLOGGED TABLE IF NOT EXISTS requests (
    who TEXT PRIMARY KEY, last REAL NOT NULL, times TEXT NOT NULL
)
"""
"""Of servers that share a PostgreSQL; unlogged, so that no request waits for a disk."""


def _count_shared(state: State, who: str, most: int, now: float) -> float:
    with state.open() as connection:
        connection.execute("DELETE FROM requests WHERE last <= ?", (now - MINUTE,))
        row = connection.execute("SELECT times FROM requests WHERE who = ?", (who,)).fetchone()
        times = deque(sorted(json.loads(row[0]) if row else ()))  # clocks may differ a little
        if seconds := _wait(times, most, now):
            return seconds
        connection.execute(
            "INSERT INTO requests VALUES (?, ?, ?) ON CONFLICT (who) "
            "DO UPDATE SET last = excluded.last, times = excluded.times",
            (who, now, json.dumps(list(times))),
        )
        return 0.0


def _wait(times: deque[float], most: int, now: float) -> float:
    """Add a request to the times of the last minute, unless it is one too many."""
    while times and times[0] <= now - MINUTE:
        times.popleft()
    if len(times) >= most:
        return times[-most] + MINUTE - now
    times.append(now)
    return 0.0


def spender(caller: Caller, address: str) -> str:
    """Name the account: the key's, or the address's (of IPv6 its /64)."""
    return caller.key.id if caller.key else caller.owner or owner_of(address)


MOST_LINKS = 10_000  # in all; an answer is 0.1 MB
MOST_OF_ONE = MOST_LINKS // 10
KEPT_EXPIRED = 30 * 86_400.0  # seconds: a clock that was ahead for days deletes nothing
SHARED_TABLE = """
CREATE TABLE IF NOT EXISTS shared (
    token TEXT PRIMARY KEY, owner TEXT NOT NULL, expires REAL NOT NULL, document TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS makers (
    token TEXT PRIMARY KEY, maker TEXT NOT NULL, expires REAL NOT NULL
) WITHOUT ROWID;
"""
_NO_LINK = "There is no such link, or it has expired or was taken back."


class Link(NamedTuple):
    """The secret of a link, and when it expires (seconds since 1970)."""

    token: str
    expires: float


class SharedAnswers:
    """The answers behind links. Safe to use from several threads.

    `knows` says whether an owner is still let in. Raises ConfigurationError if the file cannot be
    used.
    """

    def __init__(
        self, state: State, knows: Callable[[str], bool], clock: Callable[[], float] = time_time
    ):
        self.state = state
        self._knows = knows
        self._clock = clock

    def share(
        self, document: Mapping[str, object], owner: str, seconds: float, maker: str = ""
    ) -> Link:
        """Keep an answer for so long. `maker` is the account it counts for.

        Raises Conflict for one link too many.
        """
        token, expires = secrets.token_urlsafe(32), self._clock() + seconds
        with self.state.open() as connection:
            long_ago = self._clock() - KEPT_EXPIRED
            for table in ("shared", "makers"):
                connection.execute(f"DELETE FROM {table} WHERE expires <= ?", (long_ago,))
            self._make_room(connection, MOST_OF_ONE, "links of yours", maker)
            self._make_room(connection, MOST_LINKS, "links of all")
            row = (_hash(token), owner, expires, json.dumps(document))
            connection.execute("INSERT INTO shared VALUES (?, ?, ?, ?)", row)
            connection.execute("INSERT INTO makers VALUES (?, ?, ?)", (row[0], maker, expires))
        return Link(token, expires)

    def _make_room(self, connection: Transaction, most: int, whose: str, maker: str = "") -> None:
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
        _delete(connection, token)

    def read(self, token: str) -> dict[str, object]:
        """Return the answer behind a link. Raises NotFound, whatever the reason."""
        if not self.state.exists:
            raise NotFound(_NO_LINK)
        with self.state.open() as connection:
            query = "SELECT owner, expires, document FROM shared WHERE token = ?"
            row = connection.execute(query, (_hash(token),)).fetchone()
            document: dict[str, object] = json.loads(row[2]) if row else {}
        if row is None or row[1] <= self._clock() or not self._knows(row[0]):
            raise NotFound(_NO_LINK)
        return document

    def delete(self, token: str, maker: str, *, is_administrator: bool) -> None:
        """Take a link back. Raises NotFound, and NotAllowed for the link of another maker."""
        with self.state.open() as connection:
            query = "SELECT maker FROM shared LEFT JOIN makers USING (token) WHERE token = ?"
            row = connection.execute(query, (_hash(token),)).fetchone()
            if row is None:
                raise NotFound(_NO_LINK)
            if row[0] != maker and not is_administrator:
                raise NotAllowed("Only whoever made a link, or an administrator, can delete it.")
            _delete(connection, _hash(token))


def _delete(connection: Transaction, digest: str) -> None:
    for table in ("shared", "makers"):
        connection.execute(f"DELETE FROM {table} WHERE token = ?", (digest,))


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
