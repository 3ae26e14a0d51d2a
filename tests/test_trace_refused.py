"""Requests that are refused are short traces, few of them in a flood, none of what has its own."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import EnvironBuilder

from atlas_search.core.errors import ServerBusy
from atlas_search.core.settings import Settings
from atlas_search.server.access.keys import KeyLimits, add_key
from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from atlas_search.server.limits import Capacity
from atlas_search.server.metrics import MOST, SECONDS, Refusals
from atlas_search.server.problems import problem_of
from tests.hash_embedder import HashEmbedder
from tests.ingest.handing import ADMINISTRATOR, COLLECTION, settings_for
from tests.recorded_spans import Recorded, recording, said
from tests.tiny import FARM, build_tiny, write_sources

SECRET = "open sesame"
WOOL = {"question": "Do sheep give wool?"}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    stores = tmp_path / "stores"
    build_tiny(write_sources(tmp_path / "source", FARM), stores / COLLECTION, HashEmbedder())
    return settings_for(tmp_path)


@contextmanager
def serving(settings: Settings, **changes: Any) -> Iterator[tuple[FlaskClient, Recorded]]:
    """A client of a server, and the spans of that."""
    collections = ServedCollections(settings.model_copy(update=changes), HashEmbedder())
    recorded = Recorded(collections().services.tracer)
    app = create_app(collections)
    try:
        yield app.test_client(), recorded
    finally:
        app.extensions["jobs"].close()
        app.extensions["runs"].close()
        collections.close()


REFUSED = [
    ("POST", "/api/search", {"json": {}}, 400, "invalid-request"),
    ("POST", "/api/ask", {"json": {"question": 7}}, 400, "invalid-request"),
    ("POST", "/api/search", {"json": {"question": " ? "}}, 400, "invalid-question"),
    ("POST", "/api/ask", {"json": {**WOOL, "corpus_filter": "sea"}}, 400, "unknown-corpus"),
    ("POST", "/api/search", {"json": {**WOOL, "collection": "sea"}}, 400, "unknown-collection"),
    ("POST", "/api/ask", {"data": "{", "content_type": "application/json"}, 400, "bad-request"),
    ("PUT", "/api/config/reranker", {"json": {"reranker": "none"}}, 403, "not-allowed"),
    ("GET", "/api/documents/farm.none", {}, 404, "not-found"),
    ("GET", "/api/ask/none", {}, 404, "not-found"),
    ("GET", "/api/none", {}, 404, "not-found"),
    ("DELETE", "/api/ask/none", {}, 404, "not-found"),
    ("POST", "/api/counts", {"json": {"query": '"wool'}}, 400, "invalid-query"),
    ("PUT", "/api/search", {"json": WOOL}, 405, "method-not-allowed"),
    ("POST", "/api/search", {"data": b"x" * 3_000_000}, 415, "wrong-media-type"),
    ("POST", "/api/search", {"json": {"question": "x" * 3_000_000}}, 413, ""),
    ("POST", "/api/search", {"json": WOOL, "base_url": "http://sea.example"}, 421, "unknown-host"),
]


@pytest.mark.parametrize(
    ("method", "path", "options", "status", "problem"),
    REFUSED,
    ids=[f"{method} {path} {status} {problem}" for method, path, _, status, problem in REFUSED],
)
def test_a_refused_request_is_a_short_trace(
    settings: Settings, method: str, path: str, options: Any, status: int, problem: str
) -> None:
    with serving(settings) as (client, recorded):
        response = client.open(path, method=method, **options)
        assert response.status_code == status
        told = json.loads(response.data)
        (span,) = recorded.spans
    attributes = said(recorded.root("refused"))
    assert attributes["status"] == status
    assert attributes["method"] == method
    assert attributes["problem"] == told["type"]
    assert problem in told["type"]
    assert attributes["output.value"] == told["detail"]
    assert attributes["route"] in ("none", path, "/api/ask/<qa_id>", "/api/documents/<any_id:id>")
    assert span.status.is_ok


@pytest.mark.parametrize("path", ["/", "/static/none", "/none", "/api/live", "/api/health"])
def test_the_page_and_what_watches_the_server_are_not_told(settings: Settings, path: str) -> None:
    with serving(settings) as (client, recorded):
        client.get(path).close()
        client.get("/api/static/none").close()
        client.get("/api/corpora")
        assert recorded.spans == ()


def test_who_is_refused_is_named_if_known_and_a_secret_never(
    settings: Settings, tmp_path: Path
) -> None:
    keys = tmp_path / "keys.json"
    key = add_key(keys, "Anna", limits=KeyLimits(requests_per_minute=2)).text
    headers = {"Authorization": f"Bearer {key}"}
    with serving(settings, api_keys_file=keys) as (client, recorded):
        for _ in range(3):
            last = client.post("/api/search", json=WOOL, headers=headers)
        assert last.status_code == 429
        recorded.clear()
        assert client.get("/api/corpora", headers=headers).status_code == 429
        assert client.get("/api/corpora").status_code == 401
        wrong = {"Authorization": "Bearer not-a-key-of-ours"}
        assert client.get("/api/corpora", headers=wrong).status_code == 401
        assert client.get("/api/shared/not-a-link-of-ours").status_code == 404
        assert client.get("/api/secret-in-a-path").status_code == 404
        named = [said(span).get("caller") for span in recorded.spans]
    assert named == ["Anna", None, None, None, None]
    for secret in (key, SECRET, "not-a-key", "not-a-link", "secret-in-a-path"):
        assert secret not in recorded.text


@pytest.mark.parametrize("content", [True, False])
def test_questions_are_told_where_traces_hold_texts(settings: Settings, *, content: bool) -> None:
    asked = {"question": "Who owns the heron?", "corpus_filter": "the-marsh"}
    with serving(settings, trace_content=content) as (client, recorded):
        assert client.post("/api/ask", json=asked).status_code == 400
        client.post("/api/ask", json={"question": "heron " * 100_000})
    assert said(recorded.spans[0])["problem"] == "urn:atlas:problem:unknown-corpus"
    assert ("Who owns the heron?" in recorded.text) is content
    assert ("the-marsh" in recorded.text) is content
    assert len(recorded.text) < 10_000


def test_what_has_a_trace_of_its_own_is_not_told_twice(settings: Settings) -> None:
    with serving(settings) as (client, recorded):
        sent = {"answer": "Sheep give wool.", "passages": ["farm.none"]}
        assert client.post("/api/validate", json=sent).status_code == 404
        assert not recorded.root("validate").status.is_ok
        recorded.clear()
        assert client.post("/api/ask", json={**WOOL, "qa_id": "q1"}).status_code == 200
        assert client.get("/api/ask/q1").status_code == 200
        recorded.root("ask")
        recorded.clear()
        assert client.post("/api/ask", json={**WOOL, "qa_id": "q1"}).status_code == 409
        assert said(recorded.root("refused"))["problem"] == "urn:atlas:problem:conflict"


def test_a_server_that_cannot_answer_is_at_fault(settings: Settings) -> None:
    with serving(settings) as (client, recorded):
        client.application.extensions["runs"].close()
        assert client.post("/api/ask", json=WOOL).status_code == 503
        span = recorded.root("refused")
    assert not span.status.is_ok
    assert said(span)["problem"] == "urn:atlas:problem:server-busy"


def test_a_flood_is_told_in_part_and_counted() -> None:
    now = 1000.0
    with recording() as (tracer, recorded):
        refusals = Refusals(tracer, lambda: now)
        for _ in range(MOST + 40):
            refuse_outside(refusals)
        assert len(recorded.spans) == MOST
        assert not any("suppressed" in said(span) for span in recorded.spans)
        now += SECONDS
        refuse_outside(refusals)
        refuse_outside(refusals)
        assert [said(span).get("suppressed") for span in recorded.spans[MOST:]] == [40, None]


def test_what_no_thread_is_free_for_is_told_too(settings: Settings) -> None:
    heard: list[str] = []
    capacity = Capacity(lambda *_: [b""], 3, lambda environ, problem: heard.append(problem.type))
    environ = EnvironBuilder("/api/corpora").get_environ()
    capacity(environ, lambda *_: None)
    capacity(environ, lambda *_: None)
    assert heard == ["urn:atlas:problem:server-busy"]
    with serving(settings) as (client, recorded):
        refusals: Refusals = client.application.extensions["refusals"]
        for path in ("/api/ask/q1/stream", "/api/ask", "/api/search"):
            method = "GET" if path.endswith("stream") else "POST"
            environ = EnvironBuilder(path, method=method, headers=ADMINISTRATOR).get_environ()
            problem = problem_of(ServerBusy("Try again."), path)
            refusals.tell_outside(client.application, environ, problem)
    assert [said(span)["route"] for span in recorded.spans] == ["/api/ask", "/api/search"]


def refuse_outside(refusals: Refusals) -> None:
    environ = EnvironBuilder("/api/ask", method="POST").get_environ()
    refusals.tell_outside(Flask(__name__), environ, problem_of(ServerBusy("Try again."), ""))
