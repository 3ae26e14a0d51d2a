"""Limits of a request's body, and of requests at once, so that health always finds a thread.

A request keeps its thread until the client has taken the answer. Streams, answers that are waited
for, and pages that wait to be drawn keep theirs for long: SPARE_THREADS are not for them,
HEALTH_THREADS for health alone.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, NamedTuple

from flask import request
from werkzeug.wsgi import ClosingIterator

from atlas_search.core.errors import ServerBusy
from atlas_search.core.stop import Stop
from atlas_search.server.access.caller import FORWARDED, PASSED_ON, RELAYS, is_forwarded
from atlas_search.server.problems import Problem, problem_of, response_of

Address = IPv4Address | IPv6Address
Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

MAX_BODY = 2 * 1024 * 1024  # bytes; a long chat history fits, an upload does not
SCHEMES = {"http", "https"}


class Networks(NamedTuple):
    """Addresses, alone or by network."""

    networks: tuple[Any, ...]

    def hold(self, address: str) -> bool:
        """Return True if one of them holds `address`; IPv4 written as IPv6 is the same."""
        ip = _parse(address)
        return ip is not None and any(ip in network for network in self.networks)


NOWHERE = Networks(())


def networks(text: str) -> Networks:
    """Read addresses and networks separated by commas. Raises ValueError."""
    return Networks(tuple(ip_network(part.strip()) for part in text.split(",") if part.strip()))


@lru_cache(maxsize=4096)
def owner_of(address: str) -> str:
    """Return the address to count by: of IPv6 the /64 network, all of which one subscriber has."""
    ip = _parse(address)
    if isinstance(ip, IPv6Address) and not ip.is_loopback:
        return str(IPv6Network((ip, 64), strict=False).network_address)
    return str(ip or address)


class ForwardedFor:
    """WSGI: REMOTE_ADDR and the scheme as a trusted proxy gives them; other such headers go."""

    def __init__(self, app: Wsgi, trusted: Networks):
        self._app = app
        self._trusted = trusted

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        environ[FORWARDED] = is_forwarded(environ)
        client, proxy = client_of(environ, self._trusted), environ.get("REMOTE_ADDR", "")
        sent = {name: environ.pop(f"HTTP_X_FORWARDED_{name}", "") for name in PASSED_ON}
        environ.pop("HTTP_FORWARDED", None)
        if client != proxy:
            environ["REMOTE_ADDR"] = environ["REMOTE_HOST"] = client
        if self._trusted.hold(proxy) and sent["PROTO"].lower() in SCHEMES:
            environ["wsgi.url_scheme"] = sent["PROTO"].lower()
        return self._app(environ, start_response)


def client_of(environ: dict[str, Any], trusted: Networks) -> str:
    """Return the address a request comes from, as a trusted proxy gives it if one sends it.

    It is the last that no trusted proxy has: those before it are a client's own words.
    """
    client = str(environ.get("REMOTE_ADDR", ""))
    if not trusted.hold(client):
        return client
    for hop in reversed(environ.get("HTTP_X_FORWARDED_FOR", "").split(",")):
        address = _parse(hop.strip())
        if address is None:
            return client
        client = str(address)
        if not trusted.hold(client):
            return client
    return client


def _parse(text: str) -> Address | None:
    try:
        address = ip_address(text.strip("[]"))
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


ALWAYS = ("/api/health", "/api/live", "/api/ready", "/metrics")
ANSWERS = "/api/ask"
FRONT = "atlas.front"
"""Of a WSGI environment: what requests from within are put to."""
JOBS = "/api/jobs/"
DRAWN = ("/api/page-image/", "/api/page-boxes/")
SPARE_THREADS = 16  # for everything but answers
HEALTH_THREADS = 2
AT_WORK = 8  # threads that compute at once; more only wait for each other
SHARE = 4  # one of so many places is for one address while others come too: each waits for all
SHARED_SECONDS = 5.0  # since the last request of another address
CROWD = 8  # more requests in progress than a browser has: 6 of HTTP/1.1
REST = 4.0  # a crowd computes a fifth of the time
MAX_REST_SECONDS = 5.0
WAIT_SECONDS = 10.0
RETRY_SECONDS = 2.0

TellRefusal = Callable[[dict[str, Any], Problem], None]
"""Hears of each request that is refused: its WSGI environment, and what it is told."""


def ignore(environ: dict[str, Any], problem: Problem) -> None:
    """Ignore a refusal, where nobody wants to hear of them."""


def answer_threads(threads: int) -> int:
    """Return the number of threads that answers may have."""
    return max(1, threads - min(SPARE_THREADS, threads // 2))


class Clients:
    """The addresses that came of late, and how many requests of each are in progress.

    One that only asks whether the server is well wants no places. Safe to use from several threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: dict[str, float] = {}  # when each came last, the latest at the end
        self._in_progress: Counter[str] = Counter()

    def enter(self, owner: str, *, wants_places: bool) -> None:
        """Note that a request of an address comes."""
        now = time.monotonic()
        with self._lock:
            self._in_progress[owner] += 1
            if wants_places:
                self._last.pop(owner, None)
                self._last[owner] = now
            while self._last and self._last[first := next(iter(self._last))] < now - SHARED_SECONDS:
                del self._last[first]

    def leave(self, owner: str) -> None:
        """Note that a request of an address ends."""
        with self._lock:
            self._in_progress[owner] -= 1
            self._in_progress += Counter()  # without those at zero

    def are_others(self, owner: str) -> bool:
        """True while others than this address want places."""
        return len(self._last) > (owner in self._last)

    def rest(self, owner: str, seconds: float) -> None:
        """Let others go first, if an address sends a crowd of requests.

        One of them took so many `seconds` of a processor. All threads compute in turn, by the
        interpreter's lock: a crowd that rests REST times as long as all of it computes leaves the
        other turns to others.
        """
        crowd = self._in_progress[owner]
        if crowd > CROWD and self.are_others(owner):
            time.sleep(min(REST * crowd * seconds, MAX_REST_SECONDS))


class _Waiting(threading.Event):
    """The wait of a request for its turn."""

    def __init__(self, owner: str):
        super().__init__()
        self.owner = owner


class TurnsAtWork:
    """Lets so many requests work at once, of one address a SHARE of them while others come too.

    Safe to use from several threads.
    """

    def __init__(self, at_once: int, clients: Clients):
        self._at_once = at_once
        self._clients = clients
        self._lock = threading.Lock()
        self._working: Counter[str] = Counter()
        self._queue: list[_Waiting] = []

    @property
    def waiting(self) -> int:
        """The number of requests that wait."""
        return len(self._queue)

    def begin(self, owner: str, seconds: float) -> bool:
        """Wait for a turn, at most so long; False if none came."""
        turn = _Waiting(owner)
        with self._lock:
            self._queue.append(turn)
            self._give()
        if turn.wait(seconds):
            return True
        with self._lock:
            if not turn.is_set():
                self._queue.remove(turn)
        return turn.is_set()

    def end(self, owner: str) -> None:
        """Give the turn to whoever has waited longest and may have it."""
        with self._lock:
            self._working[owner] -= 1
            self._working += Counter()  # without those at zero
            self._give()

    def _give(self) -> None:
        free = self._at_once - self._working.total()
        for turn in list(self._queue) if free else ():
            are_others = self._clients.are_others(turn.owner)
            share = max(1, self._at_once // SHARE) if are_others else self._at_once
            if free and self._working[turn.owner] < share:
                free -= 1
                self._working[turn.owner] += 1
                self._queue.remove(turn)
                turn.set()


class Capacity:
    """WSGI: lets in as many requests as there are threads for; others are told to come again.

    Of those that are no answers, at most AT_WORK are worked on at once, the others wait in turn;
    of those for health HEALTH_THREADS. `trusted` are the proxies that say who a client is.
    `inside` are let in now, of them `waiting` wait, and `refused` were not let in so far.
    """

    def __init__(
        self,
        app: Wsgi,
        threads: int,
        tell: TellRefusal = ignore,
        trusted: Networks = NOWHERE,
    ):
        self._app = app
        self._tell = tell
        self._trusted = trusted
        self._all = max(1, threads - HEALTH_THREADS)
        self._answers = min(self._all, answer_threads(threads))
        self._lock = threading.Lock()
        self.inside = 0
        self.refused = 0
        self._answering = 0
        self._clients = Clients()
        self._turns = TurnsAtWork(AT_WORK, self._clients)
        self._health = TurnsAtWork(HEALTH_THREADS, self._clients)

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        counted, answer = path not in ALWAYS, _is_answer(environ["REQUEST_METHOD"], path)
        if counted and not self._enter(answer):
            return self._refuse(environ, start_response)
        environ[FRONT] = self
        owner = owner_of(client_of(environ, self._trusted))
        self._clients.enter(owner, wants_places=counted)
        clock = time.monotonic if answer else time.thread_time  # an answer has its own thread
        begun = clock()

        def end() -> None:
            self._clients.rest(owner, clock() - begun)
            self._clients.leave(owner)
            if counted:
                self._leave(answer)

        try:
            if answer or path.startswith(RELAYS):
                sent = self._app(environ, start_response)
            else:
                turns = self._turns if counted else self._health
                sent = self._work(environ, start_response, turns, owner)
        except BaseException:
            end()
            raise
        return ClosingIterator(sent, end)

    @property
    def waiting(self) -> int:
        """The number of requests that are let in and wait for their turn."""
        return self._turns.waiting

    def _work(
        self,
        environ: dict[str, Any],
        start_response: Callable[..., Any],
        turns: TurnsAtWork,
        owner: str,
    ) -> Iterable[bytes]:
        if not turns.begin(owner, WAIT_SECONDS):
            return self._refuse(environ, start_response)
        try:
            return self._app(environ, start_response)
        finally:
            turns.end(owner)

    def _refuse(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        with self._lock:
            self.refused += 1
        busy = ServerBusy(
            "The server is answering as many requests as it has threads for. Try again in a few "
            "seconds, or raise ATLAS_THREADS.",
            RETRY_SECONDS,
        )
        problem = problem_of(busy, environ.get("PATH_INFO", ""))
        self._tell(environ, problem)
        return response_of(problem)(environ, start_response)

    def _enter(self, answer: int) -> bool:
        with self._lock:
            full = self.inside >= self._all or self._answering + answer > self._answers
            if not full:
                self.inside += 1
                self._answering += answer
            return not full

    def _leave(self, answer: int) -> None:
        with self._lock:
            self.inside -= 1
            self._answering -= answer


def _is_answer(method: str, path: str) -> int:
    """Return 1 for a request that keeps its thread for an answer, a job's events or a page."""
    if path.startswith(DRAWN):
        return 1
    if path.startswith(JOBS):
        return int(path.endswith("/events"))
    return int(path.startswith(ANSWERS) and (method == "POST" or path.endswith("/stream")))


LOOK_SECONDS = 0.05  # between two looks whether the client is still there

Gone = Callable[[], bool]
"""A check that is true once the client of the present request has gone away."""


def gone() -> Gone:
    """Return a check that tells any thread whether the present request's client has gone."""
    check: Gone = request.environ.get("waitress.client_disconnected", lambda: False)
    return check


class ClientStop(Stop):
    """A stop of the work for a request whose client has gone, looked for as the work checks."""

    def __init__(self, gone: Gone, clock: Callable[[], float] = time.monotonic):
        super().__init__()
        self._gone = gone
        self._clock = clock
        self._look_at = clock()

    def check(self) -> None:
        now = self._clock()
        if now >= self._look_at:
            self._look_at = now + LOOK_SECONDS
            if self._gone():
                self.set()
        super().check()


def waiting() -> ClientStop:
    """The Stop of the present request, for work that its own thread does."""
    return ClientStop(gone())
