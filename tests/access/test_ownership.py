"""Answers and sessions belong to the key that made them, whatever others call theirs."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from atlas_search import Atlas
from atlas_search.core.errors import Conflict, NotFound
from atlas_search.server.access.keys import add_key
from atlas_search.server.app import create_app
from atlas_search.server.runs import Run, Runs
from tests.access.conftest import COLLECTION, TOKEN, Signed
from tests.access.two_corpora import OPEN, QUESTION, VAULT

ASKED = {"question": QUESTION, "qa_id": "q1", "session_id": "s1"}
OF_ONE = [
    ("GET", "/api/ask/q1"),
    ("GET", "/api/ask/q1/stream"),
    ("GET", "/api/ask/q1/export"),
    ("GET", "/api/ask/q1/export?format=bundle"),
    ("GET", "/api/sessions/s1/export"),
    ("DELETE", "/api/ask/q1"),
]


@pytest.mark.parametrize(("method", "path"), OF_ONE)
def test_another_key_and_even_the_administrator_finds_nothing(
    client, narrow: Signed, whole: Signed, method: str, path: str
) -> None:
    assert narrow.post("/api/ask", ASKED).status_code == 200
    for other in (whole, Signed(client, TOKEN)):
        hidden = other.open(method, path, buffered=True)
        absent = other.open(method, path.replace("1", "2"), buffered=True)
        assert hidden.status_code == absent.status_code == 404
        assert hidden.get_json(force=True)["detail"] == absent.get_json(force=True)[
            "detail"
        ].replace("q2", "q1").replace("s2", "s1")
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
    found = narrow.get("/api/sessions/s1/export?format=json").get_data(as_text=True)
    assert [answer["question"] for answer in json.loads(found)["answers"]] == [QUESTION]


def test_a_key_that_loses_a_corpus_loses_what_was_answered_from_it(client, keys_file: Path) -> None:
    made = add_key(keys_file, "Anna", corpora={COLLECTION: [OPEN, VAULT]})
    signed = Signed(client, made.text)
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
    client = create_app(lambda: parish).test_client()
    client.post("/api/ask", json=ASKED)
    assert client.get("/api/ask/q1").status_code == 200
