"""What somebody says of an answer is kept, changed and withdrawn."""

from pathlib import Path

import pytest
from flask.testing import FlaskClient

from atlas_search import Atlas
from tests.access.conftest import TOKEN
from tests.access.two_corpora import QUESTION
from tests.feedback.conftest import ASKED, server_of

ADMINISTRATOR = {"Authorization": f"Bearer {TOKEN}"}
NOTHING = {
    "thumb": None,
    "scores": dict.fromkeys(("relevance", "accuracy", "corpus_fidelity", "clarity")),
    "tags": [],
    "comment": None,
    "passages": {},
    "citations": {},
}


def rate(client: FlaskClient, **said: object) -> dict:
    response = client.post("/api/feedback", json={"qa_id": "q1", **said})
    assert response.status_code == 200, response.get_json()
    return response.get_json()


def said_of(state: dict) -> dict:
    return {field: state[field] for field in NOTHING}


def test_every_part_of_a_rating_is_kept(client: FlaskClient, answer: dict) -> None:
    passage = answer["passages"][0]["passage_id"]
    given = {
        "thumb": "up",
        "scores": {"relevance": 5, "clarity": 2},
        "tags": ["wrong_source", "too long"],
        "comment": "The toll is missing.",
        "passages": {passage: "relevant"},
        "citations": {"1": "supports"},
    }
    kept = rate(client, user_id="anna", **given)
    scores = NOTHING["scores"] | given["scores"]
    assert said_of(kept) == given | {"scores": scores}
    assert (kept["qa_id"], kept["user_id"], kept["sent"]) == ("q1", "anna", False)
    assert kept["updated"]
    assert client.get("/api/feedback/q1?user_id=anna").get_json() == kept


def test_what_is_absent_stays_and_null_withdraws(client: FlaskClient, answer: dict) -> None:
    first, second = (item["passage_id"] for item in answer["passages"][:2])
    rate(client, thumb="up", scores={"accuracy": 4, "clarity": 1}, comment="Good.", tags=["a"])
    rate(client, passages={first: "relevant", second: "irrelevant"}, citations={"1": "supports"})
    kept = rate(client, thumb="down", scores={"clarity": None}, passages={first: None}, tags=None)
    assert said_of(kept) == NOTHING | {
        "thumb": "down",
        "scores": NOTHING["scores"] | {"accuracy": 4},
        "comment": "Good.",
        "passages": {second: "irrelevant"},
        "citations": {"1": "supports"},
    }
    none = rate(client, thumb=None, scores=None, comment=None, passages=None, citations=None)
    assert said_of(none) == NOTHING
    assert client.get("/api/feedback/q1").status_code == 404


def test_a_rating_is_withdrawn_as_a_whole(client: FlaskClient, answer: dict) -> None:
    rate(client, thumb="up", comment="Good.")
    assert said_of(client.delete("/api/feedback/q1").get_json()) == NOTHING
    assert client.get("/api/feedback/q1").status_code == 404
    assert client.delete("/api/feedback/q1").status_code == 200
    assert client.get("/api/feedback").get_json() == {"total": 0, "feedback": []}


def test_two_people_each_have_a_rating_of_their_own(client: FlaskClient, answer: dict) -> None:
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


def test_the_list_says_what_was_rated(client: FlaskClient, answer: dict) -> None:
    rate(client, thumb="up")
    (listed,) = client.get("/api/feedback").get_json()["feedback"]
    for field in ("question", "answer", "decision", "target", "collection", "composite_target"):
        assert listed[field] == answer[field], field
    assert listed["reason"] == answer["reason"]["code"]
    for narrower in ("target=none", "collection=none", "since=2999-01-01"):
        assert client.get(f"/api/feedback?{narrower}").get_json()["total"] == 0
    assert client.get(f"/api/feedback?since={answer['created'][:10]}").get_json()["total"] == 1


def test_without_texts_none_are_kept_but_the_comment_is(parish: Atlas, state: Path) -> None:
    client = server_of(parish, state, trace_content=False)
    client.post("/api/ask", json=ASKED)
    rate(client, thumb="up", comment="The toll is missing.")
    (listed,) = client.get("/api/feedback").get_json()["feedback"]
    assert (listed["question"], listed["answer"]) == ("", "")
    assert listed["comment"] == "The toll is missing."
    kept = b"".join(path.read_bytes() for path in state.iterdir())
    assert b"granite bridge" not in kept


@pytest.mark.parametrize("wish", [{"telemetry": False}, {"headers": {"Sec-GPC": "1"}}])
def test_of_an_answer_that_is_not_to_be_traced_no_text_is_kept(
    parish: Atlas, state: Path, wish: dict
) -> None:
    client = server_of(parish, state)
    headers = wish.get("headers")
    body = ASKED | {name: value for name, value in wish.items() if name != "headers"}
    assert client.post("/api/ask", json=body, headers=headers).status_code == 200
    assert rate(client, thumb="up")["thumb"] == "up"
    (listed,) = client.get("/api/feedback").get_json()["feedback"]
    assert (listed["question"], listed["answer"]) == ("", "")


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
    second.post("/api/ask", json=ASKED | {"question": "Who pays a toll for every cart?"})
    assert second.get("/api/feedback/q1").status_code == 404
    rate(second, thumb="up")
    listed = second.get("/api/feedback").get_json()["feedback"]
    assert {one["question"]: one["thumb"] for one in listed} == {
        QUESTION: "down",
        "Who pays a toll for every cart?": "up",
    }


@pytest.mark.parametrize(
    "said",
    [
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
    ],
    ids=str,
)
def test_what_is_no_rating_is_refused_and_changes_nothing(
    client: FlaskClient, answer: dict, said: dict
) -> None:
    before = rate(client, thumb="up")
    response = client.post("/api/feedback", json={"qa_id": "q1", "thumb": "down"} | said)
    assert response.status_code == 400
    assert client.get("/api/feedback/q1").get_json() == before


@pytest.mark.parametrize("qa_id", ["absent", "q1.", "stream"])
def test_an_answer_that_was_not_given_is_not_rated(
    client: FlaskClient, answer: dict, qa_id: str
) -> None:
    response = client.post("/api/feedback", json={"qa_id": qa_id, "thumb": "up"})
    assert response.status_code == 404
    assert client.delete(f"/api/feedback/{qa_id}").status_code == 404


HOSTILE = "a\x00b\x1b[31mc\x9bd\r\ne\u202ef 😀 \U000e0041 <script>alert(1)</script> \u0301"


def test_hostile_texts_are_kept_without_what_commands_a_terminal(
    client: FlaskClient, answer: dict
) -> None:
    kept = rate(client, comment=HOSTILE, tags=[HOSTILE[:60], " \x00 ", "x", "x"])
    assert kept["comment"] == "ab[31mcd\ne\u202ef 😀 \U000e0041 <script>alert(1)</script> \u0301"
    assert kept["tags"] == [kept["comment"].replace("\n", " "), "x"]
    assert rate(client, comment=" \n\x00")["comment"] is None
    longest = "😀" * 4000
    assert rate(client, comment=longest)["comment"] == longest
