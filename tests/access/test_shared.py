"""Links to answers: who has one reads this answer and nothing else, for as long as it is good."""

import json
from pathlib import Path

import pytest
from pydantic import SecretStr

from atlas_search import Atlas
from atlas_search.core.errors import Conflict, NotFound
from atlas_search.server.access import quotas as shared
from atlas_search.server.access.keys import revoke_key
from atlas_search.server.access.quotas import SharedAnswers
from atlas_search.server.app import create_app
from tests.access.conftest import COLLECTION, TOKEN, Signed, guard
from tests.access.two_corpora import QUESTION

ASKED = {"question": QUESTION, "qa_id": "q1", "include_context": True}


def link_of(signed: Signed, hours: int = 1) -> str:
    assert signed.post("/api/ask", ASKED).status_code == 200
    made = signed.post("/api/ask/q1/link", {"hours": hours})
    assert made.status_code == 200
    assert made.get_json()["expires"].endswith("+00:00")
    return made.get_json()["url"].removeprefix("http://localhost")


def test_whoever_has_the_link_reads_the_answer_without_a_key(client, narrow: Signed) -> None:
    path = link_of(narrow)
    found = client.get(path)
    assert found.get_json() == narrow.get("/api/ask/q1").get_json()
    assert found.headers["Cache-Control"] == "no-store"
    assert client.get("/api/ask/q1").status_code == 401
    assert client.get("/api/corpora").status_code == 401


def test_it_can_be_read_as_a_page_and_in_every_format(client, narrow: Signed) -> None:
    path = link_of(narrow)
    page = client.get(f"{path}?format=html")
    assert page.mimetype == "text/html"
    assert "<h1>" in page.text
    assert "keeps the granite bridge" in page.text
    assert "sandbox" in page.headers["Content-Security-Policy"]
    assert client.get(f"{path}?format=markdown").text.startswith("# Who keeps")
    assert len(client.get(f"{path}?format=json").get_json()["answers"]) == 1
    refused = client.get(f"{path}?format=exe")
    assert refused.status_code == 400
    assert refused.get_json()["detail"].startswith("format: Input should be 'markdown', ")


def test_what_a_source_or_question_says_is_no_markup_of_the_page(client, narrow: Signed) -> None:
    question = f"<script>alert(1)</script> <img src=x> ![a](http://b/c) {QUESTION}"
    narrow.post("/api/ask", ASKED | {"question": question})
    url = narrow.post("/api/ask/q1/link", {"hours": 1}).get_json()["url"]
    page = client.get(f"{url}?format=html").text
    assert "alert(1)" in page
    assert "<script" not in page
    assert "<img" not in page


def test_it_outlives_the_server_and_what_the_server_keeps(guarded: Atlas, narrow: Signed) -> None:
    path = link_of(narrow)
    again = create_app(lambda: guarded).test_client()
    assert again.get(path).get_json()["question"] == QUESTION


def test_it_is_taken_back_with_the_key(client, keys_file: Path, narrow: Signed) -> None:
    path = link_of(narrow)
    revoke_key(keys_file, "narrow")
    assert client.get(path).status_code == 404


def test_it_is_taken_back_when_the_key_sees_other_corpora(
    client, keys_file: Path, narrow: Signed
) -> None:
    path = link_of(narrow)
    content = json.loads(keys_file.read_text())
    content["keys"][0]["corpora"] = {COLLECTION: []}
    keys_file.write_text(json.dumps(content))
    assert client.get(path).status_code == 404


def test_without_keys_links_work_until_keys_are_used(parish: Atlas, guarded: Atlas) -> None:
    open_to_all = guard(parish, None)
    anyone = create_app(lambda: open_to_all).test_client()
    anyone.post("/api/ask", json=ASKED)
    url = anyone.post("/api/ask/q1/link", json={}).get_json()["url"]
    assert anyone.get(url).get_json()["trace_id"] == ""
    assert anyone.get(url).get_json()["span_id"] == ""
    assert create_app(lambda: guarded).test_client().get(url).status_code == 404


def test_an_administrators_link_needs_the_token_to_be_set(
    client, parish: Atlas, guarded: Atlas, keys_file: Path
) -> None:
    path = link_of(Signed(client, TOKEN))
    assert client.get(path).status_code == 200
    without = guard(parish, keys_file, atlas_admin_token=SecretStr(""))
    assert create_app(lambda: without).test_client().get(path).status_code == 404


@pytest.mark.parametrize("hours", [0, -1, 2161, 1.5, "x", None])
def test_a_link_is_good_for_a_bounded_time(narrow: Signed, hours: object) -> None:
    narrow.post("/api/ask", ASKED)
    assert narrow.post("/api/ask/q1/link", {"hours": hours}).status_code == 400


def test_anothers_answer_cannot_be_shared(narrow: Signed, whole: Signed) -> None:
    narrow.post("/api/ask", ASKED)
    assert whole.post("/api/ask/q1/link", {"hours": 1}).status_code == 404


@pytest.mark.parametrize("token", ["x" * 43, "q1", "../q1", "%00", "x" * 5000])
def test_what_is_no_link_is_answered_as_one_that_is_not_known(
    client, narrow: Signed, token: str
) -> None:
    link_of(narrow)
    found = client.get(f"/api/shared/{token}")
    assert found.status_code == 404
    if ".." not in token:  # that is another path
        assert "There is no such link" in found.get_json()["detail"]


def test_a_link_for_as_long_as_usual_needs_no_body(client, narrow: Signed) -> None:
    narrow.post("/api/ask", ASKED)
    made = client.post("/api/ask/q1/link", headers=narrow.headers)
    assert made.status_code == 200
    assert client.get(made.get_json()["url"].removeprefix("http://localhost")).status_code == 200


# the file


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def answers(tmp_path: Path, clock: Clock) -> SharedAnswers:
    return SharedAnswers(tmp_path / "state" / "shared.sqlite", lambda owner: owner == "a", clock)


def test_it_expires_and_is_removed(answers: SharedAnswers, clock: Clock, tmp_path: Path) -> None:
    first = answers.share({"answer": "planted words"}, "a", 10)
    assert answers.read(first.token) == {"answer": "planted words"}
    clock.now = first.expires
    with pytest.raises(NotFound):
        answers.read(first.token)
    second = answers.share({}, "a", 10)
    clock.now -= 5
    with pytest.raises(NotFound):
        answers.read(first.token)
    assert answers.read(second.token) == {}


def test_the_file_is_private_and_gives_no_link_away(answers: SharedAnswers, tmp_path: Path) -> None:
    path = tmp_path / "state" / "shared.sqlite"
    link = answers.share({}, "a", 10)
    assert path.stat().st_mode & 0o777 == 0o600
    assert link.token.encode() not in path.read_bytes()


def test_nobody_has_more_links_than_may_be(
    answers: SharedAnswers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared, "MOST_OF_ONE", 2)
    for _ in range(2):
        answers.share({}, "a", 10)
    with pytest.raises(Conflict, match="2 links of yours are open"):
        answers.share({}, "a", 10)
    answers.share({}, "b", 10)
