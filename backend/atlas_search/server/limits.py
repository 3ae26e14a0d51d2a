"""Limits of a request's body, and of requests at once, so that health always finds a thread.

A request keeps its thread until the client has taken the answer. Streams, answers that are waited
for, and pages that wait to be drawn keep theirs for long: SPARE_THREADS are not for them,
HEALTH_THREADS for health alone.
"""

import threading
import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, NamedTuple

from flask import request
from werkzeug.wsgi import ClosingIterator

from atlas_search.core.errors import ServerBusy
from atlas_search.core.stop import Stop
from atlas_search.server.access.caller import FORWARDED, PASSED_ON, is_forwarded
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
        sent = {name: environ.pop(f"HTTP_X_FORWARDED_{name}", "") for name in PASSED_ON}
        environ.pop("HTTP_FORWARDED", None)
        if self._trusted.hold(environ.get("REMOTE_ADDR", "")):
            if client := self._client(sent["FOR"]):
                environ["REMOTE_ADDR"] = environ["REMOTE_HOST"] = client
            if sent["PROTO"].lower() in SCHEMES:
                environ["wsgi.url_scheme"] = sent["PROTO"].lower()
        return self._app(environ, start_response)

    def _client(self, header: str) -> str:
        """The last address that no trusted proxy has: those before it are a client's own words."""
        client = ""
        for hop in reversed(header.split(",")):
            address = _parse(hop.strip())
            if address is None:
                return client
            client = str(address)
            if not self._trusted.hold(client):
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
JOBS = "/api/jobs/"
DRAWN = ("/api/page-image/", "/api/page-boxes/")
SPARE_THREADS = 16  # for everything but answers
HEALTH_THREADS = 2
AT_WORK = 8  # threads that compute at once; more only wait for each other, and health for them
WAIT_SECONDS = 10.0
RETRY_SECONDS = 2.0

TellRefusal = Callable[[dict[str, Any], Problem], None]
"""Hears of each request that is refused: its WSGI environment, and what it is told."""


def ignore(environ: dict[str, Any], problem: Problem) -> None:
    """Ignore a refusal, where nobody wants to hear of them."""


def answer_threads(threads: int) -> int:
    """Return the number of threads that answers may have."""
    return max(1, threads - min(SPARE_THREADS, threads // 2))


class Capacity:
    """WSGI: lets in as many requests as there are threads for; others are told to come again.

    Of those that are no answers, at most AT_WORK are worked on at once, the others wait in turn.
    `inside` are let in now, of them `waiting` wait, and `refused` were not let in so far.
    """

    def __init__(self, app: Wsgi, threads: int, tell: TellRefusal = ignore):
        self._app = app
        self._tell = tell
        self._all = max(1, threads - HEALTH_THREADS)
        self._answers = min(self._all, answer_threads(threads))
        self._lock = threading.Lock()
        self.inside = 0
        self.waiting = 0
        self.refused = 0
        self._answering = 0
        self._at_work = threading.BoundedSemaphore(AT_WORK)

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path in ALWAYS:
            return self._app(environ, start_response)
        answer = _is_answer(environ["REQUEST_METHOD"], path)
        if not self._enter(answer):
            return self._refuse(environ, start_response)
        try:
            if answer:
                sent = self._app(environ, start_response)
            else:
                sent = self._work(environ, start_response)
        except BaseException:
            self._leave(answer)
            raise
        return ClosingIterator(sent, lambda: self._leave(answer))

    def _work(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if not self._wait():
            return self._refuse(environ, start_response)
        try:
            return self._app(environ, start_response)
        finally:
            self._at_work.release()

    def _wait(self) -> bool:
        if self._at_work.acquire(blocking=False):
            return True
        with self._lock:
            self.waiting += 1
        try:
            return self._at_work.acquire(timeout=WAIT_SECONDS)
        finally:
            with self._lock:
                self.waiting -= 1

    def _refuse(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        with self._lock:
            self.refused += 1
        busy = ServerBusy(
            "As many requests as the server has threads for are being answered. Try again in some "
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
