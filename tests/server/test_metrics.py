"""`GET /metrics`: its forms, who may read it, and how requests, answers and jobs change it."""

import gc
import json
import logging
import re
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from prometheus_client import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families
from werkzeug.test import TestResponse

from atlas_search import Atlas
from atlas_search.answer.cache import AnswerCache
from atlas_search.core.errors import Cancelled, ModelRefused
from atlas_search.core.logs import JsonLines, log_context
from atlas_search.core.stop import Stop
from atlas_search.core.telemetry.metrics import INSTRUMENTS, MOST, Metrics
from atlas_search.server.access.keys import KeyFile, add_key
from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from atlas_search.server.limits import networks
from atlas_search.server.metrics import observe_listener
from atlas_search.server.serving import Serving
from atlas_search.server.sockets import BoundPort, ConnectionLimits
from tests.chat_server import KEY, ChatServer, Gate, Reply, Says, sentence
from tests.hash_embedder import HashEmbedder
from tests.metrics_docs import PAGE, name_for_prometheus, page
from tests.openai_server import openai_server
from tests.server.ingest.handing import done, send, served_by, settings_for
from tests.server.listening import WHOLE, connected, rest
from tests.server.two_corpora import OPEN, QUESTION, TOKEN, VAULT, guard
from tests.servers import app_of, wait_for
from tests.tiny import FARM, build_tiny, write_sources

Sample = tuple[str, frozenset[tuple[str, str]]]


def with_metrics(atlas: Atlas, metrics: Metrics) -> Atlas:
    """Give the collection counts, and kept answers, of its own."""
    services = atlas.services
    searcher = replace(services.searcher, metrics=metrics)
    cache = AnswerCache(64, 300)
    answerer = replace(services.answerer, searcher=searcher, cache=cache)
    return Atlas(replace(services, answerer=answerer))


class Patient(FlaskClient):
    """Takes the whole of a response before it goes on, as the server that sends it does."""

    def open(self, *args: Any, buffered: bool = True, **kwargs: Any) -> TestResponse:
        return super().open(*args, buffered=buffered, **kwargs)


def server_of(atlas: Atlas) -> FlaskClient:
    """A client of a server of the collection."""
    app = app_of(atlas)
    app.test_client_class = Patient
    return app.test_client()


class Scrape:
    """All values of one reading."""

    def __init__(self, text: str):
        self.families: dict[str, Metric] = {
            family.name: family for family in text_string_to_metric_families(text)
        }
        self._values: dict[Sample, float] = {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in self.families.values()
            for sample in family.samples
        }

    def value(self, name: str, /, **labels: str) -> float:
        """The sum of the samples of a name that have these labels; a dot is written `__`."""
        pairs = {(key.replace("__", "_"), value) for key, value in labels.items()}
        return sum(
            value
            for (sample, reading), value in self._values.items()
            if sample == name and pairs <= reading
        )

    def labels(self, name: str) -> list[dict[str, str]]:
        """The labels of every sample of a name."""
        return [dict(reading) for sample, reading in self._values if sample == name]


def scrape(client: FlaskClient, **headers: str) -> Scrape:
    """Read `/metrics`."""
    response = client.get("/metrics", headers=headers)
    assert response.status_code == 200, response.text
    return Scrape(response.text)


@pytest.fixture
def metrics() -> Iterator[Metrics]:
    made = Metrics()
    yield made
    made.close()


@pytest.fixture
def atlas(parish: Atlas, metrics: Metrics) -> Atlas:
    return with_metrics(parish, metrics)


@pytest.fixture
def client(atlas: Atlas) -> FlaskClient:
    return server_of(atlas)


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
    client.get("/api/corpora", headers={"Host": "evil.example"})
    client.post("/api/search", data="{", content_type="text/plain")
    client.get("/api/ask/q1")
    reading = scrape(client)
    assert reading.value(REQUESTS, http_route="/api/corpora", http_response_status_code="200") == 2
    labels = {"http_request_method": "GET", "http_response_status_code": "404"}
    assert reading.value(REQUESTS, http_route="/api/passages/{id}", **labels) == 1
    assert reading.value(REQUESTS, http_route="/api/ask/{qa_id}", **labels) == 1
    assert reading.value(REQUESTS, http_route="/api/search", http_response_status_code="400") == 1
    for status in ("421", "415"):
        assert reading.value(REQUESTS, http_response_status_code=status) == 1
    assert client.get("/metrics", headers={"Host": "rebound.example"}).status_code == 421


def test_a_stream_is_recorded_once_it_has_ended(client: FlaskClient) -> None:
    with client.post("/api/ask/stream", json={"question": QUESTION}, buffered=False) as stream:
        assert scrape(client).value(REQUESTS, http_route="/api/ask/stream") == 0
        assert "event: complete" in stream.text
    assert scrape(client).value(REQUESTS, http_route="/api/ask/stream") == 1


def test_strange_paths_and_methods_make_no_series(client: FlaskClient) -> None:
    for number in range(300):
        client.get(f"/api/zqx{number}")
    for number in range(20):
        client.open("/api/corpora", method=f"ZQX{number}")
        client.post("/api/ask", json={"question": QUESTION, "target": f"zqx{number}"})
        client.post("/api/search", json={"question": QUESTION, "corpus_filter": f"zqx{number}"})
        client.post(
            "/api/search", json={"question": f"zqx{number}"}, query_string={"collection": "q"}
        )
    text = client.get("/metrics").text
    assert "zqx" not in text.lower().replace(VAULT, "")
    assert Scrape(text).value(REQUESTS, http_route="other") >= 300
    assert len(Scrape(text).labels(REQUESTS)) < 20


def test_of_a_label_so_many_values_are_told_apart(client: FlaskClient, metrics: Metrics) -> None:
    for number in range(300):
        metrics.count("atlas.feedback", {"name": f"vote {number}", "value": "up"})
    reading = scrape(client)
    assert len(reading.labels("atlas_feedback_total")) == 101
    assert reading.value("atlas_feedback_total", name="other") == 200
    assert reading.value("atlas_feedback_total") == 300


@pytest.mark.thorough
def test_what_is_served_is_named_however_often_it_was_built(
    client: FlaskClient, metrics: Metrics
) -> None:
    for number in range(120):
        labels = {"collection": "shelf", "version": f"build {number}", "embedding": "small"}
        metrics.observe("shelf", {"atlas.store.version": lambda labels=labels: [(1, labels)]})
        reading = scrape(client)
    shelf = [of for of in reading.labels("atlas_store_version") if of["collection"] == "shelf"]
    assert [of["version"] for of in shelf] == ["build 119"]


def test_nothing_of_a_question_or_an_answer_is_in_it(client: FlaskClient) -> None:
    body = {"question": QUESTION, "qa_id": "zebra-1", "session_id": "okapi-1"}
    answer = client.post("/api/ask", json=body).get_json()
    assert answer["decision"] == "ANSWER"
    text = client.get("/metrics").text
    for secret in ("granite", "bridge", "zebra", "okapi", answer["trace_id"]):
        assert secret not in text


def test_where_keys_are_used_only_administrators_of_everything_read_it(
    parish: Atlas, metrics: Metrics, keys_file: Path
) -> None:
    reader = add_key(KeyFile(keys_file), "reader").text
    narrow = add_key(
        KeyFile(keys_file), "narrow", corpora={"parish": [OPEN]}, administrator=True
    ).text
    whole = add_key(KeyFile(keys_file), "whole", administrator=True).text
    guarded = guard(with_metrics(parish, metrics), keys_file, limit_requests_per_minute=1)
    client = server_of(guarded)

    def status(key: str) -> int:
        return client.get("/metrics", headers={"Authorization": f"Bearer {key}"}).status_code

    assert client.get("/metrics").status_code == 401
    assert [status(key) for key in ("wrong", reader, narrow)] == [401, 403, 403]
    assert [status(key) for key in (whole, TOKEN, whole, TOKEN)] == [200] * 4  # and no limit counts


def test_readers_at_once_each_get_everything(client: FlaskClient) -> None:
    client.post("/api/search", json={"question": QUESTION})
    reading: list[Scrape] = []
    threads = [
        threading.Thread(target=lambda: reading.append(scrape(client.application.test_client())))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [each.value("atlas_searches_total") for each in reading] == [1] * 8
    assert all(len(each.families) > 15 for each in reading)


def test_what_nobody_reads_is_not_kept(atlas: Atlas, metrics: Metrics) -> None:
    atlas.search(QUESTION)
    assert metrics.scrape("")[0] == b""
    metrics.expose()
    atlas.search(QUESTION)
    assert b'atlas_searches_total{outcome="found",target="certain"} 1.0' in metrics.scrape("")[0]


WRITER = (
    "LLM_PROVIDER=openai\nLLM_MODEL=gpt-4o-mini\nLLM_PRICE_INPUT=1000\nLLM_PRICE_OUTPUT=2000\n"
    "ANSWER_THRESHOLD=0\nLLM_FALLBACK=none\nLLM_SECONDS=5\n"
)
CALLS = "gen_ai_client_operation_duration_seconds_count"
TOKENS = "gen_ai_client_token_usage_sum"


@pytest.fixture(scope="module")
def model() -> Iterator[ChatServer]:
    with openai_server() as server:
        yield server


@pytest.fixture(scope="module")
def written(
    parish: Atlas, tmp_path_factory: pytest.TempPathFactory, model: ChatServer
) -> Iterator[Atlas]:
    """The collection, answered by a language model."""
    targets = tmp_path_factory.mktemp("targets")
    (targets / "writer.txt").write_text(WRITER)
    folder = parish.services.settings.collection_folder
    options = {"openai_base_url": model.address, "openai_api_key": KEY, "test_target": "writer"}
    with Atlas.open(
        folder, embedder=HashEmbedder(), targets_directory=targets, **options
    ) as opened:
        yield opened


@pytest.fixture
def writer(written: Atlas, metrics: Metrics, model: ChatServer) -> FlaskClient:
    model.told.clear()
    model.says(sentence("The parish keeps the granite bridge in repair.", 1))
    return server_of(with_metrics(written, metrics))


def test_a_search_is_counted_with_its_stages_and_corpora(client: FlaskClient) -> None:
    reading = client.post("/api/search", json={"question": QUESTION}).get_json()
    now = scrape(client)
    assert now.value("atlas_searches_total", target="certain", outcome="found") == 1
    stages = {each["stage"] for each in now.labels("atlas_stage_duration_seconds_count")}
    assert (
        stages == reading["timings_ms"].keys() >= {"embed", "retrieve", "rank", "select", "total"}
    )
    total = now.value("atlas_stage_duration_seconds_sum", operation="search", stage="total")
    assert total == pytest.approx(reading["timings_ms"]["total"] / 1000)
    for corpus, counts in reading["retrieval"]["per_corpus"].items():
        at = {"collection": "parish", "corpus": corpus}
        assert now.value("atlas_corpus_candidates_sum", **at) == counts["candidates"] > 0
        assert now.value("atlas_corpus_kept_sum", **at) == counts["kept"]
        assert now.value("atlas_corpus_kept_count", **at) == 1
    assert not now.labels("atlas_answers_total")


def test_a_search_that_is_stopped_is_counted_as_such(atlas: Atlas, client: FlaskClient) -> None:
    stop = Stop()
    stop.set()
    with pytest.raises(Cancelled):
        atlas.search(QUESTION, stop=stop)
    assert scrape(client).value("atlas_searches_total", outcome="Cancelled") == 1


def test_an_answer_is_counted_with_its_decision_and_what_it_cites(client: FlaskClient) -> None:
    answer = client.post("/api/ask", json={"question": QUESTION}).get_json()
    assert answer["decision"] == "ANSWER"
    client.post("/api/ask", json={"question": "What?", "corpus_filter": [OPEN], "mode": "compare"})
    now = scrape(client)
    kinds = {"target": "certain", "mode": "answer", "decision": "ANSWER", "cached": "no"}
    assert now.value("atlas_answers_total", **kinds) == 1
    assert now.value("atlas_answers_total", mode="compare") == 1
    assert now.value("atlas_answer_duration_seconds_count") == 2
    cited_in = [citation["corpus"] for citation in answer["citations"]]
    for corpus in (OPEN, VAULT):
        assert now.value("atlas_corpus_cited_sum", corpus=corpus) == cited_in.count(corpus)
    assert now.value("atlas_stage_duration_seconds_count", operation="answer", stage="total") == 1
    assert now.value("atlas_stage_duration_seconds_count", operation="compare", stage="total") == 1


def test_a_kept_answer_is_a_hit_and_takes_no_stage_again(client: FlaskClient) -> None:
    for _ in range(3):
        client.post("/api/ask", json={"question": QUESTION})
    now = scrape(client)
    assert now.value("atlas_answers_total", cached="yes") == 2
    assert now.value("atlas_answers_total", cached="no") == 1
    assert now.value("atlas_cache_lookups_total", result="hit") == 2
    assert now.value("atlas_cache_lookups_total", result="miss") == 1
    assert now.value("atlas_cache_answers") == 1
    assert now.value("atlas_stage_duration_seconds_count", stage="total") == 1
    assert now.value("atlas_corpus_cited_count", corpus=OPEN) == 1


def test_a_call_of_a_model_is_counted_with_tokens_and_cost(writer: FlaskClient) -> None:
    answer = writer.post("/api/ask", json={"question": QUESTION}).get_json()
    assert answer["decision"] == "ANSWER", answer
    now = scrape(writer)
    call = {
        "gen_ai_operation_name": "chat",
        "gen_ai_provider_name": "openai",
        "gen_ai_request_model": "gpt-4o-mini",
    }
    calls = answer["usage"]["prompt_tokens"] // 11
    assert now.value(CALLS, **call) == calls
    assert now.value(TOKENS, gen_ai_token_type="input", **call) == 11 * calls
    assert now.value(TOKENS, gen_ai_token_type="output", **call) == 7 * calls
    paid = {"target": "writer", "provider": "openai", "model": "gpt-4o-mini"}
    assert now.value("atlas_cost_total", **paid) == pytest.approx(0.025 * calls)
    generated = {"operation": "answer", "stage": "generate"}
    assert now.value("atlas_stage_duration_seconds_count", **generated) == calls


def test_a_call_that_fails_names_its_error(writer: FlaskClient, model: ChatServer) -> None:
    model.then(Reply(401, {"error": {"message": "no"}}))
    assert writer.post("/api/ask", json={"question": QUESTION}).status_code == 503
    now = scrape(writer)
    assert now.value(CALLS, error_type=ModelRefused.__name__) == 1
    assert now.value("atlas_answers_total", decision="ERROR", reason="ModelRefused") == 1
    assert not now.labels("atlas_cost_total")


def test_what_runs_is_seen_and_what_is_stopped_counted(
    writer: FlaskClient, model: ChatServer
) -> None:
    gate = Gate()
    model.then(Says("The parish ", gate, "keeps it."))
    stream = writer.post(
        "/api/ask/stream", json={"question": QUESTION, "qa_id": "q9"}, buffered=False
    )

    def writing() -> Scrape | None:
        now = scrape(writer)
        running = now.value("atlas_queue_size", queue="model_calls", state="running")
        return now if running else None

    now = wait_for(writing, 30, "the call")
    assert now.value("atlas_queue_size", queue="answers", state="running") == 1
    assert now.value("atlas_queue_size", queue="model_calls", state="waiting") == 0
    assert writer.delete("/api/ask/q9").get_json()["stopped"]
    assert "event: error" in stream.text
    stream.close()

    def stopped() -> bool | None:
        now = scrape(writer)
        cancelled = now.value("atlas_answers_total", decision="CANCELLED", reason="Cancelled")
        return cancelled == 1 or None

    wait_for(stopped, 30, "the end")
    now = scrape(writer)
    assert now.value("atlas_queue_size", queue="answers", state="running") == 0
    assert now.value("atlas_queue_size", queue="turns", state="running") == 0
    assert now.value(CALLS, error_type="Cancelled") == 1


def test_what_is_served_and_the_process_are_told(client: FlaskClient, atlas: Atlas) -> None:
    manifest = atlas.services.store.manifest
    now = scrape(client)
    for corpus in manifest.corpora:
        at = {"collection": "parish", "corpus": corpus.id}
        assert now.value("atlas_store_documents", **at) == corpus.documents
        assert now.value("atlas_store_passages", **at) == corpus.passages
    assert now.value("atlas_store_version", version=manifest.version) == 1
    assert now.value("atlas_store_size_bytes") == sum(manifest.sizes.values())
    assert now.value("process_memory_usage_bytes") > 50e6
    assert now.value("process_thread_count") >= 1
    assert now.value("process_unix_file_descriptor_count") > 3
    assert now.value("process_cpu_time_seconds_total", cpu_mode="user") > 0
    assert now.value("process_uptime_seconds") > 0


def test_spans_are_counted(
    client: FlaskClient, atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, count in (("exported", 5), ("dropped", 2), ("waiting", 3)):
        monkeypatch.setattr(type(atlas.services.tracer), name, count)
    now = scrape(client)
    assert now.value("atlas_spans_total", outcome="exported") == 5
    assert now.value("atlas_spans_total", outcome="dropped") == 2
    assert now.value("atlas_spans_held", state="waiting") == 3
    assert now.value("atlas_spans_held", state="open") == 0


def test_marks_are_counted_once_each_time_they_change(client: FlaskClient) -> None:
    answer = client.post("/api/ask", json={"question": QUESTION, "qa_id": "rated"}).get_json()
    cited = answer["citations"][0]["passage_id"]
    vote = {"qa_id": "rated", "user_id": "a", "thumb": "up", "scores": {"accuracy": 4}}
    more = {"passages": {cited: "relevant"}, "citations": {"1": "supports"}, "comment": "Right."}
    for body in (vote, vote, vote | more, vote | {"thumb": "down"}, vote | {"thumb": None}):
        assert client.post("/api/feedback", json=body).status_code == 200
    now = scrape(client)
    marks = {"thumb": ("up", "down"), "accuracy": ("4",), "passage": ("relevant",)}
    for name, values in (marks | {"citation": ("supports",)}).items():
        for value in values:
            assert now.value("atlas_feedback_total", name=name, value=value) == 1
    assert now.value("atlas_feedback_total") == 5


def test_jobs_are_counted_with_their_documents(own_stores: Path) -> None:
    with served_by(settings_for(own_stores.parent)) as client:
        done(client, send(client, {"bees.txt": "Bees give honey."}))
        now = scrape(client)
    assert now.value("atlas_job_duration_seconds_count", kind="ingest", state="done") == 1
    assert now.value("atlas_job_duration_seconds_sum") > 0
    assert now.value("atlas_job_documents_total", collection="farm", change="added") == 1
    assert now.value("atlas_queue_size", queue="jobs") == 0
    assert now.value("atlas_store_documents", collection="farm") == 4  # of the new version


def test_connections_are_told_and_those_refused(metrics: Metrics) -> None:
    go, inside = threading.Event(), threading.Semaphore(0)

    def app(_: dict[str, Any], start: Callable[..., object]) -> Iterable[bytes]:
        inside.release()
        assert go.wait(30)
        start("200 OK", [])
        return [b"ok"]

    metrics.expose()
    limits = ConnectionLimits(400, 2, networks(""))
    listener = BoundPort(app, "127.0.0.1", 0, threads=8, max_body=1024, limits=limits)
    observe_listener(metrics, listener)
    thread = threading.Thread(target=listener.run, daemon=True)
    thread.start()
    address = ("127.0.0.1", listener.port)
    search = WHOLE.replace(b"/api/health", b"/api/search")
    with connected(address, 2, search), connected(address, 1, search) as [third]:
        assert inside.acquire(timeout=30)
        assert inside.acquire(timeout=30)
        assert b"503 Service Unavailable" in rest(third)
        now = Scrape(metrics.scrape("")[0].decode())
        go.set()
    assert now.value("atlas_connections") == 2
    assert now.value("atlas_queue_size", queue="requests", state="running") == 2
    assert now.value("atlas_requests_refused_total", reason="connections") == 1
    assert now.value("atlas_requests_refused_total", reason="threads") == 0
    listener.stop()
    thread.join(60)
    listener.close()


@pytest.mark.thorough
def test_of_several_collections_those_in_memory_are_told(
    three_stores: Path, tmp_path: Path
) -> None:
    several = settings_for(
        tmp_path, chroma_persist_directory=three_stores, collections="*", collections_open=1
    )
    served = ServedCollections(Serving(several, HashEmbedder()))
    client = create_app(served).test_client()

    def names() -> set[str]:
        now = scrape(client)
        return {labels["collection"] for labels in now.labels("atlas_store_documents")}

    assert names() == {"farm"}
    client.post("/api/search", json={"question": "parish", "collection": "sea"})
    assert names() == {"farm", "sea"}
    sea = weakref.ref(served("sea").services.store)
    client.post("/api/search", json={"question": "parish", "collection": "wood"})
    assert names() == {"farm", "wood"}  # to be told of did not keep it open
    gc.collect()
    assert sea() is None
    served.close()


@pytest.mark.thorough
def test_the_version_that_is_told_is_the_one_that_is_served(
    own_stores: Path, tmp_path: Path
) -> None:
    stores = own_stores
    served = ServedCollections(Serving(settings_for(tmp_path), HashEmbedder()))
    client = create_app(served).test_client()
    before = scrape(client)
    old = weakref.ref(served().services.store)
    more = FARM | {"farm/bees.txt": "Bees give honey.\n"}
    build_tiny(write_sources(tmp_path / "source", more), stores / "farm", HashEmbedder())
    served.refresh("farm")
    now = scrape(client)
    assert before.value("atlas_store_documents") == 3
    assert now.value("atlas_store_documents") == 4
    versions = [each["version"] for each in now.labels("atlas_store_version")]
    assert versions == [served().services.store.manifest.version]
    gc.collect()
    assert old() is None
    served.close()


# the page about metrics is what the code does


TEXT = PAGE.read_text(encoding="utf-8")
NAMES = {name_for_prometheus(each) for each in INSTRUMENTS.values()}


def test_the_table_is_written_from_the_instruments() -> None:
    assert page(TEXT) == TEXT
    assert f"at most {MOST} values" in TEXT


def test_the_questions_ask_for_what_there_is() -> None:
    block = re.search(r"```promql\n(.*?)```", TEXT, re.DOTALL)
    assert block
    series = set(re.findall(r"\b(?:atlas|http|gen_ai|process)_\w+", block[1]))
    known = NAMES | {f"{name}_{part}" for name in NAMES for part in ("bucket", "sum", "count")}
    assert len(series) >= 5
    assert series <= known


def test_the_line_of_the_log_has_the_fields_of_a_real_one() -> None:
    block = re.search(r"```json\n(.*?)```", TEXT, re.DOTALL)
    assert block
    record = logging.LogRecord("atlas_search.x", logging.WARNING, "", 0, "m", (), None)
    with log_context(trace_id="0af7", qa_id="q1", session_id="s1"):
        real = json.loads(JsonLines().format(record))
    assert list(json.loads(block[1])) == [*real, "exception"]
