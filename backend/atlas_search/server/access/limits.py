"""How much each caller may take: requests in a minute, streams at once, model cost in a day."""

import threading
from collections import Counter, deque
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from time import monotonic

from cachetools import LRUCache

from atlas_search.core.errors import TooManyQuestions
from atlas_search.core.settings import Settings
from atlas_search.server.access.caller import Caller
from atlas_search.server.access.keys import Limits
from atlas_search.server.access.spending import Spending

MINUTE = 60.0
STREAM_SECONDS = 5.0  # after which a place may be free again
COUNTED_AT_ONCE = 10_000  # callers; those who have not asked for longest are forgotten

Release = Callable[[], None]
"""Gives a place back; it may be called again."""


class Limiter:
    """Counts what callers take. Safe to use from several threads.

    A caller is a key, or an address where none is sent. A key that says nothing of a limit has
    that of the settings, as an address has. Raises TooManyQuestions, with the seconds to wait.
    """

    def __init__(
        self, settings: Settings, spending: Spending, clock: Callable[[], float] = monotonic
    ):
        self._default = Limits(
            requests_per_minute=settings.limit_requests_per_minute or None,
            streams=settings.limit_streams or None,
            cost_per_day=settings.limit_cost_per_day or None,
        )
        self._spending = spending
        self._clock = clock
        self._lock = threading.Lock()
        self._asked: LRUCache[str, deque[float]] = LRUCache(COUNTED_AT_ONCE)
        self._streams: Counter[str] = Counter()

    def count_request(self, caller: Caller, address: str) -> None:
        """Count a request, unless it is one too many in the last minute."""
        most = self._limits(caller).requests_per_minute
        if most is None:
            return
        who, now = spender(caller, address), self._clock()
        with self._lock:
            asked = self._asked.setdefault(who, deque())
            while asked and asked[0] <= now - MINUTE:
                asked.popleft()
            if len(asked) >= most:
                raise TooManyQuestions(
                    f"{most} requests were sent within a minute, as many as may be.",
                    asked[-most] + MINUTE - now,
                )
            asked.append(now)

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

    def _limits(self, caller: Caller) -> Limits:
        own = caller.key.limits if caller.key else Limits()
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
    """Whose account it is: the key's, or the address's."""
    return caller.key.id if caller.key else caller.owner or address
