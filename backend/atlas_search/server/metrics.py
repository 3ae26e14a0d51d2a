"""`GET /metrics` for Prometheus, and what is counted of requests, jobs and votes."""

import time
from collections.abc import Callable

from flask import Response, g, request
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from flask_openapi3.types import ResponseDict

from atlas_search.core.errors import NotAllowed
from atlas_search.core.telemetry.metrics import OTHER, Metrics, Value
from atlas_search.server.access.caller import present_caller
from atlas_search.server.access.rules import described_route
from atlas_search.server.ingest.documents import JobOut

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
    """What to call first before each request."""
    g.begun = time.perf_counter()


def time_request(metrics: Metrics) -> Callable[[Response], Response]:
    """What to call after each request: it is recorded once the response is sent."""

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


def count_feedback(metrics: Metrics, name: str, value: str | int) -> None:
    """Count a vote: what it is about, such as `accuracy`, and the mark it gives."""
    metrics.count("atlas.feedback", {"name": name, "value": str(value)})
