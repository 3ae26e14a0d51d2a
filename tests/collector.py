"""A local server that takes traces by OTLP over HTTP: it decodes them, or fails as told."""

import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from tests.servers import Handler, listening, wait_for

Broken = Literal["hang", "garbage", "cut", "endless"]
Told = int | Broken | ExportTraceServiceResponse
"""A status, a fault, or what a good answer says."""


@dataclass(frozen=True)
class Arrived:
    """A span as it came."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    attributes: Mapping[str, Any]
    events: tuple[tuple[str, Mapping[str, Any]], ...]
    status: str
    resource: Mapping[str, Any]
    dropped: int
    kept: str
    """All of it as text."""


class Collector:
    """`spans` are those that were taken, `requests` the path and headers of each sending.

    It answers `after` so many seconds.
    """

    def __init__(self, address: str):
        self.address = address
        self.spans: list[Arrived] = []
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.next: deque[Told] = deque()
        self.always: Told = 200
        self.limit = 10_000
        self.after = 0.0
        self.going_on = threading.Event()
        self.stopping = threading.Event()

    def wait(self, count: int) -> list[Arrived]:
        """The spans, once there are so many."""
        wait_for(lambda: self.spans if len(self.spans) >= count else None, 30, f"{count} spans")
        return list(self.spans)

    def wait_for_requests(self, count: int) -> None:
        wait_for(lambda: len(self.requests) >= count or None, 30, f"{count} requests")


@contextmanager
def collecting(always: Told = 200, port: int = 0) -> Iterator[Collector]:
    """A running collector."""
    with listening(_Handler, Collector, port) as collector:
        collector.always = always
        try:
            yield collector
        finally:
            collector.stopping.set()
            collector.going_on.set()


class _Handler(Handler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        collector: Collector = self.kept
        body = self.body()
        if self.path == "/v1/metrics":  # of the same setting: refused, they keep an end waiting
            self.send(200)
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        collector.requests.append((self.path, headers))
        sent = ExportTraceServiceRequest.FromString(body)
        told = collector.next.popleft() if collector.next else collector.always
        spans = list(_spans(sent))
        if len(spans) > collector.limit:
            told = 413
        collector.stopping.wait(collector.after)
        if told == "hang":
            collector.going_on.wait()
            told = 200
        if told not in ("cut",) and not (isinstance(told, int) and told >= 300):
            collector.spans += spans
        with suppress(OSError):  # the client may have given up
            self._answer(told)

    def _answer(self, told: Told) -> None:
        if told == "cut":
            self.close_connection = True
            self.connection.close()
            return
        self.send_response(told if isinstance(told, int) else 200)
        self.send_header("Content-Type", "application/x-protobuf")
        if told == "endless":
            self.end_headers()
            while not self.kept.stopping.is_set():
                self.wfile.write(b"x" * 10_000)
            return
        answer = told.SerializeToString() if isinstance(told, ExportTraceServiceResponse) else b""
        if told == "garbage":
            self.send_header("Content-Encoding", "gzip")
            answer = b"\xff\xfe no protobuf, and no gzip"
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


def _spans(sent: ExportTraceServiceRequest) -> Iterator[Arrived]:
    for group in sent.resource_spans:
        resource = _values(group.resource.attributes)
        for scope in group.scope_spans:
            for span in scope.spans:
                yield Arrived(
                    span.name,
                    span.trace_id.hex(),
                    span.span_id.hex(),
                    span.parent_span_id.hex(),
                    _values(span.attributes),
                    tuple((event.name, _values(event.attributes)) for event in span.events),
                    span.status.message,
                    resource,
                    span.dropped_attributes_count,
                    f"{group.resource}{span}",
                )


def _values(pairs: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}
