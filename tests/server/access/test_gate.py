"""Rules of every route, owners of answers, and the audit log."""

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from atlas_search import Atlas
from atlas_search.cli.main import main
from atlas_search.core.errors import ConfigurationError, Conflict, NotFound
from atlas_search.core.settings import Settings
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.server.access.caller import RULES, check_listening, is_beside, rule_key
from atlas_search.server.access.keys import KeyFile, add_key, revoke_key
from atlas_search.server.runs import Run, Runs
from tests.server.two_corpora import (
    COLLECTION,
    OPEN,
    QUESTION,
    TOKEN,
    VAULT,
    Signed,
    client_of,
)
from tests.servers import app_of, served
from tests.stores.disks import longest_file

ASKED = {"question": QUESTION, "qa_id": "q1", "session_id": "s1"}


def test_every_route_has_a_rule_and_every_rule_a_route(client: FlaskClient) -> None:
    routes = {
        rule_key(method, rule.rule)
        for rule in client.application.url_map.iter_rules()
        for method in rule.methods or ()
        if method != "OPTIONS"
    }
    assert routes == set(RULES)


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_a_route_without_a_rule_is_closed(parish: Atlas, method: str) -> None:
    app = app_of(parish)
    app.add_url_rule("/api/secrets", "secrets", lambda: "all of them", methods=["GET", "POST"])
    response = app.test_client().open("/api/secrets", method=method, json={})
    assert response.status_code == 403
    assert b"all of them" not in response.data


@pytest.mark.parametrize("header", [{}, {"Authorization": "Basic x"}, {"Authorization": "Bearer "}])
def test_without_a_key_nobody_is_let_in(client: FlaskClient, header: dict[str, str]) -> None:
    for rule, right in RULES.items():
        method, route = rule.split()
        response = client.open(route, method=method, json={}, headers=header, buffered=True)
        if right == "anyone":
            assert response.status_code != 401, rule
            continue
        assert response.status_code == 401, rule
        assert response.headers["WWW-Authenticate"].startswith("Bearer"), rule
        if route.startswith("/v1/"):
            assert response.get_json()["error"]["type"] == "authentication_error"
            continue
        assert response.mimetype == "application/problem+json"
        assert response.get_json(force=True)["type"] == "urn:atlas:problem:unknown-caller"


def test_an_unknown_an_expired_and_a_revoked_key_are_refused(
    client: FlaskClient, keys_file: Path, whole: Signed
) -> None:
    old = add_key(KeyFile(keys_file), "old", expires=date(2020, 1, 1)).text
    for key in (old, "atlas_00000000_" + "0" * 64, "nonsense", "é"):
        response = client.get("/api/corpora", headers={"Authorization": f"Bearer {key}"})
        assert response.status_code == 401
        assert "expired or was revoked" in response.get_json(force=True)["detail"]
    assert whole.get("/api/corpora").status_code == 200
    revoke_key(KeyFile(keys_file), "whole")
    assert whole.get("/api/corpora").status_code == 401


def test_the_scheme_may_be_written_as_one_likes(client: FlaskClient, whole_key: str) -> None:
    headers = {"Authorization": f"bearer  {whole_key}"}
    assert client.get("/api/corpora", headers=headers).status_code == 200


def test_only_an_administrators_key_or_the_token_changes_the_server(
    parish: Atlas, client: FlaskClient, keys_file: Path, whole: Signed
) -> None:
    without_keys = client_of(parish, None)
    for rule in (rule for rule, right in RULES.items() if right == "administrator"):
        method, route = rule.split()
        refusal = whole.open(method, route, json={})
        assert refusal.status_code == 403, rule
        assert "The key whole has not the right" in refusal.get_json(force=True)["detail"]
        for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": f"Basic {TOKEN}"}):
            response = without_keys.open(route, method=method, json={}, headers=headers)
            assert response.status_code == 403, rule
            assert "Send the administrator's token" in response.get_json(force=True)["detail"]
    keeper = Signed(client, add_key(KeyFile(keys_file), "keeper", administrator=True).text)
    for administrator in (keeper, Signed(client, TOKEN), Signed(without_keys, TOKEN)):
        assert administrator.post("/api/cache/clear", {}).status_code == 200
        assert administrator.get("/api/corpora").status_code == 200


def test_who_administers_some_corpora_changes_no_ranking_of_all(
    client: FlaskClient, keys_file: Path
) -> None:
    some = Signed(
        client,
        add_key(KeyFile(keys_file), "some", corpora={COLLECTION: [OPEN]}, administrator=True).text,
    )
    response = some.open("PUT", "/api/config/reranker", json={"settings": {}})
    assert response.status_code == 403


def test_without_keys_and_token_who_is_on_the_machine_changes_everything(parish: Atlas) -> None:
    client = app_of(parish).test_client()
    assert client.get("/api/config").get_json()["takes_sources"]
    assert client.put("/api/config/reranker", json={"settings": {}}).status_code == 200
    elsewhere: dict[str, Any] = {"environ_base": {"REMOTE_ADDR": "192.0.2.7"}}
    assert not client.get("/api/config", **elsewhere).get_json()["takes_sources"]
    response = client.put("/api/config/reranker", json={"settings": {}}, **elsewhere)
    assert response.status_code == 403
    assert "Only its own machine may change this server" in response.get_json(force=True)["detail"]


@pytest.mark.parametrize(
    "changes",
    [
        {"atlas_public_url": "https://atlas.example.org"},
        {"trusted_proxies": "127.0.0.1"},
        {"atlas_access": "proxy"},
        {"atlas_host": "192.0.2.1", "atlas_access": "proxy"},
    ],
)
def test_behind_a_proxy_nobody_is_on_the_machine(changes: dict[str, str]) -> None:
    settings = Settings(**changes)  # type: ignore[arg-type]
    here = {
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": "localhost:8000",
        "HTTP_ORIGIN": "http://localhost:8000",
    }
    assert not is_beside(settings, here)
    assert is_beside(Settings(), here)
    assert not is_beside(Settings(), here | {"HTTP_HOST": "atlas.example.org"})
    assert not is_beside(Settings(), here | {"HTTP_ORIGIN": "null"})


@pytest.mark.parametrize("name", ["X-Forwarded-For", "Forwarded", "Via"])
def test_who_comes_through_a_proxy_that_no_setting_names_is_not_on_it(
    parish: Atlas, name: str
) -> None:
    client = app_of(parish).test_client()
    for headers, takes in (({}, True), ({name: "203.0.113.9"}, False)):
        told = client.get("/api/config", headers=headers).get_json()
        assert told["takes_sources"] is takes


def test_health_says_whether_it_is_well_to_anyone_and_the_rest_to_readers(
    client: FlaskClient, whole: Signed
) -> None:
    alone = client.get("/api/health")
    assert (alone.status_code, alone.get_json()["status"]) == (200, "ok")
    assert (alone.get_json()["documents"], alone.get_json()["passages"]) == (None, None)
    assert whole.get("/api/health").get_json()["documents"] == 3


def test_without_a_file_of_keys_everyone_asks(parish: Atlas) -> None:
    client = client_of(parish, None)
    assert client.get("/api/corpora").status_code == 200
    assert client.get("/api/health").get_json()["documents"] == 3


def test_a_server_with_damaged_keys_does_not_start(parish: Atlas, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="there is no such file"):
        client_of(parish, tmp_path / "absent.json")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.3.2.1"])
def test_a_server_for_this_machine_alone_needs_no_keys(host: str) -> None:
    check_listening(Settings(atlas_host=host))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "*", "example.org"])
def test_a_server_for_others_needs_keys_or_a_proxy(host: str, keys_file: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"API_KEYS_FILE.*ATLAS_ACCESS=proxy"):
        check_listening(Settings(atlas_host=host))
    check_listening(Settings(atlas_host=host, atlas_access="proxy"))
    check_listening(Settings(atlas_host=host, api_keys_file=keys_file))


def test_the_command_sends_the_key_of_the_environment(
    guarded: Atlas,
    whole_key: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with served(app_of(guarded)) as address:
        monkeypatch.setenv("ATLAS_PORT", address.rpartition(":")[2])
        with pytest.raises(SystemExit):
            main(["search", QUESTION])
        assert "The key is taken from ATLAS_API_KEY" in capsys.readouterr().err
        monkeypatch.setenv("ATLAS_API_KEY", whole_key)
        with pytest.raises(SystemExit) as end:
            main(["search", QUESTION])
    assert end.value.code == 0
    assert "The granite bridge" in capsys.readouterr().out


# whose answers they are


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/ask/q1"),
        ("GET", "/api/ask/q1/stream"),
        ("GET", "/api/ask/q1/export"),
        ("GET", "/api/ask/q1/export?format=bundle"),
        ("GET", "/api/sessions/s1/export"),
        ("DELETE", "/api/ask/q1"),
    ],
)
def test_an_answer_is_there_for_its_owner_alone_not_even_for_the_administrator(
    client: FlaskClient, narrow: Signed, whole: Signed, method: str, path: str
) -> None:
    assert narrow.post("/api/ask", ASKED).status_code == 200
    for other in (whole, Signed(client, TOKEN)):
        hidden = other.open(method, path, buffered=True)
        absent = other.open(method, path.replace("1", "2"), buffered=True)
        assert hidden.status_code == absent.status_code == 404
        details = [each.get_json(force=True)["detail"] for each in (hidden, absent)]
        assert details[0] == details[1].replace("q2", "q1").replace("s2", "s1")
    assert narrow.open(method, path, buffered=True).status_code == 200


def test_resuming_anothers_stream_is_asking_for_what_is_not_there(
    narrow: Signed, whole: Signed
) -> None:
    narrow.post("/api/ask/stream", ASKED, buffered=True)
    resume = {"Last-Event-ID": "1"} | whole.headers
    response = whole.client.post("/api/ask/stream", json=ASKED, headers=resume)
    assert response.status_code == 404


def test_two_keys_may_use_the_same_id(narrow: Signed, whole: Signed) -> None:
    narrow.post("/api/ask", ASKED)
    whole.post("/api/ask", ASKED | {"question": "Who holds the zqxamulet?"})
    assert narrow.get("/api/ask/q1").get_json()["question"] == QUESTION
    export = narrow.get("/api/sessions/s1/export?format=json").get_data(as_text=True)
    assert [answer["question"] for answer in json.loads(export)["answers"]] == [QUESTION]


def test_a_key_that_loses_a_corpus_loses_its_answers_from_it(
    client: FlaskClient, keys_file: Path
) -> None:
    signed = Signed(
        client, add_key(KeyFile(keys_file), "Anna", corpora={COLLECTION: [OPEN, VAULT]}).text
    )
    signed.post("/api/ask", ASKED)
    content = json.loads(keys_file.read_text())
    content["keys"][-1]["corpora"] = {COLLECTION: [OPEN]}
    keys_file.write_text(json.dumps(content))
    assert signed.get("/api/ask/q1").status_code == 404


@pytest.fixture
def waiting() -> Iterator[threading.Event]:
    go = threading.Event()
    yield go
    go.set()


def test_an_answer_being_written_is_no_conflict_for_another_owner(
    waiting: threading.Event,
) -> None:
    runs = Runs(limit=4, patience=10)

    def wait(_: Run) -> None:
        waiting.wait(30)

    first = runs.start("q1", "s1", wait, "a")
    second = runs.start("q1", "s1", wait, "b")
    with pytest.raises(Conflict):
        runs.start("q1", "s1", wait, "a")
    assert runs.get("q1", "a") is first
    assert runs.get("q1", "b") is second
    with pytest.raises(NotFound):
        runs.get("q1", "c")


def test_where_no_keys_are_used_answers_are_everybodys(parish: Atlas) -> None:
    client = app_of(parish).test_client()
    client.post("/api/ask", json=ASKED)
    assert client.get("/api/ask/q1").status_code == 200


@pytest.mark.parametrize(
    ("path", "streamed"), [("/api/ask", False), ("/api/ask/stream", True), ("/api/search", None)]
)
def test_every_span_names_the_key_that_asked_and_never_its_secret(
    guarded: Atlas, narrow_key: str, path: str, streamed: bool | None
) -> None:
    exported = InMemorySpanExporter()
    tracer = Tracer("", "test", content=True)
    tracer.add(SimpleSpanProcessor(exported))
    services = guarded.services
    searcher = replace(services.searcher, tracer=tracer)
    answerer = replace(services.answerer, searcher=searcher)
    traced = Atlas(replace(services, tracer=tracer, answerer=answerer))
    narrow = Signed(app_of(traced).test_client(), narrow_key)
    question = {"question": "Who mends the bridge?"}
    assert narrow.post(path, question, buffered=True).status_code == 200
    tracer.close()
    spans = exported.get_finished_spans()
    attributes = [dict(span.attributes or {}) for span in spans]
    assert {each["user.id"] for each in attributes} == {"narrow"}
    assert narrow_key.rsplit("_", 1)[-1] not in str(attributes)
    (root,) = (dict(span.attributes or {}) for span in spans if span.parent is None)
    assert root.get("streamed") == streamed


# the audit log

AUDITED = {"question": QUESTION, "qa_id": "q1", "corpus_filter": [OPEN]}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "audit.jsonl"


@pytest.fixture
def logged(parish: Atlas, keys_file: Path, whole_key: str, log: Path) -> Signed:
    """The key that sees everything, at a server with that log."""
    return Signed(client_of(parish, keys_file, audit_log=log), whole_key)


def lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_a_line_says_who_asked_what_and_what_came_of_it(
    parish: Atlas, keys_file: Path, narrow_key: str, log: Path
) -> None:
    client = client_of(parish, keys_file, audit_log=log, trace_content=False)
    Signed(client, narrow_key).post("/api/ask", AUDITED, buffered=True)
    (line,) = lines(log)
    assert line.pop("when").endswith("+00:00")
    assert line == {
        "key": "narrow",
        "key_id": narrow_key.split("_")[1],
        "address": "127.0.0.1",
        "method": "POST",
        "route": "/api/ask",
        "collection": "parish",
        "corpora": [OPEN],
        "status": 200,
        "qa_id": "q1",
        "decision": "ANSWER",
        "cost": None,
    }
    assert log.stat().st_mode & 0o777 == 0o600


def test_a_stream_is_noted_when_it_has_ended(logged: Signed, log: Path) -> None:
    stream = logged.post("/api/ask/stream", AUDITED)
    assert lines(log) == []
    assert b"event: complete" in stream.data
    stream.close()
    (line,) = lines(log)
    assert (line["qa_id"], line["decision"]) == ("q1", "ANSWER")
    assert line["question"] == QUESTION
    logged.post("/api/counts", {"query": "toll*", "corpus_filter": OPEN}, buffered=True)
    assert lines(log)[1]["question"] == "toll*"


def test_refused_requests_are_noted_without_their_content(logged: Signed, log: Path) -> None:
    wrong = {"Authorization": "Bearer wrong"}
    logged.client.post("/api/ask", json=AUDITED, headers=wrong, buffered=True)
    logged.client.get("/api/nowhere", buffered=True)
    first, second = lines(log)
    assert (first["status"], first["key"], first["question"]) == (401, None, None)
    assert (second["status"], second["route"]) == (404, None)
    assert "wrong" not in log.read_text()


def test_no_content_can_forge_a_line(logged: Signed, log: Path) -> None:
    for corpora in ("a\n{}", ["\u2028"], {"a": 1}, 7):
        logged.post("/api/search", {"question": "x\r\n{}", "corpus_filter": corpora}, buffered=True)
    logged.post("/api/search", ["no object"], buffered=True)
    assert len(lines(log)) == 5


def test_a_log_that_was_moved_away_is_begun_anew(logged: Signed, log: Path) -> None:
    logged.get("/api/corpora", buffered=True)
    log.rename(log.with_suffix(".1"))
    logged.get("/api/targets", buffered=True)
    assert [line["route"] for line in lines(log)] == ["/api/targets"]
    assert log.stat().st_mode & 0o777 == 0o600


def test_a_log_that_cannot_be_written_is_said_at_the_start(parish: Atlas, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="AUDIT_LOG"):
        client_of(parish, None, audit_log=tmp_path)


def test_a_line_is_bounded_and_whole_on_a_full_disk(logged: Signed, log: Path) -> None:
    long = "é" * 900_000
    logged.post("/api/search", {"question": long, "corpus_filter": [long]}, buffered=True)
    assert log.stat().st_size < 10_000
    with longest_file(log.stat().st_size + 50):
        assert logged.get("/api/corpora", buffered=True).status_code == 200
    assert len(lines(log)) == 1
    with log.open("a") as file:
        file.write('{"when": "cut off')
    logged.get("/api/targets", buffered=True)
    assert json.loads(log.read_text().splitlines()[-1])["route"] == "/api/targets"
