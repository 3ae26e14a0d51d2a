"""Requests that come to nothing, told in traces: each a short one, and few of them in a flood."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from flask import Flask, Response, g, request
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Request

from atlas_search.asking import MAX_QUESTION
from atlas_search.core.errors import AtlasError
from atlas_search.core.telemetry.names import silent
from atlas_search.core.telemetry.span import Span
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.server.access.caller import NOBODY, Caller
from atlas_search.server.access.rules import FREE, rule_key
from atlas_search.server.problems import PROBLEM_TYPE, Problem
from atlas_search.server.telemetry import shares_nothing

MOST = 60  # in SECONDS; the queue that they share with whole traces has 2,048 places
SECONDS = 60.0
READS = frozenset({"GET", "HEAD", "OPTIONS"})
UNKNOWN = "none"  # as a route

Clock = Callable[[], float]


class Refusals:
    """Opens a root `refused` for each request that is refused, at most MOST in SECONDS.

    What is left out is counted in the next one. Safe to use from several threads.
    """

    def __init__(self, tracer: Tracer, clock: Clock = time.monotonic):
        self._tracer = tracer
        self._clock = clock
        self._lock = threading.Lock()
        self._until = 0.0
        self._told = 0
        self._suppressed = 0

    def tell(self, response: Response) -> Response:
        """What to call after each request of the application.

        An answer, a search or a check that has begun tells of itself.
        """
        error: Exception | None = g.get("error")
        own = silent() or "run" in g or (isinstance(error, AtlasError) and error.traced)
        route = request.url_rule.rule if request.url_rule else UNKNOWN
        if not own and is_refusal(request, route, response.status_code) and self._may_tell():
            problem = _problem(response)
            self._write(request.method, route, problem, _asked, g.get("caller", NOBODY))
        return response

    def tell_outside(self, app: Flask, environ: dict[str, Any], problem: Problem) -> None:
        """Tell of a request that is refused before the application sees it, and nothing it says.

        A browser whose user wants nothing shared (Global Privacy Control) is heeded here too.
        """
        asked = Request(environ)
        if shares_nothing(asked):
            return
        route = UNKNOWN
        with suppress(HTTPException):
            rule, _ = app.url_map.bind_to_environ(environ).match(return_rule=True)
            route = rule.rule
        if is_refusal(asked, route, problem.status) and self._may_tell():
            self._write(asked.method, route, problem, lambda: "", NOBODY)

    def _may_tell(self) -> bool:
        with self._lock:
            now = self._clock()
            if now >= self._until:
                self._until, self._told = now + SECONDS, 0
            if self._told == MOST:
                self._suppressed += 1
                return False
            self._told += 1
            return True

    def _take_suppressed(self) -> int:
        with self._lock:
            count, self._suppressed = self._suppressed, 0
            return count

    def _write(
        self,
        method: str,
        route: str,
        problem: Problem,
        asked: Callable[[], str],
        caller: Caller,
    ) -> None:
        with suppress(_Failed), self._tracer.root("refused", "CHAIN") as span:
            span.set(status=problem.status, method=method, route=route, problem=problem.type)
            if caller.name:
                span.set(caller=caller.name)
            if suppressed := self._take_suppressed():
                span.set(suppressed=suppressed)
            if problem.detail:
                span.output(problem.detail)
            _describe_question(span, asked())
            if problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                raise _Failed(problem.title)


class _Failed(Exception):
    """Marks a span of which the server is to blame."""


def is_refusal(asked: Request, route: str, status: int) -> bool:
    """Whether a response is one to tell of: not of the page, nor of what watches the server.

    A read that the server cannot serve now is told by health and its log.
    """
    if status < HTTPStatus.BAD_REQUEST or not asked.path.startswith("/api/"):
        return False
    if rule_key(asked.method, route) in FREE:
        return False
    if status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return True
    return status == HTTPStatus.SERVICE_UNAVAILABLE and asked.method not in READS


def _problem(response: Response) -> Problem:
    if response.content_type == PROBLEM_TYPE:
        return Problem.model_validate_json(response.get_data())
    return Problem(type="", title="", status=response.status_code, detail="", instance="")


def _asked() -> str:
    body = g.get("body")
    sent = body if isinstance(body, dict) else {}
    question = sent.get("question", sent.get("query"))
    return question if isinstance(question, str) else ""


def _describe_question(span: Span, question: str) -> None:
    if question:
        span.input(question[:MAX_QUESTION])
