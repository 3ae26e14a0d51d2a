"""Metrics by OTLP: where they go, and what a collector that is away costs."""

import gzip
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from pydantic import SecretStr

from atlas_search import Atlas
from atlas_search.core.settings import Settings
from atlas_search.core.telemetry import metrics as send
from atlas_search.core.telemetry.metrics import Metrics, OnceAMinute, metrics_sender
from tests.conftest import free_port
from tests.server.test_metrics import scrape, server_of, with_metrics
from tests.server.two_corpora import OPEN, QUESTION, VAULT
from tests.servers import wait_for


class Collector:
    """A server that keeps what arrives, each time with path and headers, and answers with `status`.

    While `go` is not set it answers nobody.
    """

    def __init__(self, port: int):
        self.address = f"http://127.0.0.1:{port}"
        self.arrived: SimpleQueue[tuple[str, dict[str, str], dict[str, Metric]]] = SimpleQueue()
        self.attempts = 0
        self.status = 200
        self.go = threading.Event()
        self.go.set()


@contextmanager
def collector() -> Iterator[Collector]:
    """A collector while the block runs."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        sink = _Handler.of[server.server_port] = Collector(server.server_port)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield sink
        finally:
            sink.go.set()
            server.shutdown()
            thread.join(60)


class _Handler(BaseHTTPRequestHandler):
    of: dict[int, Collector] = {}  # noqa: RUF012

    def do_POST(self) -> None:
        sink = self.of[self.server.server_port]  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers["Content-Length"]))
        sink.attempts += 1
        sink.go.wait(60)
        if sink.status == 200:
            plain = gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body
            headers = {name.lower(): value for name, value in self.headers.items()}
            sink.arrived.put((self.path, headers, _metrics(plain)))
        answer = ExportMetricsServiceResponse().SerializeToString()
        self.send_response(sink.status)
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


EXPORTER = "opentelemetry.exporter.otlp.proto.http.metric_exporter"


def sender_to(endpoint: str, **changes: object) -> Metrics:
    """Metrics that are sent ten times a second."""
    defaults = {
        "otel_exporter_otlp_metrics_endpoint": endpoint,
        "otel_exporter_otlp_metrics_headers": SecretStr("authorization=Bearer%20word, x-team=a"),
        "otel_metric_export_interval": 100,
    }
    return Metrics(metrics_sender(Settings(**(defaults | changes))))


def test_the_counts_that_prometheus_reads_are_sent_too(parish: Atlas) -> None:
    with collector() as sink:
        metrics = sender_to(f"{sink.address}/v1/metrics")
        client = server_of(with_metrics(parish, metrics))
        client.post("/api/search", json={"question": QUESTION})
        seen = scrape(client)
        metrics.close()
        path, headers, last = last_of(sink)
    assert path == "/v1/metrics"
    assert (headers["authorization"], headers["x-team"]) == ("Bearer word", "a")
    (searches,) = last["atlas.searches"].sum.data_points
    assert searches.as_int == seen.value("atlas_searches_total") == 1
    candidates = last["atlas.corpus.candidates"].histogram.data_points
    corpora = {a.value.string_value for p in candidates for a in p.attributes if a.key == "corpus"}
    assert corpora == {OPEN, VAULT}
    assert sum(p.sum for p in candidates) == seen.value("atlas_corpus_candidates_sum")
    assert last["http.server.request.duration"].unit == "s"
    assert last["process.memory.usage"].gauge.data_points[0].as_int > 50e6


def test_a_collector_that_comes_back_gets_all_that_was_counted(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(send, "SEND_SECONDS", 0.2)
    with collector() as sink:
        sink.status = 400
        metrics = sender_to(f"{sink.address}/v1/metrics")
        metrics.count("atlas.searches", {"target": "t", "outcome": "found"})
        wait_for(lambda: sink.attempts > 3 or None, 30, "a few attempts")
        metrics.count("atlas.searches", {"target": "t", "outcome": "found"})
        sink.status = 200
        _, _, sent = sink.arrived.get(timeout=30)
        assert sent["atlas.searches"].sum.data_points[0].as_int == 2
        metrics.close()
    assert len([record for record in caplog.records if record.name == EXPORTER]) <= 1


@pytest.mark.parametrize("how", ["refuses", "hangs"])
def test_one_that_is_away_neither_slows_a_search_nor_the_end(parish: Atlas, how: str) -> None:
    with collector() as sink:
        sink.go.clear()
        address = sink.address if how == "hangs" else f"http://127.0.0.1:{free_port()}"
        metrics = sender_to(f"{address}/v1/metrics")
        atlas = with_metrics(parish, metrics)
        assert atlas.search(QUESTION).passages
        if how == "hangs":
            wait_for(lambda: sink.attempts or None, 30, "an attempt")
        assert atlas.search(QUESTION).passages
        closing = threading.Thread(target=metrics.close)
        closing.start()
        closing.join(30)
        assert not closing.is_alive()
        sink.go.set()


def test_a_minute_has_one_line() -> None:
    now = [0.0]
    once = OnceAMinute(lambda: now[0])

    def passes(level: int) -> bool:
        return bool(once.filter(logging.LogRecord("a", level, "", 0, "m", None, None)))

    assert [passes(logging.ERROR), passes(logging.ERROR)] == [True, False]
    assert passes(logging.INFO)
    now[0] = 61.0
    assert [passes(logging.WARNING), passes(logging.ERROR)] == [True, False]


def test_phoenix_is_sent_no_metrics() -> None:
    assert metrics_sender(Settings(phoenix_collector_endpoint="http://127.0.0.1:6006")) == []


@pytest.mark.parametrize("own", ["", "authorization=Bearer%20of-its-own"])
def test_the_settings_of_all_signals_hold_for_metrics_too(own: str) -> None:
    with collector() as sink:
        metrics = sender_to(
            "",
            otel_exporter_otlp_endpoint=f"{sink.address}/otlp",
            otel_exporter_otlp_headers=SecretStr("authorization=Bearer%20word"),
            otel_exporter_otlp_metrics_headers=SecretStr(own),
        )
        metrics.count("atlas.feedback", {"name": "thumb", "value": "up"})
        metrics.close()
        path, headers, _ = last_of(sink)
    assert path == "/otlp/v1/metrics"
    assert headers["authorization"] == ("Bearer of-its-own" if own else "Bearer word")


def last_of(sink: Collector) -> tuple[str, dict[str, str], dict[str, Metric]]:
    assert not sink.arrived.empty()
    while not sink.arrived.empty():
        last = sink.arrived.get()
    return last
