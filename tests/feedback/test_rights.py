"""An answer is rated by who asked; everybody's ratings are the administrator's to read."""

import json
from pathlib import Path

import pytest

from atlas_search import Atlas
from atlas_search.server.access.keys import KeyLimits, add_key
from atlas_search.server.app import create_app
from tests.access.conftest import COLLECTION, TOKEN, Signed, guard
from tests.access.two_corpora import OPEN
from tests.feedback.conftest import ASKED

EXPORT = "/api/feedback/export"


@pytest.fixture
def keys_file(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


@pytest.fixture
def audit_log(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


@pytest.fixture
def sign(parish: Atlas, keys_file: Path, state: Path, audit_log: Path):
    """Makes a key and a client that sends it."""
    add_key(keys_file, "first")
    guarded = guard(parish, keys_file, atlas_state_directory=state, audit_log=audit_log)
    client = create_app(lambda: guarded).test_client()

    def signed(name: str, **rights: object) -> Signed:
        return Signed(client, add_key(keys_file, name, **rights).text)

    return signed


def test_another_key_finds_no_answer_to_rate(sign) -> None:
    anna, bert = sign("Anna"), sign("Bert")
    administrator = Signed(anna.client, TOKEN)
    anna.post("/api/ask", ASKED)
    assert anna.post("/api/feedback", {"qa_id": "q1", "thumb": "up"}).status_code == 200
    for other in (bert, administrator):
        absent = other.post("/api/feedback", {"qa_id": "q2", "thumb": "down"})
        hidden = other.post("/api/feedback", {"qa_id": "q1", "thumb": "down"})
        assert hidden.status_code == absent.status_code == 404
        assert hidden.get_json()["detail"] == absent.get_json()["detail"].replace("q2", "q1")
        assert other.get("/api/feedback/q1").status_code == 404
        assert other.open("DELETE", "/api/feedback/q1").status_code == 404
    assert bert.get("/api/feedback").get_json()["total"] == 0
    assert anna.get("/api/feedback/q1").get_json()["thumb"] == "up"


def test_the_key_says_who_votes_whatever_the_body_says(sign, keys_file: Path) -> None:
    anna = sign("Anna")
    anna.post("/api/ask", ASKED)
    said = {"qa_id": "q1", "thumb": "up", "user_id": "somebody.else"}
    kept = anna.post("/api/feedback", said).get_json()
    assert kept["user_id"] == json.loads(keys_file.read_text())["keys"][-1]["id"]
    assert kept["trace_id"] == ""
    again = anna.post("/api/feedback", {"qa_id": "q1", "thumb": "down"}).get_json()
    assert again["user_id"] == kept["user_id"]
    assert anna.get("/api/feedback?user_id=somebody.else").get_json()["total"] == 1


def test_the_administrator_reads_and_exports_what_others_said(sign) -> None:
    anna, bert = sign("Anna"), sign("Bert")
    for signed in (anna, bert):
        signed.post("/api/ask", ASKED)
        signed.post("/api/feedback", {"qa_id": "q1", "thumb": "up"})
    chief = sign("Chief", administrator=True)
    for administrator in (chief, Signed(anna.client, TOKEN)):
        assert administrator.get("/api/feedback").get_json()["total"] == 2
        exported = administrator.get(EXPORT)
        assert exported.headers["X-Labels"] == "1"
        assert len(exported.get_data(as_text=True).splitlines()) == 1
        table = administrator.get(f"{EXPORT}?format=ratings").get_data(as_text=True)
        assert len(table.splitlines()) >= 3
    assert anna.get("/api/feedback").get_json()["total"] == 1
    assert anna.get(EXPORT).status_code == 403


def test_an_administrator_of_some_corpora_reads_their_own_ratings_alone(sign) -> None:
    anna = sign("Anna")
    part = sign("Part", administrator=True, corpora={COLLECTION: [OPEN]})
    anna.post("/api/ask", ASKED)
    anna.post("/api/feedback", {"qa_id": "q1", "comment": "zqxamulet"})
    assert part.get("/api/feedback").get_json()["total"] == 0
    assert part.get(EXPORT).status_code == 403


def test_without_a_key_nothing_is_rated_or_read(sign) -> None:
    sign("Anna").post("/api/ask", ASKED)
    client = sign("Bert").client
    assert client.post("/api/feedback", json={"qa_id": "q1", "thumb": "up"}).status_code == 401
    for path in ("/api/feedback", "/api/feedback/q1", EXPORT):
        assert client.get(path).status_code == 401


def test_the_audit_log_has_the_action_and_not_the_comment(sign, audit_log: Path) -> None:
    anna = sign("Anna")
    anna.post("/api/ask", ASKED)
    said = {"qa_id": "q1", "comment": "The toll is missing.", "tags": ["sly"]}
    anna.post("/api/feedback", said, buffered=True)
    text = audit_log.read_text()
    last = json.loads(text.splitlines()[-1])
    assert (last["method"], last["route"]) == ("POST", "/api/feedback")
    assert (last["key"], last["qa_id"], last["status"]) == ("Anna", "q1", 200)
    assert "toll is missing" not in text
    assert "sly" not in text


def test_ratings_count_as_requests(sign) -> None:
    anna = sign("Anna", limits=KeyLimits(requests_per_minute=2))
    anna.post("/api/ask", ASKED)
    statuses = [
        anna.post("/api/feedback", {"qa_id": "q1", "thumb": "up"}).status_code for _ in range(2)
    ]
    assert statuses == [200, 429]
