"""A server that takes metrics by OTLP over HTTP, as a collector does."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric


class Collector:
    """What arrived, each time with the path and headers; it answers with `status`.

    While `go` is not set it answers nobody.
    """

    def __init__(self, port: int):
        self.address = f"http://127.0.0.1:{port}"
        self.arrived: SimpleQueue[tuple[str, dict[str, str], dict[str, Metric]]] = SimpleQueue()
        self.asked = 0
        self.status = 200
        self.go = threading.Event()
        self.go.set()


@contextmanager
def collector() -> Iterator[Collector]:
    """A collector while the block runs."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        found = _Handler.of[server.server_port] = Collector(server.server_port)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield found
        finally:
            found.go.set()
            server.shutdown()
            thread.join(60)


class _Handler(BaseHTTPRequestHandler):
    of: dict[int, Collector] = {}  # noqa: RUF012

    def do_POST(self) -> None:
        found = self.of[self.server.server_port]  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers["Content-Length"]))
        found.asked += 1
        found.go.wait(60)
        if found.status == 200:
            plain = gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body
            headers = {name.lower(): value for name, value in self.headers.items()}
            found.arrived.put((self.path, headers, _metrics(plain)))
        answer = ExportMetricsServiceResponse().SerializeToString()
        self.send_response(found.status)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def _metrics(body: bytes) -> dict[str, Metric]:
    sent = ExportMetricsServiceRequest.FromString(body)
    return {
        metric.name: metric
        for resource in sent.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }
