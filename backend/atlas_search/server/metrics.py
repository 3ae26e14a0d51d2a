"""`GET /metrics` for Prometheus, and what is noted of requests: counts of them, of jobs and votes,
traces of refusals, and the audit log, one line of JSON for each with its caller and its outcome."""

import errno
import fcntl
import json
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

from flask import Flask, Response, g, request
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from flask_openapi3.types import ResponseDict
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Request

from atlas_search.answer.cache import AnswerCache
from atlas_search.core.errors import AtlasError, ConfigurationError, NotAllowed
from atlas_search.core.ids import LONGEST, moment
from atlas_search.core.settings import Settings
from atlas_search.core.stop import Turns
from atlas_search.core.telemetry.metrics import (
    OTHER,
    Labels,
    Metrics,
    Read,
    Reading,
    Value,
    process_readings,
)
from atlas_search.core.telemetry.names import set_silent, silent
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.providers.chat import ModelCalls
from atlas_search.search.request import MAX_QUESTION
from atlas_search.server.access.caller import (
    FREE,
    NOBODY,
    Caller,
    described_route,
    present_caller,
    rule_key,
)
from atlas_search.server.collections import ServedCollections, chosen_collection
from atlas_search.server.ingest.documents import IngestBody, JobOut
from atlas_search.server.ingest.jobs import Jobs
from atlas_search.server.problems import PROBLEM_TYPE, Problem
from atlas_search.server.runs import Run, Runs
from atlas_search.server.sockets import BoundPort
from atlas_search.stores.manifest import Manifest

log = logging.getLogger(__name__)


def observe_server(
    metrics: Metrics, collections: ServedCollections, runs: Runs, jobs: Jobs
) -> None:
    """Observe from now on what is served, kept and being worked on."""
    # only what belongs to the process: a version that is held here would never be closed
    services = collections(collections.default).services
    calls, turns = services.calls, services.answerer.turns
    metrics.observe("process", process_readings())
    metrics.observe("store", _stored(collections.held))
    metrics.observe("cache", _cached(services.answerer.cache))
    metrics.observe("spans", _spans(services.tracer))
    metrics.observe("server", {"atlas.queue.size": lambda: _queues(calls, turns, runs, jobs)})


def observe_listener(metrics: Metrics, listener: BoundPort) -> None:
    """Observe from now on connections, and requests that wait for a thread."""
    capacity = listener.capacity
    metrics.observe(
        "listener",
        {
            "atlas.connections": lambda: [(listener.connections, {})],
            "atlas.requests.refused": lambda: [
                (capacity.refused, {"reason": "threads"}),
                (listener.refused, {"reason": "connections"}),
            ],
            "atlas.queue.size": lambda: _queue(
                "requests", capacity.inside - capacity.waiting, capacity.waiting
            ),
        },
    )


def _queues(calls: ModelCalls, turns: Turns, runs: Runs, jobs: Jobs) -> list[Reading]:
    return [
        (runs.running, {"queue": "answers", "state": "running"}),
        *_queue("model_calls", calls.running, calls.waiting),
        *_queue("turns", turns.running, turns.waiting),
        *_queue("jobs", *jobs.at_work()),
    ]


def _queue(name: str, running: int, waiting: int) -> list[Reading]:
    return [
        (running, {"queue": name, "state": "running"}),
        (waiting, {"queue": name, "state": "waiting"}),
    ]


def _cached(cache: AnswerCache) -> Mapping[str, Read]:
    return {
        "atlas.cache.lookups": lambda: [
            (cache.hits, {"result": "hit"}),
            (cache.misses, {"result": "miss"}),
        ],
        "atlas.cache.answers": lambda: [(cache.kept, {})],
    }


def _spans(tracer: Tracer) -> Mapping[str, Read]:
    return {
        "atlas.spans": lambda: [
            (tracer.exported, {"outcome": "exported"}),
            (tracer.dropped, {"outcome": "dropped"}),
        ],
        "atlas.spans.held": lambda: [
            (tracer.open_spans, {"state": "open"}),
            (tracer.waiting, {"state": "waiting"}),
        ],
    }


def _stored(held: Callable[[], Sequence[Manifest]]) -> Mapping[str, Read]:
    return {
        "atlas.store.documents": lambda: [
            (corpus.documents, _of(manifest, corpus=corpus.id))
            for manifest in held()
            for corpus in manifest.corpora
        ],
        "atlas.store.passages": lambda: [
            (corpus.passages, _of(manifest, corpus=corpus.id))
            for manifest in held()
            for corpus in manifest.corpora
        ],
        "atlas.store.size": lambda: [
            (size, _of(manifest, part=part))
            for manifest in held()
            for part, size in manifest.sizes.items()
        ],
        "atlas.store.version": lambda: [
            (1, _of(manifest, version=manifest.version, embedding=manifest.embedding.name))
            for manifest in held()
        ],
    }


def _of(manifest: Manifest, **labels: str) -> Labels:
    return {"collection": manifest.collection, **labels}


_METHODS = frozenset("GET HEAD POST PUT DELETE OPTIONS PATCH CONNECT TRACE".split())
_OTHER_METHOD = "_OTHER"  # so say the conventions
_TEXT = {"schema": {"type": "string"}}
_ANSWER: ResponseDict = {
    200: {"content": {"text/plain": _TEXT, "application/openmetrics-text": _TEXT}}
}


def metrics_blueprint(metrics: Metrics) -> APIBlueprint:
    """The route that Prometheus reads."""
    blueprint = APIBlueprint("metrics", __name__, abp_tags=[Tag(name="health")])
    metrics.expose()

    @blueprint.get(
        "/metrics",
        summary="All counts, for Prometheus",
        description="As OpenMetrics if `Accept` asks for it. Where keys are used, for "
        "administrators who see every corpus.",
        responses=_ANSWER,
    )
    def get_metrics() -> Response:
        if not present_caller().sees_traces:
            raise NotAllowed("This is for administrators who see every corpus.")
        body, media_type = metrics.scrape(request.headers.get("Accept", ""))
        return Response(body, content_type=media_type, headers={"Cache-Control": "no-store"})

    return blueprint


def begin_request() -> None:
    """Begin the time of a request; called first before each."""
    g.begun = time.perf_counter()


def time_request(metrics: Metrics) -> Callable[[Response], Response]:
    """Return a function to call after each request: it is recorded once the response is sent."""

    def note(response: Response) -> Response:
        begun = g.begun
        labels: dict[str, Value] = {
            "http.request.method": request.method if request.method in _METHODS else _OTHER_METHOD,
            "http.route": described_route(request.url_rule.rule) if request.url_rule else OTHER,
            "http.response.status_code": response.status_code,
        }

        def record() -> None:
            seconds = time.perf_counter() - begun
            metrics.record("http.server.request.duration", labels, seconds)

        response.call_on_close(record)
        return response

    return note


def count_job(metrics: Metrics, job: JobOut, seconds: float) -> None:
    """Count a job that is over."""
    metrics.record("atlas.job.duration", {"kind": job.kind, "state": job.state}, seconds)
    if job.result is None:
        return
    changes = {
        "added": job.result.documents_added,
        "changed": job.result.documents_changed,
        "removed": job.result.documents_removed,
    }
    for change, documents in changes.items():
        labels = {"collection": job.collection, "change": change}
        metrics.count("atlas.job.documents", labels, documents)


def shares_nothing(sent: Request) -> bool:
    """Return whether a browser's user wants nothing shared (Global Privacy Control)."""
    return sent.headers.get("Sec-GPC") == "1"


def heed_privacy() -> None:
    """Trace nothing of the present request if its browser or its body says so.

    It comes before all else, so that a request that is refused leaves no trace either.
    """
    set_silent(wanted=shares_nothing(request) or _is_unwanted(_sent()))


def speak_again(_: BaseException | None) -> None:
    """End the silence: the thread goes on to other requests."""
    set_silent(wanted=False)


def _sent() -> bytes:
    try:
        return request.get_data(cache=True) if request.mimetype == "application/json" else b""
    except HTTPException:  # too long: said where bodies are read
        return b""


def _is_unwanted(body: bytes) -> bool:
    """Return whether a body has a `telemetry` that is not true; its faults are reported later."""
    if b"telemetry" not in body and b"\\u" not in body:  # as most are: not worth reading twice
        return False
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("telemetry", True) is not True


MOST = 60  # in SECONDS; the queue that they share with whole traces has 2,048 places
SECONDS = 60.0
READS = frozenset({"GET", "HEAD", "OPTIONS"})
UNKNOWN = "none"  # as a route


class Refusals:
    """Traces of refused requests: a root `refused` for each, at most MOST in SECONDS.

    The next one counts those that were left out. Safe to use from several threads.
    """

    def __init__(self, tracer: Tracer, clock: Callable[[], float] = time.monotonic):
        self._tracer = tracer
        self._clock = clock
        self._lock = threading.Lock()
        self._until = 0.0
        self._traced = 0
        self._suppressed = 0

    def tell(self, response: Response) -> Response:
        """Trace a response that is a refusal; called after each request of the application.

        An answer, a search or a check that has begun has a trace of its own.
        """
        error: Exception | None = g.get("error")
        own = silent() or "run" in g or (isinstance(error, AtlasError) and error.traced)
        route = request.url_rule.rule if request.url_rule else UNKNOWN
        if not own and is_refusal(request, route, response.status_code) and self._may_trace():
            problem = _problem(response)
            self._write(request.method, route, problem, _question(), g.get("caller", NOBODY))
        return response

    def tell_outside(self, app: Flask, environ: dict[str, Any], problem: Problem) -> None:
        """Trace a request that is refused before the application sees it, without its text.

        A browser whose user wants nothing shared (Global Privacy Control) is heeded here too.
        """
        sent = Request(environ)
        if shares_nothing(sent):
            return
        route = UNKNOWN
        with suppress(HTTPException):
            rule, _ = app.url_map.bind_to_environ(environ).match(return_rule=True)
            route = rule.rule
        if is_refusal(sent, route, problem.status) and self._may_trace():
            self._write(sent.method, route, problem, "", NOBODY)

    def _may_trace(self) -> bool:
        with self._lock:
            now = self._clock()
            if now >= self._until:
                self._until, self._traced = now + SECONDS, 0
            if self._traced == MOST:
                self._suppressed += 1
                return False
            self._traced += 1
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
        question: str,
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
            if question:
                span.input(question[:MAX_QUESTION])
            if problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                raise _Failed(problem.title)


class _Failed(Exception):
    """A mark on a span: the server is to blame."""


def is_refusal(sent: Request, route: str, status: int) -> bool:
    """Return whether a response is to be traced: not of the page, nor of what watches the server.

    A read that the server cannot serve now is reported by health and its log.
    """
    if status < HTTPStatus.BAD_REQUEST or not sent.path.startswith("/api/"):
        return False
    if rule_key(sent.method, route) in FREE:
        return False
    if status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return True
    return status == HTTPStatus.SERVICE_UNAVAILABLE and sent.method not in READS


def _problem(response: Response) -> Problem:
    if response.content_type == PROBLEM_TYPE:
        return Problem.model_validate_json(response.get_data())
    return Problem(type="", title="", status=response.status_code, detail="", instance="")


def _question() -> str:
    fields = g.get("body", {})
    question = fields.get("question", fields.get("query"))
    return question if isinstance(question, str) else ""


LONGEST_VALUE = 500  # characters of a question, or of the corpora: a body may have megabytes


def audit(settings: Settings) -> Callable[[Response], Response]:
    """Return a function to call after each request: it writes a line once the response is sent.

    The line holds the question only if traces may hold texts, those of this request too. Raises
    ConfigurationError if the file cannot be written. A file that a tool moves away (logrotate) is
    begun anew.
    """
    if not settings.audit_log:
        return lambda response: response
    path = settings.audit_log
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _append(path, "")
    except OSError as error:
        raise ConfigurationError(f"AUDIT_LOG={path}: {error.strerror}.") from error

    default = settings.chroma_collection_name

    def note(response: Response) -> Response:
        entry = _entry(response, default, with_question=settings.trace_content and not silent())
        run: Run | None = g.get("run")
        rated: str | None = g.get("qa_id")
        response.call_on_close(lambda: _write(path, entry | _outcome(run, rated)))
        return response

    return note


def _append(path: Path, text: str) -> None:
    """Add to the file, which only its owner may read, all of a text or nothing."""
    # opened for each line: one that was moved away is begun anew, and nothing is left to close
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # what is cut off is no line of another thread
        size, content = os.fstat(descriptor).st_size, text.encode()
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            content = b"\n" + content  # a process was killed while it wrote
        if os.write(descriptor, content) < len(content):
            os.ftruncate(descriptor, size)
            raise OSError(errno.ENOSPC, "The disk is full", str(path))
    finally:
        os.close(descriptor)


def _entry(response: Response, default: str, *, with_question: bool) -> dict[str, object]:
    caller: Caller = g.get("caller", NOBODY)
    fields = g.get("body", {})
    ingested: IngestBody | None = g.get("ingested")
    chosen = ingested.collection if ingested else _chosen()
    entry: dict[str, object] = {
        "when": moment("milliseconds"),
        "key": caller.name or None,
        "key_id": caller.key.id if caller.key else None,
        "address": request.remote_addr,
        "method": request.method,
        "route": request.url_rule.rule if request.url_rule else None,
        "collection": (chosen or default)[:LONGEST],
        "corpora": [ingested.corpus] if ingested else _brief(fields.get("corpus_filter")),
        "status": response.status_code,
    }
    if with_question:
        entry["question"] = _brief(fields.get("question", fields.get("query")))
    return entry


def _brief(value: object) -> object:
    """A value of a body, cut if it is long."""
    text = str(value)
    return value if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def _chosen() -> str:
    """The collection that the request names, be it in its path; empty if none."""
    if request.url_rule and request.url_rule.rule.startswith("/api/collections/"):
        return str((request.view_args or {}).get("name", ""))
    with suppress(HTTPException):  # from a body that was too large to be read
        return chosen_collection()
    return ""


def _outcome(run: Run | None, qa_id: str | None) -> dict[str, object]:
    """The outcome of an answer; it has no decision yet if it goes on after its reader left."""
    return {
        "qa_id": run.qa_id if run else qa_id,
        "decision": run.document.get("decision") if run else None,
        "cost": run.cost if run else None,
    }


def _write(path: Path, entry: dict[str, object]) -> None:
    try:
        _append(path, f"{json.dumps(entry, ensure_ascii=True, default=str)}\n")
    except OSError:
        log.exception("A line of the audit log could not be written.")
