"""The API in process: a clear problem document for every bad request."""

import pytest
from flask.testing import FlaskClient

from atlas_search.services import Services

QUESTION = "Can a local authority sue a newspaper for libel?"
BAD = [
    ({"question": ""}, 400, "invalid-question", "empty"),
    ({"question": " \n "}, 400, "invalid-question", "empty"),
    ({"question": "?!"}, 400, "invalid-question", "empty"),
    ({"question": "x" * 10_000}, 400, "invalid-question", "10000 characters"),
    ({}, 400, "invalid-request", "question: Field required"),
    ({"question": 5}, 400, "invalid-request", "question"),
    ({"question": QUESTION, "colour": "red"}, 400, "invalid-request", "colour"),
    ({"question": QUESTION, "k": 0}, 400, "invalid-request", "k:"),
    ({"question": QUESTION, "k": 101}, 400, "invalid-request", "k:"),
    ({"question": QUESTION, "corpus_filter": "legal_fr"}, 400, "unknown-corpus", "legal_us"),
    ({"question": QUESTION, "corpus_filter": []}, 400, "request-error", "empty list"),
    ({"question": QUESTION, "target": "best"}, 400, "unknown-target", "k10_extractive"),
    ({"question": QUESTION, "filters": {"judge": "x"}}, 400, "unknown-filter-field", "author"),
    ({"question": QUESTION, "filters": {"date": {"from": "soon"}}}, 400, "request-error", "soon"),
    ({"question": QUESTION, "filters": {"date": []}}, 400, "request-error", "empty list"),
    ({"question": QUESTION, "filters": {"date": {}}}, 400, "request-error", '"from", "to"'),
    ({"question": QUESTION, "freshness_days": 800_000}, 400, "invalid-request", "freshness_days"),
    ({"question": QUESTION, "require": ["libel", "?!"]}, 400, "request-error", "holds no word"),
    ({"question": QUESTION, "exclude": ["a"] * 21}, 400, "invalid-request", "exclude"),
    ({"question": QUESTION, "max_per_document": 0}, 400, "invalid-request", "max_per_document"),
]


@pytest.mark.parametrize("path", ["/api/ask", "/api/ask/stream", "/api/search"])
@pytest.mark.parametrize(("body", "status", "kind", "says"), BAD)
def test_a_bad_request_gets_a_problem_document(
    client: FlaskClient, path: str, body: dict, status: int, kind: str, says: str
) -> None:
    response = client.post(path, json=body)
    assert response.status_code == status
    assert response.content_type == "application/problem+json"
    problem = response.get_json(force=True)
    assert problem["type"] == f"urn:atlas:problem:{kind}"
    assert problem["status"] == status
    assert problem["instance"] == path
    assert says in problem["detail"]


@pytest.mark.parametrize(
    "body",
    [
        '{"question":',
        "",
        "[]",
        "null",
        '"text"',
        "\x00",
        "[" * 200_000,
        '{"question": "\\ud800 x"}',
    ],
)
def test_malformed_json_gets_a_problem_document(client: FlaskClient, body: str) -> None:
    response = client.post("/api/ask", data=body, content_type="application/json")
    assert response.status_code == 400
    assert response.content_type == "application/problem+json"


def test_a_body_beyond_the_limit_is_refused(client: FlaskClient) -> None:
    response = client.post("/api/ask", json={"question": "x" * 3_000_000})
    assert response.status_code == 413
    assert response.content_type == "application/problem+json"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/nothing", 404),
        ("GET", "/nothing", 404),
        ("GET", "/static/../backend/settings.py", 404),
        ("GET", "/api/ask", 405),
        ("GET", "/api/passages/none", 404),
        ("GET", "/api/documents/none", 404),
    ],
)
def test_wrong_addresses_get_a_problem_document(
    client: FlaskClient, method: str, path: str, status: int
) -> None:
    response = client.open(path, method=method)
    assert response.status_code == status
    assert response.content_type == "application/problem+json"


def test_an_unexpected_error_is_not_shown_to_the_caller(
    client: FlaskClient, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret path /srv/x")

    monkeypatch.setattr(services.store, "nearest", broken)
    response = client.post("/api/ask", json={"question": QUESTION})
    assert response.status_code == 500
    assert "secret" not in response.text
    stream = client.post("/api/ask/stream", json={"question": QUESTION}).text
    assert "event: error" in stream
    assert "secret" not in stream


def test_a_method_that_is_not_allowed_names_those_that_are(client: FlaskClient) -> None:
    assert "POST" in client.get("/api/ask").headers["Allow"]


def test_unknown_facets_are_refused(client: FlaskClient) -> None:
    response = client.post("/api/search", json={"question": QUESTION, "facets": ["colour"]})
    assert response.status_code == 400
    assert "'colour'" in response.get_json(force=True)["detail"]


def test_a_question_that_only_excludes_is_refused(client: FlaskClient) -> None:
    response = client.post("/api/search", json={"question": '-"police" -"court"'})
    assert response.get_json(force=True)["type"] == "urn:atlas:problem:invalid-question"
