"""The API in process: positions that are exact, bodies that are refused, and a server changed while
it runs. What usual requests give is in the golden files of `tests/faces`."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from atlas_search import Atlas
from atlas_search.core.errors import RequestError
from atlas_search.services import Services
from atlas_search.stores.embedded import EmbeddedStore
from tests.chat_server import KEY
from tests.hash_embedder import HashEmbedder
from tests.openai_server import openai_server
from tests.server.two_corpora import QUESTION, TOKEN, Signed, guard
from tests.servers import app_of

TOLL = "Who pays a toll for every cart that crosses the granite bridge?"


@pytest.fixture(scope="module")
def client(parish: Atlas) -> FlaskClient:
    return app_of(parish).test_client()


def events(text: str) -> list[tuple[int, str, dict[str, Any]]]:
    """Number, name and data of every event of a stream."""
    frames = [frame for frame in text.split("\n\n") if frame and not frame.startswith(":")]
    fields = [dict(line.split(": ", 1) for line in frame.splitlines()) for frame in frames]
    return [(int(each["id"]), each["event"], json.loads(each["data"])) for each in fields]


def test_an_answer_is_quoted_from_where_it_says(client: FlaskClient) -> None:
    body = {"question": TOLL, "qa_id": "q-1", "session_id": "s-1"}
    answer = client.post("/api/ask", json=body).get_json()
    assert (answer["qa_id"], answer["session_id"]) == ("q-1", "s-1")
    assert answer["decision"] == "ANSWER"
    assert answer["validation"]["citation_valid"]
    for sentence in answer["sentences"]:
        for index in sentence["citations"]:
            citation = answer["citations"][index]
            document = client.get(f"/api/documents/{citation['document_id']}").get_json()
            place = slice(citation["start"], citation["end"])
            assert document["text"][place] == citation["quote"] == sentence["text"]
            assert f"{sentence['text']} {citation['marker']}" in answer["answer"]
            passage = client.get(f"/api/passages/{citation['passage_id']}").get_json()
            assert document["text"][passage["start"] : passage["end"]] == passage["text"]
            assert passage["passage_id"] in [p["passage_id"] for p in document["passages"]]
    passages = {citation["passage_id"] for citation in answer["citations"]}
    counts = answer["retrieval"]["per_corpus"].values()
    assert sum(corpus["cited"] for corpus in counts) == len(passages) > 0


def test_the_stream_and_the_document_agree(client: FlaskClient) -> None:
    body = {"question": TOLL, "session_id": "same"}
    response = client.post("/api/ask/stream", json=body)
    assert response.content_type.startswith("text/event-stream")
    sent = events(response.text)
    assert [number for number, *_ in sent] == list(range(1, len(sent) + 1))
    assert (sent[0][1], sent[-1][1]) == ("references", "complete")
    checked = [data for _, name, data in sent if name == "sentence"]
    assert [data["number"] for data in checked] == list(range(1, len(checked) + 1))
    text = "".join(data["text"] for _, name, data in sent if name == "token")
    streamed, at_once = sent[-1][2], client.post("/api/ask", json=body).get_json()
    assert text.strip() == streamed["answer"]
    apart = dict.fromkeys(
        ("timings_ms", "trace_id", "span_id", "created", "qa_id", "cache_hit", "attempts")
    )
    assert streamed | apart == at_once | apart


@pytest.mark.parametrize("year", [1934, "1934", 1934.0])
def test_a_year_can_be_given_as_a_number_or_a_text(client: FlaskClient, year: object) -> None:
    for date in ({"from": year, "to": year}, year, [year]):
        body = {"question": "Who grinds the corn?", "filters": {"date": date}}
        passages = client.post("/api/search", json=body).get_json()["passages"]
        assert {passage["date"] for passage in passages} == {"1934"}


def test_age_is_counted_from_the_day_the_caller_gives(client: FlaskClient) -> None:
    body = {"question": QUESTION, "freshness_days": 366 * 5}
    now, then = (
        client.post("/api/search", json=body | extra).get_json()["retrieval"]["freshness"][
            "violations"
        ]
        for extra in ({}, {"as_of": "1935-01-01"})
    )
    assert now > then


@pytest.mark.parametrize("path", ["/api/ask", "/api/ask/stream", "/api/search"])
def test_a_bad_request_gets_a_problem_document(client: FlaskClient, path: str) -> None:
    for fields, kind, reason in (
        ({"question": "?!"}, "invalid-question", "empty"),
        ({"question": "x" * 10_000}, "invalid-question", "10000 characters"),
        ({"question": '-"police" -"court"'}, "invalid-question", ""),
        ({"k": 0}, "invalid-request", "k=0: give 1 or more"),
        ({"k": 101}, "invalid-request", "k=101: give 100 or less"),
        ({"k": True}, "invalid-request", "k:"),
        ({"fuzzy": "yes"}, "invalid-request", "fuzzy"),
        ({"as_of": 0}, "request-error", "as_of"),
        ({"as_of": "20240531"}, "request-error", "as_of"),
        ({"corpus_filter": []}, "request-error", "empty list"),
        ({"filters": {"date": []}}, "request-error", "empty list"),
        ({"filters": {"date": {}}}, "request-error", '"from", "to"'),
        ({"freshness_days": 800_000}, "invalid-request", "freshness_days"),
        ({"require": ["libel", "?!"]}, "request-error", "holds no word"),
        ({"exclude": ["a"] * 21}, "invalid-request", "exclude"),
        ({"max_per_document": 0}, "invalid-request", "max_per_document"),
    ):
        response = client.post(path, json={"question": QUESTION} | fields)
        assert response.status_code == 400, fields
        assert response.content_type == "application/problem+json"
        problem = response.get_json(force=True)
        assert problem["type"] == f"urn:atlas:problem:{kind}", fields
        assert problem["instance"] == path
        assert reason in problem["detail"], fields


@pytest.mark.parametrize(
    "body",
    [
        '{"question":',
        "",
        "[]",
        "null",
        '"text"',
        '["question"]',
        '"{\\"question\\": \\"Who may sue?\\"}"',
        "\x00",
        "[" * 200_000,
        '{"question": "\\ud800 x"}',
        '{"question": "Who may sue?", "filters": {"year": NaN}}',
        '{"question": "Who may sue?", "filters": {"year": 1e999}}',
    ],
)
def test_a_body_that_is_no_json_object_is_refused(client: FlaskClient, body: str) -> None:
    response = client.post("/api/ask", data=body, content_type="application/json")
    assert response.status_code == 400
    assert response.content_type == "application/problem+json"


def test_a_whole_number_may_have_a_point(client: FlaskClient) -> None:
    body = f'{{"question": "{QUESTION}", "k": 1.0, "as_of": "2024-05-31"}}'
    response = client.post("/api/search", data=body, content_type="application/json")
    assert len(response.get_json()["passages"]) == 1


def test_a_body_beyond_the_limit_is_refused(client: FlaskClient) -> None:
    response = client.post("/api/ask", json={"question": "x" * 3_000_000})
    assert response.status_code == 413
    assert response.content_type == "application/problem+json"


def test_wrong_addresses_and_methods_are_told(client: FlaskClient) -> None:
    for path in ("/nothing", "/static/../backend/settings.py"):
        response = client.get(path)
        assert (response.status_code, response.mimetype) == (404, "application/problem+json")
    # the stream is no answer's id
    refusal = client.get("/api/ask/stream")
    assert (refusal.status_code, refusal.headers["Allow"]) == (405, "OPTIONS, POST")
    assert client.get("/api/swagger").status_code == 200


def test_an_unexpected_error_is_not_shown_to_the_caller(
    parish: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret path /srv/x")

    client = app_of(parish).test_client()
    monkeypatch.setattr(EmbeddedStore, "nearest", broken)
    body = {"question": "Who crosses the river?"}
    response = client.post("/api/ask", json=body)
    assert response.status_code == 500
    assert "secret" not in response.text
    stream = client.post("/api/ask/stream", json=body).text
    assert "event: error" in stream
    assert "secret" not in stream


# changing a running server


@pytest.fixture
def own(parish: Atlas) -> Services:
    """Services whose targets may be changed without harm to other tests."""
    guarded = guard(parish, None).services
    targets = dict.fromkeys(("certain", "other"), guarded.targets["certain"])
    return replace(guarded, targets=targets)


def test_weights_change_later_searches_of_their_target(own: Services) -> None:
    client = app_of(Atlas(own)).test_client()
    administrator = Signed(client, TOKEN)

    def search() -> Any:
        return client.post("/api/search", json={"question": TOLL}).get_json()

    before, other = search(), own.targets["other"]
    settings = {"RERANKER": "weighted", "MIX_DENSE": 1, "MIX_LEXICAL": 0}
    response = administrator.open("PUT", "/api/config/reranker", json={"settings": settings})
    assert response.status_code == 200
    assert response.get_json()["settings"]["RERANKER"] == "weighted"
    after = search()
    assert after["retrieval"]["reranker"] == "weighted"
    scores = [[p["score"] for p in each["passages"]] for each in (before, after)]
    assert scores[0] != scores[1]
    assert scores[1][0] == 1.0
    assert own.targets["other"] == other
    body = {"target": "other", "settings": {"WEIGHT_PHRASE": 0.9}}
    administrator.open("PUT", "/api/config/reranker", json=body)
    assert own.targets["other"].weight_phrase == 0.9


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"search_k": 5}, "search_k cannot be set here. Known: reranker, weight_semantic"),
        ({"weight_phrase": -1}, "weight_phrase=-1: Input should be greater"),
        ({"reranker": "best"}, "reranker='best': there is no such reranker. Known: fused"),
    ],
)
def test_a_change_that_no_target_file_could_say_is_refused(
    own: Services, changes: dict[str, object], reason: str
) -> None:
    before = dict(own.targets)
    with pytest.raises(RequestError) as refusal:
        own.configure_reranker(None, changes)
    assert reason in str(refusal.value)
    assert own.targets == before


@pytest.mark.parametrize(
    ("target", "provider"), [("k10_extractive", "extractive"), ("k5_openai", "openai")]
)
def test_the_target_decides_who_writes_whatever_the_environment_says(
    parish: Atlas, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, target: str, provider: str
) -> None:
    monkeypatch.setenv("LLM_PROVIDER", "openai")
    folder = parish.services.settings.collection_folder
    with openai_server() as model:
        options = {"openai_base_url": model.address, "openai_api_key": KEY, "test_target": target}
        with Atlas.open(
            folder, embedder=HashEmbedder(), atlas_state_directory=tmp_path, **options
        ) as atlas:
            app_of(atlas).test_client().post("/api/ask", json={"question": TOLL})
            assert atlas.services.target(None)[1].llm_provider == provider
        questions = [request for request in model.requests if "messages" in request.body]
        assert bool(questions) == (provider == "openai")
