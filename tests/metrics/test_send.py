"""Metrics by OTLP: where they go, and what a collector that is away costs."""

import logging
import threading

import pytest
from pydantic import SecretStr

from atlas_search import Atlas
from atlas_search.core.settings import Settings
from atlas_search.core.telemetry import metrics as send
from atlas_search.core.telemetry.metrics import Metrics, OnceAMinute, metrics_sender
from tests.access.two_corpora import OPEN, QUESTION, VAULT
from tests.conftest import free_port
from tests.metrics.collector import Collector, collector
from tests.metrics.scraped import client_of, scrape, with_metrics
from tests.servers import wait_for

EXPORTER = "opentelemetry.exporter.otlp.proto.http.metric_exporter"


def sender_to(endpoint: str, **changes: object) -> Metrics:
    """Metrics that are sent ten times a second."""
    given = {
        "otel_exporter_otlp_metrics_endpoint": endpoint,
        "otel_exporter_otlp_metrics_headers": SecretStr("authorization=Bearer%20word, x-team=a"),
        "otel_metric_export_interval": 100,
    }
    return Metrics(metrics_sender(Settings(**(given | changes))))


def test_the_counts_that_prometheus_reads_are_sent_too(parish: Atlas) -> None:
    with collector() as found:
        metrics = sender_to(f"{found.address}/v1/metrics")
        client = client_of(with_metrics(parish, metrics))
        client.post("/api/search", json={"question": QUESTION})
        seen = scrape(client)
        metrics.close()
        path, headers, last = _last(found)
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


def _last(found: Collector) -> tuple[str, dict[str, str], dict]:
    assert not found.arrived.empty()
    while not found.arrived.empty():
        last = found.arrived.get()
    return last


def test_a_collector_that_comes_back_gets_all_that_was_counted(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(send, "SEND_SECONDS", 0.2)
    with collector() as found:
        found.status = 400
        metrics = sender_to(f"{found.address}/v1/metrics")
        metrics.count("atlas.searches", {"target": "t", "outcome": "found"})
        wait_for(lambda: found.asked > 3 or None, 30, "a few attempts")
        metrics.count("atlas.searches", {"target": "t", "outcome": "found"})
        found.status = 200
        _, _, sent = found.arrived.get(timeout=30)
        assert sent["atlas.searches"].sum.data_points[0].as_int == 2
        metrics.close()
    assert len([record for record in caplog.records if record.name == EXPORTER]) <= 1


@pytest.mark.parametrize("how", ["refuses", "hangs"])
def test_one_that_is_away_neither_slows_a_search_nor_the_end(parish: Atlas, how: str) -> None:
    with collector() as found:
        found.go.clear()
        address = found.address if how == "hangs" else f"http://127.0.0.1:{free_port()}"
        metrics = sender_to(f"{address}/v1/metrics")
        atlas = with_metrics(parish, metrics)
        assert atlas.search(QUESTION).passages
        if how == "hangs":
            wait_for(lambda: found.asked or None, 30, "an attempt")
        assert atlas.search(QUESTION).passages
        closing = threading.Thread(target=metrics.close)
        closing.start()
        closing.join(30)
        assert not closing.is_alive()
        found.go.set()


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
    with collector() as found:
        metrics = sender_to(
            "",
            otel_exporter_otlp_endpoint=f"{found.address}/otlp",
            otel_exporter_otlp_headers=SecretStr("authorization=Bearer%20word"),
            otel_exporter_otlp_metrics_headers=SecretStr(own),
        )
        metrics.count("atlas.feedback", {"name": "thumb", "value": "up"})
        metrics.close()
        path, headers, _ = _last(found)
    assert path == "/otlp/v1/metrics"
    assert headers["authorization"] == ("Bearer of-its-own" if own else "Bearer word")
