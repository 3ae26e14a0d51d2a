"""How many requests are served at once, so that health always finds a thread.

A request keeps its thread until the client has taken the answer. Streams, and answers that are
waited for, keep theirs for long: SPARE_THREADS are not for them, HEALTH_THREADS for health alone.
"""

import threading
from collections.abc import Callable, Iterable
from typing import Any

from werkzeug.wsgi import ClosingIterator

from atlas_search.core.errors import ServerBusy
from atlas_search.server.problems import Problem, problem_of, response_of
from atlas_search.server.proxies import Wsgi

ALWAYS = ("/api/health", "/api/live", "/api/ready", "/metrics")
ANSWERS = "/api/ask"
JOBS = "/api/jobs/"
SPARE_THREADS = 16  # for everything but answers
HEALTH_THREADS = 2
AT_WORK = 8  # threads that compute at once; more only wait for each other, and health for them
WAIT_SECONDS = 10.0
RETRY_SECONDS = 2.0

TellRefusal = Callable[[dict[str, Any], Problem], None]
"""Hears of each request that is refused: its WSGI environment, and what it is told."""


def ignore(environ: dict[str, Any], problem: Problem) -> None:
    """Where nobody wants to hear of them."""


def answer_threads(threads: int) -> int:
    """Of so many threads, those that answers may have."""
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
        """See PEP 3333."""
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
    """1 for a request that keeps its thread while an answer is written or a job goes on, else 0."""
    if path.startswith(JOBS):
        return int(path.endswith("/events"))
    return int(path.startswith(ANSWERS) and (method == "POST" or path.endswith("/stream")))
