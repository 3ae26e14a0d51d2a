"""The audit log: one line for each request, and the question only where traces hold texts."""

import json
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from atlas_search import Atlas
from atlas_search.core.errors import ConfigurationError
from atlas_search.server.app import create_app
from tests.access.conftest import Signed, guard
from tests.access.two_corpora import OPEN, QUESTION

ASKED = {"question": QUESTION, "qa_id": "q1", "corpus_filter": [OPEN]}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "audit.jsonl"


def client_with(atlas: Atlas, keys_file: Path, log: Path, **settings: Any) -> FlaskClient:
    guarded = guard(atlas, keys_file, audit_log=log, **settings)
    return create_app(lambda: guarded).test_client()


def lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_a_line_says_who_asked_what_and_what_came_of_it(
    guarded: Atlas, keys_file: Path, narrow_key: str, log: Path
) -> None:
    signed = Signed(client_with(guarded, keys_file, log, trace_content=False), narrow_key)
    signed.post("/api/ask", ASKED, buffered=True)
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


def test_a_stream_is_noted_when_it_has_ended(
    guarded: Atlas, keys_file: Path, whole_key: str, log: Path
) -> None:
    signed = Signed(client_with(guarded, keys_file, log), whole_key)
    stream = signed.post("/api/ask/stream", ASKED)
    assert lines(log) == []
    assert b"event: complete" in stream.data
    stream.close()
    (line,) = lines(log)
    assert (line["qa_id"], line["decision"]) == ("q1", "ANSWER")
    assert line["question"] == QUESTION
    signed.post("/api/counts", {"query": "toll*", "corpus_filter": OPEN}, buffered=True)
    assert lines(log)[1]["question"] == "toll*"


def test_who_is_refused_is_noted_and_what_they_sent_is_not(
    guarded: Atlas, keys_file: Path, log: Path
) -> None:
    client = client_with(guarded, keys_file, log)
    client.post("/api/ask", json=ASKED, headers={"Authorization": "Bearer wrong"}, buffered=True)
    client.get("/api/nowhere", buffered=True)
    first, second = lines(log)
    assert (first["status"], first["key"], first["question"]) == (401, None, None)
    assert (second["status"], second["route"]) == (404, None)
    assert "wrong" not in log.read_text()


def test_what_is_sent_cannot_forge_a_line(
    guarded: Atlas, keys_file: Path, whole_key: str, log: Path
) -> None:
    signed = Signed(client_with(guarded, keys_file, log), whole_key)
    for corpora in ("a\n{}", ["\u2028"], {"a": 1}, 7):
        signed.post("/api/search", {"question": "x\r\n{}", "corpus_filter": corpora}, buffered=True)
    signed.post("/api/search", ["no object"], buffered=True)
    assert len(lines(log)) == 5


def test_a_log_that_was_moved_away_is_begun_anew(
    guarded: Atlas, keys_file: Path, whole_key: str, log: Path
) -> None:
    signed = Signed(client_with(guarded, keys_file, log), whole_key)
    signed.get("/api/corpora", buffered=True)
    log.rename(log.with_suffix(".1"))
    signed.get("/api/targets", buffered=True)
    assert [line["route"] for line in lines(log)] == ["/api/targets"]
    assert log.stat().st_mode & 0o777 == 0o600


def test_a_log_that_cannot_be_written_is_said_at_the_start(
    guarded: Atlas, keys_file: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match="AUDIT_LOG"):
        client_with(guarded, keys_file, tmp_path)
