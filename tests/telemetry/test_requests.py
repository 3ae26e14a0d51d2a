"""A request is one whole trace, however it is asked and read, and a refused one a short trace."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import EnvironBuilder

from atlas_search.atlas import Atlas
from atlas_search.core.errors import EmbeddingUnavailable, ServerBusy
from atlas_search.core.settings import Settings
from atlas_search.evaluation.labels import Label, Split
from atlas_search.evaluation.run import evaluate
from atlas_search.evaluation.scored import summarise
from atlas_search.server.access.keys import KeyFile, KeyLimits, add_key
from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from atlas_search.server.limits import Capacity
from atlas_search.server.metrics import MOST, SECONDS, Refusals
from atlas_search.server.problems import problem_of
from atlas_search.server.serving import Serving
from tests.conftest import TODAY
from tests.hash_embedder import HashEmbedder
from tests.recorded_spans import Recorded, recording, said
from tests.server.ingest.handing import ADMINISTRATOR, COLLECTION, settings_for
from tests.tiny import FARM, build_tiny, write_sources

WOOL = {"question": "Do sheep give wool?"}
FOREIGN = "0af7651916cd43dd8448eb211c80319c"


class FailingEmbedder(HashEmbedder):
    """Out of reach while it is `away`."""

    away = False

    def embed_query(self, text: str):  # type: ignore[no-untyped-def]
        if self.away:
            raise EmbeddingUnavailable("It is out of reach. Try again.")
        return super().embed_query(text)


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("requests")
    stores = folder / "stores"
    build_tiny(write_sources(folder / "source", FARM), stores / COLLECTION, HashEmbedder())
    return settings_for(folder)


Served = tuple[FlaskClient, Recorded, FailingEmbedder, Atlas]


@contextmanager
def serving(settings: Settings, **changes: Any) -> Iterator[Served]:
    """A client of a server, and the spans of that."""
    embedder = FailingEmbedder()
    collections = ServedCollections(Serving(settings.model_copy(update=changes), embedder))
    recorded = Recorded(collections().services.tracer)
    app = create_app(collections)
    try:
        yield app.test_client(), recorded, embedder, collections()
    finally:
        app.extensions["jobs"].close()
        app.extensions["runs"].close()
        collections.close()


@pytest.fixture(scope="module")
def _one(settings: Settings) -> Iterator[Served]:
    with serving(settings) as server:
        yield server


@pytest.fixture
def server(_one: Served) -> Served:
    """One server for most tests, without the spans of those before."""
    _one[1].clear()
    _one[2].away = False
    return _one


def is_one_trace(recorded: Recorded) -> bool:
    return len({span.context.trace_id for span in recorded.spans}) == 1


def test_a_search_is_one_trace_of_its_own(server: Served) -> None:
    client, recorded, *_ = server
    headers = {"traceparent": f"00-{FOREIGN}-b7ad6b7169203331-01"}
    assert client.post("/api/search", json=WOOL, headers=headers).status_code == 200
    assert recorded.root("search").context.trace_id != int(FOREIGN, 16)
    assert is_one_trace(recorded)
    assert {"embed", "rerank", "retrieve farm"} <= {span.name for span in recorded.spans}


@pytest.mark.parametrize("kind", ["search", "ask"])
def test_a_failure_within_a_trace_is_told_once(server: Served, kind: str) -> None:
    client, recorded, embedder, _ = server
    embedder.away = True
    assert client.post(f"/api/{kind}", json=WOOL).status_code == 503
    assert not recorded.root(kind).status.is_ok


@pytest.mark.parametrize(("mode", "searches"), [("answer", 1), ("compare", 2)])
def test_a_stream_is_one_trace_though_it_is_read_again(
    server: Served, mode: str, searches: int
) -> None:
    client, recorded, *_ = server
    body = WOOL | {"mode": mode, "qa_id": mode}
    lines = client.post("/api/ask/stream", json=body).get_data(as_text=True).splitlines()
    complete = json.loads(lines[lines.index("event: complete") + 1].removeprefix("data: "))
    last = {"Last-Event-ID": "1"}
    again = client.get(f"/api/ask/{mode}/stream", headers=last).get_data(as_text=True)
    resumed = client.post("/api/ask/stream", json=body, headers=last).get_data(as_text=True)
    assert "event: complete" in again
    assert "event: complete" in resumed
    root = recorded.root("ask")
    assert format(root.context.trace_id, "032x") == complete["trace_id"]
    assert is_one_trace(recorded)
    assert recorded.spans[-1] is root  # it ends last
    assert len(recorded.named("search")) == searches


@pytest.mark.parametrize("content", [True, False])
def test_a_check_that_fails_is_one_trace(settings: Settings, *, content: bool) -> None:
    with serving(settings, trace_content=content) as (client, recorded, *_):
        checked = client.post("/api/validate", json={"answer": "Sheep eat [farm.no p9]."}).json
        root = said(recorded.root("validate"))
    assert (root["decision"], root["errors"]) == ("invalid", len(checked["errors"]))
    assert ("farm.no" in recorded.text) is content


def test_a_run_of_an_evaluation_is_found_by_its_name(server: Served) -> None:
    _, recorded, _, atlas = server
    labels = [
        Label("q1", Split.TEST, "factual", WOOL["question"], ("wool",), frozenset({"farm.sheep"})),
        Label("q2", Split.TEST, "unanswerable", "Who owns the moon?", (), frozenset()),
    ]
    target = atlas.services.settings.test_target
    scores = evaluate(atlas, labels, target, TODAY)
    (root,) = [said(span) for span in recorded.roots if span.name == "evaluation"]
    questions = [said(span) for span in recorded.named("ask")]
    assert [each["eval.label"] for each in questions] == ["q1", "q2"]
    assert [each["eval.category"] for each in questions] == ["factual", "unanswerable"]
    assert {each["eval.run"] for each in questions} == {root["eval.run"]}
    assert (root["eval.questions"], root["composite_target"]) == (2, f"{target}_sentences_farm")
    assert root["eval.recall"] == summarise(scores)["recall"].mean
    recorded.clear()
    evaluate(atlas, labels, target, TODAY)
    (again,) = [said(span) for span in recorded.roots if span.name == "evaluation"]
    assert again["eval.run"] != root["eval.run"]
    recorded.clear()
    atlas.ask(WOOL["question"])
    assert "eval.run" not in said(recorded.root("ask"))


ELSEWHERE = {"REMOTE_ADDR": "192.0.2.7"}
REFUSED = [
    ("POST", "/api/search", {"json": {}}, 400, "invalid-request"),
    ("POST", "/api/ask", {"json": {"question": 7}}, 400, "invalid-request"),
    ("POST", "/api/search", {"json": {"question": " ? "}}, 400, "invalid-question"),
    ("POST", "/api/ask", {"json": {**WOOL, "corpus_filter": "sea"}}, 400, "unknown-corpus"),
    ("POST", "/api/search", {"json": {**WOOL, "collection": "sea"}}, 400, "unknown-collection"),
    ("POST", "/api/ask", {"data": "{", "content_type": "application/json"}, 400, "bad-request"),
    ("PUT", "/api/config/reranker", {"json": {}, "environ_base": ELSEWHERE}, 403, "not-allowed"),
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
    server: Served, method: str, path: str, options: Any, status: int, problem: str
) -> None:
    client, recorded, *_ = server
    response = client.open(path, method=method, **options)
    assert response.status_code == status
    body = json.loads(response.data)
    root = said(recorded.root("refused"))
    assert problem in body["type"]
    assert (root["status"], root["method"], root["problem"]) == (status, method, body["type"])
    assert root["output.value"] == body["detail"]
    assert root["route"] in ("none", path, "/api/ask/<qa_id>", "/api/documents/<any_id:id>")
    assert recorded.spans[0].status.is_ok


@pytest.mark.parametrize("path", ["/", "/static/none", "/none", "/api/live", "/api/health"])
def test_the_page_and_what_watches_the_server_are_not_traced(server: Served, path: str) -> None:
    client, recorded, *_ = server
    client.get(path).close()
    client.get("/api/static/none").close()
    client.get("/api/corpora")
    assert recorded.spans == ()


def test_who_is_refused_is_named_if_known_and_a_secret_never(
    settings: Settings, tmp_path: Path
) -> None:
    keys = tmp_path / "keys.json"
    key = add_key(KeyFile(keys), "Anna", limits=KeyLimits(requests_per_minute=2)).text
    headers = {"Authorization": f"Bearer {key}"}
    wrong = {"Authorization": "Bearer not-a-key-of-ours"}
    with serving(settings, api_keys_file=keys) as (client, recorded, *_):
        for _ in range(3):
            last = client.post("/api/search", json=WOOL, headers=headers)
        assert last.status_code == 429
        recorded.clear()
        assert client.get("/api/corpora", headers=headers).status_code == 429
        assert client.get("/api/corpora").status_code == 401
        assert client.get("/api/corpora", headers=wrong).status_code == 401
        assert client.get("/api/shared/not-a-link-of-ours").status_code == 404
        assert client.get("/api/secret-in-a-path").status_code == 404
        named = [said(span).get("caller") for span in recorded.spans]
    assert named == ["Anna", None, None, None, None]
    for secret in (key, "open sesame", "not-a-key", "not-a-link", "secret-in-a-path"):
        assert secret not in recorded.text


@pytest.mark.parametrize("content", [True, False])
def test_questions_are_told_where_traces_hold_texts(settings: Settings, *, content: bool) -> None:
    body = {"question": "Who owns the heron?", "corpus_filter": "the-marsh"}
    with serving(settings, trace_content=content) as (client, recorded, *_):
        assert client.post("/api/ask", json=body).status_code == 400
        client.post("/api/ask", json={"question": "heron " * 100_000})
    assert ("Who owns the heron?" in recorded.text) is content
    assert ("the-marsh" in recorded.text) is content
    assert len(recorded.text) < 10_000


def test_what_has_a_trace_of_its_own_is_not_told_twice(server: Served) -> None:
    client, recorded, *_ = server
    checked = {"answer": "Sheep give wool.", "passages": ["farm.none"]}
    assert client.post("/api/validate", json=checked).status_code == 404
    assert not recorded.root("validate").status.is_ok
    recorded.clear()
    question = {**WOOL, "qa_id": "twice"}
    assert client.post("/api/ask", json=question).status_code == 200
    assert client.get("/api/ask/twice").status_code == 200
    recorded.root("ask")
    recorded.clear()
    assert client.post("/api/ask", json=question).status_code == 409
    assert said(recorded.root("refused"))["problem"] == "urn:atlas:problem:conflict"


def test_a_server_that_cannot_answer_is_at_fault(settings: Settings) -> None:
    with serving(settings) as (client, recorded, *_):
        client.application.extensions["runs"].close()
        assert client.post("/api/ask", json=WOOL).status_code == 503
        span = recorded.root("refused")
    assert not span.status.is_ok
    assert said(span)["problem"] == "urn:atlas:problem:server-busy"


def test_a_flood_is_told_in_part_and_counted() -> None:
    now = 1000.0
    environ = EnvironBuilder("/api/ask", method="POST").get_environ()
    problem = problem_of(ServerBusy("Try again."), "")
    with recording() as (tracer, recorded):
        refusals = Refusals(tracer, lambda: now)
        for _ in range(MOST + 40):
            refusals.tell_outside(Flask(__name__), environ, problem)
        assert len(recorded.spans) == MOST
        now += SECONDS
        for _ in range(2):
            refusals.tell_outside(Flask(__name__), environ, problem)
        counts = [said(span).get("suppressed") for span in recorded.spans]
    assert counts == [None] * MOST + [40, None]


def test_what_no_thread_is_free_for_is_told_too(server: Served) -> None:
    problems: list[str] = []
    capacity = Capacity(lambda *_: [b""], 3, lambda environ, problem: problems.append(problem.type))
    environ = EnvironBuilder("/api/corpora").get_environ()
    capacity(environ, lambda *_: None)
    capacity(environ, lambda *_: None)
    assert problems == ["urn:atlas:problem:server-busy"]
    client, recorded, *_ = server
    refusals: Refusals = client.application.extensions["refusals"]
    for path in ("/api/ask/q1/stream", "/api/ask", "/api/search"):
        method = "GET" if path.endswith("stream") else "POST"
        environ = EnvironBuilder(path, method=method, headers=ADMINISTRATOR).get_environ()
        problem = problem_of(ServerBusy("Try again."), path)
        refusals.tell_outside(client.application, environ, problem)
    assert [said(span)["route"] for span in recorded.spans] == ["/api/ask", "/api/search"]
