"""`GET /metrics`: its forms, who may read it, and what requests change in it."""

import threading
from collections.abc import Callable

import pytest
from flask.testing import FlaskClient
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from werkzeug.test import Client

from atlas_search import Atlas
from atlas_search.core.telemetry.metrics import INSTRUMENTS, Metrics
from atlas_search.server.access.keys import add_key
from atlas_search.server.limits import HEALTH_THREADS, Capacity
from atlas_search.server.serving import Guard
from tests.access.conftest import TOKEN, guard
from tests.access.two_corpora import OPEN, QUESTION, VAULT
from tests.metrics.scraped import Scrape, client_of, scrape, with_metrics

REQUESTS = "http_server_request_duration_seconds_count"


def test_prometheus_reads_it_in_both_of_its_forms(client: FlaskClient) -> None:
    assert client.post("/api/search", json={"question": QUESTION}).status_code == 200
    text = client.get("/metrics")
    assert text.content_type.startswith("text/plain; version=")
    assert text.headers["Cache-Control"] == "no-store"
    assert "atlas_searches" in Scrape(text.text).families
    assert "target_info" in text.text
    other = client.get(
        "/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"}
    )
    assert other.content_type.startswith("application/openmetrics-text")
    names = {family.name for family in openmetrics(other.text)}
    assert {"atlas_searches", "http_server_request_duration_seconds"} <= names


def test_every_request_is_counted_by_route_method_and_status(client: FlaskClient) -> None:
    client.get("/api/corpora")
    client.get("/api/corpora")
    client.get("/api/passages/nothing")
    client.post("/api/search", json={"question": ""})
    client.get("/api/ask/q1")
    found = scrape(client)
    assert found.value(REQUESTS, http_route="/api/corpora", http_response_status_code="200") == 2
    labels = {"http_request_method": "GET", "http_response_status_code": "404"}
    assert found.value(REQUESTS, http_route="/api/passages/{id}", **labels) == 1
    assert found.value(REQUESTS, http_route="/api/ask/{qa_id}", **labels) == 1
    assert found.value(REQUESTS, http_route="/api/search", http_response_status_code="400") == 1


def test_requests_that_the_gates_refuse_are_counted_too(client: FlaskClient) -> None:
    client.get("/api/corpora", headers={"Host": "evil.example"})
    client.post("/api/search", data="{", content_type="text/plain")
    found = scrape(client)
    assert found.value(REQUESTS, http_response_status_code="421") == 1
    assert found.value(REQUESTS, http_response_status_code="415") == 1


def test_a_stream_is_recorded_once_it_has_ended(client: FlaskClient) -> None:
    with client.post("/api/ask/stream", json={"question": QUESTION}, buffered=False) as stream:
        assert scrape(client).value(REQUESTS, http_route="/api/ask/stream") == 0
        assert "event: complete" in stream.text
    assert scrape(client).value(REQUESTS, http_route="/api/ask/stream") == 1


def test_strange_paths_and_methods_make_no_series(client: FlaskClient) -> None:
    for number in range(2000):
        client.get(f"/api/zqx{number}")
    for number in range(50):
        client.open("/api/corpora", method=f"ZQX{number}")
        client.post("/api/ask", json={"question": QUESTION, "target": f"zqx{number}"})
        client.post("/api/search", json={"question": QUESTION, "corpus_filter": f"zqx{number}"})
        client.post(
            "/api/search", json={"question": f"zqx{number}"}, query_string={"collection": "q"}
        )
    text = client.get("/metrics").text
    assert "zqx" not in text.lower().replace(VAULT, "")
    assert Scrape(text).value(REQUESTS, http_route="other") >= 2000
    assert len(Scrape(text).labels(REQUESTS)) < 20


def test_of_a_label_so_many_values_are_told_apart(client: FlaskClient, metrics: Metrics) -> None:
    for number in range(2000):
        metrics.count("atlas.feedback", {"name": f"vote {number}", "value": "up"})
    found = scrape(client)
    assert len(found.labels("atlas_feedback_total")) == 101
    assert found.value("atlas_feedback_total", name="other") == 1900
    assert found.value("atlas_feedback_total") == 2000


def test_what_is_served_is_named_however_often_it_was_built(
    client: FlaskClient, metrics: Metrics
) -> None:
    for number in range(250):
        labels = {"collection": "shelf", "version": f"build {number}", "embedding": "small"}
        metrics.observe("shelf", {"atlas.store.version": lambda labels=labels: [(1, labels)]})
        found = scrape(client)
    shelf = [of for of in found.labels("atlas_store_version") if of["collection"] == "shelf"]
    assert [of["version"] for of in shelf] == ["build 249"]


def test_nothing_of_a_question_or_an_answer_is_in_it(client: FlaskClient) -> None:
    body = {"question": QUESTION, "qa_id": "zebra-1", "session_id": "okapi-1"}
    answer = client.post("/api/ask", json=body).get_json()
    assert answer["decision"] == "ANSWER"
    text = client.get("/metrics").text
    for secret in ("granite", "bridge", "zebra", "okapi", answer["trace_id"]):
        assert secret not in text


def test_where_keys_are_used_only_administrators_of_everything_read_it(
    parish: Atlas, metrics: Metrics, tmp_path: pytest.TempPathFactory
) -> None:
    keys = tmp_path / "keys.json"
    reader = add_key(keys, "reader").text
    narrow = add_key(keys, "narrow", corpora={"parish": [OPEN]}, administrator=True).text
    whole = add_key(keys, "whole", administrator=True).text
    guarded = guard(with_metrics(parish, metrics), keys, limit_requests_per_minute=1)
    client = client_of(guarded)

    def status(key: str) -> int:
        return client.get("/metrics", headers={"Authorization": f"Bearer {key}"}).status_code

    assert client.get("/metrics").status_code == 401
    assert [status(key) for key in ("wrong", reader, narrow)] == [401, 403, 403]
    assert [status(key) for key in (whole, TOKEN, whole, TOKEN)] == [200] * 4  # and no limit counts


def test_a_page_of_another_name_does_not_reach_it(client: FlaskClient) -> None:
    assert client.get("/metrics", headers={"Host": "rebound.example"}).status_code == 421


def test_it_is_read_while_every_thread_answers(client: FlaskClient) -> None:
    go, inside = threading.Event(), threading.Semaphore(0)
    application: Callable[..., object] = client.application

    def app(environ: dict[str, object], start: Callable[..., object]) -> object:
        if environ["PATH_INFO"] == "/api/search":
            inside.release()
            assert go.wait(30)
        return application(environ, start)

    capacity = Capacity(app, 4)
    body = {"question": QUESTION}
    threads = [
        threading.Thread(target=lambda: Client(capacity).post("/api/search", json=body))
        for _ in range(4 - HEALTH_THREADS)
    ]
    for thread in threads:
        thread.start()
        assert inside.acquire(timeout=30)
    try:
        assert Client(capacity).get("/api/corpora").status_code == 503
        assert Client(capacity).get("/metrics").status_code == 200
        assert (capacity.inside, capacity.refused) == (4 - HEALTH_THREADS, 1)
    finally:
        go.set()
        for thread in threads:
            thread.join(30)


def test_it_is_read_while_the_store_is_damaged(atlas: Atlas) -> None:
    class Damaged(Guard):
        def require_whole(self) -> None:
            raise AssertionError("asked")

    client = client_of(atlas, guard=Damaged())
    assert client.get("/metrics").status_code == 200


def test_readers_at_once_each_get_everything(client: FlaskClient) -> None:
    client.post("/api/search", json={"question": QUESTION})
    found: list[Scrape] = []
    threads = [
        threading.Thread(target=lambda: found.append(scrape(client.application.test_client())))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [each.value("atlas_searches_total") for each in found] == [1] * 8
    assert all(len(each.families) > 15 for each in found)


def test_what_nobody_reads_is_not_kept(atlas: Atlas, metrics: Metrics) -> None:
    atlas.search(QUESTION)
    assert metrics.scrape("")[0] == b""
    metrics.expose()
    atlas.search(QUESTION)
    assert b'atlas_searches_total{outcome="found",target="certain"} 1.0' in metrics.scrape("")[0]


def test_every_instrument_is_there_once_it_has_a_value(
    client: FlaskClient, metrics: Metrics
) -> None:
    for instrument in INSTRUMENTS.values():
        labels = dict.fromkeys(instrument.labels, "one")
        if instrument.kind == "counter":
            metrics.count(instrument.name, labels)
        elif instrument.kind == "histogram":
            metrics.record(instrument.name, labels, 1.0)
        else:
            metrics.observe("test", {instrument.name: lambda labels=labels: [(1, labels)]})
    names = scrape(client).families
    missing = [
        name
        for name in INSTRUMENTS
        if not any(family.startswith(name.replace(".", "_")) for family in names)
    ]
    assert missing == []
