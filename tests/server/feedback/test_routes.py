"""Ratings of an answer are kept, changed and withdrawn, by who may; and read, by whom and how."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from atlas_search import Atlas
from atlas_search.cli.main import main
from atlas_search.evaluation.label_files import load_labels
from atlas_search.server.access.keys import KeyFile, KeyLimits, add_key
from tests.server.feedback.conftest import ASKED, server_of
from tests.server.two_corpora import COLLECTION, OPEN, QUESTION, TOKEN, Signed, client_of

ADMINISTRATOR = {"Authorization": f"Bearer {TOKEN}"}
EXPORT = "/api/feedback/export"
NOTHING = {
    "thumb": None,
    "scores": dict.fromkeys(("relevance", "accuracy", "corpus_fidelity", "clarity")),
    "tags": [],
    "comment": None,
    "passages": {},
    "citations": {},
}


def rate(client: FlaskClient, **rating: object) -> dict[str, Any]:
    response = client.post("/api/feedback", json={"qa_id": "q1", **rating})
    assert response.status_code == 200, response.get_json()
    return response.get_json()


def rating_of(state: dict[str, Any]) -> dict[str, Any]:
    return {field: state[field] for field in NOTHING}


def test_every_part_of_a_rating_is_kept(client: FlaskClient, answer: dict[str, Any]) -> None:
    rating = {
        "thumb": "up",
        "scores": {"relevance": 5, "clarity": 2},
        "tags": ["wrong_source", "too long"],
        "comment": "The toll is missing.",
        "passages": {answer["passages"][0]["passage_id"]: "relevant"},
        "citations": {"1": "supports"},
    }
    kept = rate(client, user_id="anna", **rating)
    assert rating_of(kept) == rating | {"scores": NOTHING["scores"] | rating["scores"]}
    assert (kept["qa_id"], kept["user_id"], kept["sent"]) == ("q1", "anna", False)
    assert kept["updated"]
    assert client.get("/api/feedback/q1?user_id=anna").get_json() == kept


def test_an_absent_part_stays_and_null_withdraws(
    client: FlaskClient, answer: dict[str, Any]
) -> None:
    first, second = (item["passage_id"] for item in answer["passages"][:2])
    rate(client, thumb="up", scores={"accuracy": 4, "clarity": 1}, comment="Good.", tags=["a"])
    rate(client, passages={first: "relevant", second: "irrelevant"}, citations={"1": "supports"})
    kept = rate(client, thumb="down", scores={"clarity": None}, passages={first: None}, tags=None)
    assert rating_of(kept) == NOTHING | {
        "thumb": "down",
        "scores": NOTHING["scores"] | {"accuracy": 4},
        "comment": "Good.",
        "passages": {second: "irrelevant"},
        "citations": {"1": "supports"},
    }
    none = rate(client, thumb=None, scores=None, comment=None, passages=None, citations=None)
    assert rating_of(none) == NOTHING
    assert client.get("/api/feedback/q1").status_code == 404


def test_a_rating_is_withdrawn_as_a_whole(client: FlaskClient, answer: dict[str, Any]) -> None:
    rate(client, thumb="up", comment="Good.")
    assert rating_of(client.delete("/api/feedback/q1").get_json()) == NOTHING
    assert client.get("/api/feedback/q1").status_code == 404
    assert client.delete("/api/feedback/q1").status_code == 200
    assert client.get("/api/feedback").get_json() == {"total": 0, "feedback": []}


def test_two_people_each_have_a_rating_of_their_own(
    client: FlaskClient, answer: dict[str, Any]
) -> None:
    rate(client, user_id="anna", thumb="up")
    rate(client, user_id="bert", thumb="down")
    rate(client, thumb="down", comment="Whoever")
    assert client.get("/api/feedback/q1?user_id=anna").get_json()["thumb"] == "up"
    assert client.get("/api/feedback/q1?user_id=bert").get_json()["thumb"] == "down"
    own = client.get("/api/feedback?user_id=anna").get_json()
    assert [one["user_id"] for one in own["feedback"]] == ["anna"]
    everybodys = client.get("/api/feedback?limit=2", headers=ADMINISTRATOR).get_json()
    assert everybodys["total"] == 3
    assert len(everybodys["feedback"]) == 2
    rest = client.get("/api/feedback?limit=2&offset=2", headers=ADMINISTRATOR).get_json()
    seen = [one["user_id"] for page in (everybodys, rest) for one in page["feedback"]]
    assert sorted(seen) == ["anna", "anonymous", "bert"]


def test_the_list_holds_the_answer_that_was_rated(
    client: FlaskClient, answer: dict[str, Any]
) -> None:
    rate(client, thumb="up")
    (one,) = client.get("/api/feedback").get_json()["feedback"]
    for field in ("question", "answer", "decision", "target", "collection", "composite_target"):
        assert one[field] == answer[field], field
    assert one["reason"] == answer["reason"]["code"]
    for narrower in ("target=none", "collection=none", "since=2999-01-01"):
        assert client.get(f"/api/feedback?{narrower}").get_json()["total"] == 0
    assert client.get(f"/api/feedback?since={answer['created'][:10]}").get_json()["total"] == 1


def test_without_texts_none_are_kept_but_the_comment_is(parish: Atlas, state: Path) -> None:
    client = server_of(parish, state, trace_content=False)
    client.post("/api/ask", json=ASKED)
    rate(client, thumb="up", comment="The toll is missing.")
    (one,) = client.get("/api/feedback").get_json()["feedback"]
    assert (one["question"], one["answer"]) == ("", "")
    assert one["comment"] == "The toll is missing."
    kept = b"".join(path.read_bytes() for path in state.iterdir())
    assert b"granite bridge" not in kept


@pytest.mark.parametrize(("body", "headers"), [({"telemetry": False}, {}), ({}, {"Sec-GPC": "1"})])
def test_of_an_answer_that_is_not_to_be_traced_no_text_is_kept(
    client: FlaskClient, body: dict[str, Any], headers: dict[str, Any]
) -> None:
    assert client.post("/api/ask", json=ASKED | body, headers=headers).status_code == 200
    assert rate(client, thumb="up")["thumb"] == "up"
    (one,) = client.get("/api/feedback").get_json()["feedback"]
    assert (one["question"], one["answer"]) == ("", "")


def test_an_answer_is_rated_after_a_restart(parish: Atlas, state: Path) -> None:
    first = server_of(parish, state)
    first.post("/api/ask/stream", json=ASKED, buffered=True)
    # no answer waits for the disk, but whoever asks for its rating waits for it
    assert first.get("/api/feedback/q1").status_code == 404
    later = server_of(parish, state)
    assert later.get("/api/ask/q1").status_code == 404
    assert rate(later, thumb="up")["thumb"] == "up"


def test_an_answer_with_the_id_of_an_earlier_one_has_no_rating_yet(
    parish: Atlas, state: Path
) -> None:
    first = server_of(parish, state)
    first.post("/api/ask", json=ASKED)
    rate(first, thumb="down")
    second = server_of(parish, state)
    other = "Who pays a toll for every cart?"
    second.post("/api/ask", json=ASKED | {"question": other})
    assert second.get("/api/feedback/q1").status_code == 404
    rate(second, thumb="up")
    ratings = second.get("/api/feedback").get_json()["feedback"]
    assert {one["question"]: one["thumb"] for one in ratings} == {QUESTION: "down", other: "up"}


def test_another_form_is_refused_and_changes_nothing(
    client: FlaskClient, answer: dict[str, Any]
) -> None:
    before = rate(client, thumb="up")
    for rating in (
        {"thumb": "sideways"},
        {"scores": {"relevance": 6}},
        {"scores": {"relevance": 0}},
        {"scores": {"relevance": 2.5}},
        {"scores": {"beauty": 5}},
        {"tags": ["x"] * 21},
        {"tags": ["x" * 65]},
        {"comment": "x" * 4001},
        {"passages": {"of another": "relevant"}},
        {"citations": {"0": "supports"}},
        {"citations": {"1000": "supports"}},
        {"citations": {"١": "supports"}},
        {"citations": {"1": "maybe"}},
        {"user_id": "two words"},
        {"stars": 5},
    ):
        body = {"qa_id": "q1", "thumb": "down"} | rating
        assert client.post("/api/feedback", json=body).status_code == 400, rating
        assert client.get("/api/feedback/q1").get_json() == before


def test_an_answer_that_was_not_given_is_not_rated(
    client: FlaskClient, answer: dict[str, Any]
) -> None:
    for qa_id in ("absent", "q1.", "stream"):
        body = {"qa_id": qa_id, "thumb": "up"}
        assert client.post("/api/feedback", json=body).status_code == 404
        assert client.delete(f"/api/feedback/{qa_id}").status_code == 404


HOSTILE = "a\x00b\x1b[31mc\x9bd\r\ne\u202ef 😀 \U000e0041 <script>alert(1)</script> \u0301"


def test_hostile_texts_are_kept_without_what_commands_a_terminal(
    client: FlaskClient, answer: dict[str, Any]
) -> None:
    kept = rate(client, comment=HOSTILE, tags=[HOSTILE[:60], " \x00 ", "x", "x"])
    assert kept["comment"] == "ab[31mcd\ne\u202ef 😀 \U000e0041 <script>alert(1)</script> \u0301"
    assert kept["tags"] == [kept["comment"].replace("\n", " "), "x"]
    assert rate(client, comment=" \n\x00")["comment"] is None
    longest = "😀" * 4000
    assert rate(client, comment=longest)["comment"] == longest


# whose ratings they are


@pytest.fixture
def audit_log(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


@pytest.fixture
def sign(parish: Atlas, keys_file: Path, state: Path, audit_log: Path) -> Callable[..., Signed]:
    """Makes a key and a client that sends it."""
    add_key(KeyFile(keys_file), "first")
    client = client_of(parish, keys_file, atlas_state_directory=state, audit_log=audit_log)

    def signed(name: str, **rights: object) -> Signed:
        return Signed(client, add_key(KeyFile(keys_file), name, **rights).text)

    return signed


def test_another_key_finds_no_answer_to_rate(sign: Callable[..., Signed]) -> None:
    anna, bert = sign("Anna"), sign("Bert")
    anna.post("/api/ask", ASKED)
    assert anna.post("/api/feedback", {"qa_id": "q1", "thumb": "up"}).status_code == 200
    for other in (bert, Signed(anna.client, TOKEN)):
        absent = other.post("/api/feedback", {"qa_id": "q2", "thumb": "down"})
        hidden = other.post("/api/feedback", {"qa_id": "q1", "thumb": "down"})
        assert hidden.status_code == absent.status_code == 404
        assert hidden.get_json()["detail"] == absent.get_json()["detail"].replace("q2", "q1")
        assert other.get("/api/feedback/q1").status_code == 404
        assert other.open("DELETE", "/api/feedback/q1").status_code == 404
    assert bert.get("/api/feedback").get_json()["total"] == 0
    assert anna.get("/api/feedback/q1").get_json()["thumb"] == "up"


def test_the_key_says_who_votes_whatever_the_body_says(
    sign: Callable[..., Signed], keys_file: Path
) -> None:
    anna = sign("Anna")
    anna.post("/api/ask", ASKED)
    body = {"qa_id": "q1", "thumb": "up", "user_id": "somebody.else"}
    kept = anna.post("/api/feedback", body).get_json()
    assert kept["user_id"] == json.loads(keys_file.read_text())["keys"][-1]["id"]
    assert kept["trace_id"] == ""
    again = anna.post("/api/feedback", {"qa_id": "q1", "thumb": "down"}).get_json()
    assert again["user_id"] == kept["user_id"]
    assert anna.get("/api/feedback?user_id=somebody.else").get_json()["total"] == 1


def test_an_administrator_of_everything_alone_reads_and_exports_the_ratings_of_others(
    sign: Callable[..., Signed],
) -> None:
    anna, bert = sign("Anna"), sign("Bert")
    for signed in (anna, bert):
        signed.post("/api/ask", ASKED)
        signed.post("/api/feedback", {"qa_id": "q1", "thumb": "up", "comment": "zqxamulet"})
    chief = sign("Chief", administrator=True)
    for administrator in (chief, Signed(anna.client, TOKEN)):
        assert administrator.get("/api/feedback").get_json()["total"] == 2
        labels = administrator.get(EXPORT)
        assert labels.headers["X-Labels"] == "1"
        assert len(labels.get_data(as_text=True).splitlines()) == 1
        table = administrator.get(f"{EXPORT}?format=ratings").get_data(as_text=True)
        assert len(table.splitlines()) >= 3
    assert anna.get("/api/feedback").get_json()["total"] == 1
    assert anna.get(EXPORT).status_code == 403
    part = sign("Part", administrator=True, corpora={COLLECTION: [OPEN]})
    assert part.get("/api/feedback").get_json()["total"] == 0
    assert part.get(EXPORT).status_code == 403


def test_the_audit_log_has_the_action_and_not_the_comment(
    sign: Callable[..., Signed], audit_log: Path
) -> None:
    anna = sign("Anna")
    anna.post("/api/ask", ASKED)
    rating = {"qa_id": "q1", "comment": "The toll is missing.", "tags": ["sly"]}
    anna.post("/api/feedback", rating, buffered=True)
    text = audit_log.read_text()
    last = json.loads(text.splitlines()[-1])
    assert (last["method"], last["route"]) == ("POST", "/api/feedback")
    assert (last["key"], last["qa_id"], last["status"]) == ("Anna", "q1", 200)
    assert "toll is missing" not in text
    assert "sly" not in text


def test_ratings_count_as_requests(sign: Callable[..., Signed]) -> None:
    anna = sign("Anna", limits=KeyLimits(requests_per_minute=2))
    anna.post("/api/ask", ASKED)
    statuses = [
        anna.post("/api/feedback", {"qa_id": "q1", "thumb": "up"}).status_code for _ in range(2)
    ]
    assert statuses == [200, 429]


# `atlas feedback` reads the file of the server, which need not run


@pytest.fixture
def command(
    state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[object, str, str]]:
    """`atlas feedback`: its status, and both streams."""
    monkeypatch.setenv("ATLAS_STATE_DIRECTORY", str(state))
    monkeypatch.setenv("CHROMA_COLLECTION_NAME", COLLECTION)

    def run(*arguments: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as end:
            main(["feedback", *arguments])
        streams = capsys.readouterr()
        return end.value.code or 0, streams.out, streams.err

    return run


def test_the_command_exports_and_lists(
    client: FlaskClient,
    answer: dict[str, Any],
    command: Callable[..., tuple[Any, str, str]],
    tmp_path: Path,
) -> None:
    rate(client, thumb="up", tags=["[red]a"], comment="Good.\u202e", scores={"clarity": 4})
    labels, ratings = tmp_path / "labels.jsonl", tmp_path / "ratings.csv"
    status, _, notes = command("export", str(labels))
    assert (status, notes) == (0, "1 ratings of parish: 1 labels; left out: none.\n")
    assert [label.question for label in load_labels(labels)] == [QUESTION]
    assert command("export", str(ratings), "--format", "ratings")[0] == 0
    assert QUESTION in ratings.read_text(encoding="utf-8")
    _, listing, _ = command("list")
    assert "[red]a" in listing
    assert "\u202e" not in listing
    (one,) = json.loads(command("list", "--json")[1])["feedback"]
    assert (one["question"], one["thumb"], one["sent"]) == (QUESTION, "up", False)


def test_without_a_rating_the_command_makes_no_file(
    command: Callable[..., tuple[Any, str, str]], state: Path, tmp_path: Path
) -> None:
    assert "0 of 0" in command("list")[1]
    command("export", str(tmp_path / "labels.jsonl"))
    assert (tmp_path / "labels.jsonl").read_text() == ""
    assert not state.exists()
    assert "jsonl, csv, ratings" in command("export", str(tmp_path / "x"), "--format", "xml")[2]
