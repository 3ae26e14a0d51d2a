"""The file of answers and votes: bounded, and no answer fails for it."""

import logging
import stat
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from atlas_search import Atlas
from atlas_search.core.errors import Conflict, NotFound
from atlas_search.server.feedback import store as store_module
from atlas_search.server.feedback.store import (
    DAY,
    TABLES,
    TIDY_SECONDS,
    FeedbackStore,
    RatedAnswer,
    Vote,
    rated,
)
from atlas_search.server.state import OpenState, StateFile
from tests.server.feedback.conftest import ASKED, server_of
from tests.server.two_corpora import QUESTION
from tests.stores.disks import small_disk

UP = Vote(thumb="up")


@pytest.fixture
def answer(parish: Atlas) -> RatedAnswer:
    return rated(parish.ask(QUESTION, qa_id="q1"), "", content=True)


class Clock:
    """Seconds, as told."""

    def __init__(self) -> None:
        self.now = 1e9

    def __call__(self) -> float:
        return self.now


def named(answer: RatedAnswer, qa_id: str) -> RatedAnswer:
    return answer.model_copy(update={"qa_id": qa_id})


def test_an_answer_without_a_vote_is_forgotten_and_one_with_a_vote_is_kept(
    answer: RatedAnswer, open_state: OpenState
) -> None:
    clock = Clock()
    store = FeedbackStore(open_state("feedback", TABLES), 30, clock)
    store.add([named(answer, "rated"), named(answer, "unrated"), named(answer, "withdrawn")])
    store.change("", "rated", "anna", lambda *_: UP)
    store.change("", "withdrawn", "anna", lambda *_: UP)
    store.change("", "withdrawn", "anna", lambda *_: Vote())
    clock.now += 31 * DAY
    store.add([named(answer, "new")])
    assert store.rating("", "rated", "anna").vote == UP
    assert store.rating("", "new", "anna").vote == Vote()
    for forgotten in ("unrated", "withdrawn"):
        with pytest.raises(NotFound):
            store.rating("", forgotten, "anna")


def test_of_too_many_answers_without_a_vote_the_oldest_are_forgotten(
    answer: RatedAnswer, open_state: OpenState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "MOST_UNRATED", 3)
    clock = Clock()
    store = FeedbackStore(open_state("feedback", TABLES), 30, clock)
    store.add(named(answer, f"q{n}") for n in range(6))
    clock.now += TIDY_SECONDS
    store.add([named(answer, "q6")])
    assert store.rating("", "q4", "anna").vote == Vote()
    with pytest.raises(NotFound):
        store.rating("", "q3", "anna")


def test_one_answer_takes_so_many_voters_and_no_more(
    answer: RatedAnswer, open_state: OpenState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "MOST_VOTERS", 2)
    store = FeedbackStore(open_state("feedback", TABLES), 30)
    store.add([answer])
    for voter in ("anna", "bert", "anna"):
        store.change("", "q1", voter, lambda _, vote: vote.model_copy(update={"thumb": "up"}))
    with pytest.raises(Conflict, match="2 others"):
        store.change("", "q1", "cleo", lambda *_: UP)


def test_votes_of_many_at_once_are_all_kept(answer: RatedAnswer, open_state: OpenState) -> None:
    store = FeedbackStore(open_state("feedback", TABLES), 30)
    store.add([answer])
    marks = ("relevance", "accuracy", "corpus_fidelity", "clarity")

    def mark(scale: str) -> None:
        def change(_: RatedAnswer, vote: Vote) -> Vote:
            mark = vote.scores.get(scale, 0) + 1
            return vote.model_copy(update={"scores": {**vote.scores, scale: mark}})

        for _ in range(3):
            store.change("", "q1", "anna", change)

    threads = [threading.Thread(target=mark, args=(scale,)) for scale in marks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.rating("", "q1", "anna").vote.scores == dict.fromkeys(marks, 3)


def test_only_its_owner_may_read_the_file(answer: RatedAnswer, state: Path) -> None:
    FeedbackStore(StateFile(state / "f.sqlite", TABLES), 30).add([answer])
    assert stat.S_IMODE((state / "f.sqlite").stat().st_mode) == 0o600


def test_a_file_that_cannot_be_used_is_one_line_and_no_answer_fails(
    parish: Atlas, state: Path, caplog
) -> None:
    state.mkdir()
    (state / "feedback.sqlite").write_bytes(b"no database, " * 1000)
    client = server_of(parish, state)
    for number in range(3):
        response = client.post("/api/ask", json=ASKED | {"qa_id": f"q{number}"})
        assert response.get_json()["decision"] == "ANSWER"
    refused = client.post("/api/feedback", json={"qa_id": "q0", "thumb": "up"})
    assert refused.status_code == 503
    assert "feedback.sqlite is damaged" in refused.get_json()["detail"]
    warned = [r for r in caplog.records if r.levelno >= logging.WARNING]
    assert ["cannot be rated" in record.getMessage() for record in warned] == [True]


def fill(file: Path) -> None:
    """Leave no room on the disk of `file`."""
    with file.open("wb", buffering=0) as full, suppress(OSError):
        while full.write(b"x" * 4096):
            pass


def test_a_full_disk_is_one_line_and_ratings_go_on_once_there_is_room(
    parish: Atlas, state: Path, caplog
) -> None:
    with small_disk(state, 256):
        client = server_of(parish, state)
        client.post("/api/ask", json=ASKED)
        assert client.post("/api/feedback", json={"qa_id": "q1", "thumb": "up"}).status_code == 200
        fill(state / "full")
        for number in range(2, 40):
            response = client.post("/api/ask", json=ASKED | {"qa_id": f"q{number}"})
            assert response.get_json()["decision"] == "ANSWER"
        full_response = client.post("/api/feedback", json={"qa_id": "q1", "comment": "x" * 4000})
        assert full_response.status_code == 503
        (state / "full").unlink()
        client.post("/api/ask", json=ASKED | {"qa_id": "later"})
        for qa_id, thumb in (("q1", "down"), ("later", "up")):
            rating_body = {"qa_id": qa_id, "thumb": thumb}
            assert client.post("/api/feedback", json=rating_body).status_code == 200
    warned = [r for r in caplog.records if r.levelno >= logging.WARNING]
    assert ["cannot be rated" in record.getMessage() for record in warned] == [True]


def test_an_answer_waits_for_no_disk(parish: Atlas, state: Path) -> None:
    """Another process holds the file; the answer comes, and can be rated once it lets go."""
    file = StateFile(state / "feedback.sqlite", TABLES)
    client = server_of(parish, state)
    with file.open():
        assert client.post("/api/ask", json=ASKED).get_json()["decision"] == "ANSWER"
        streamed = client.post("/api/ask/stream", json=ASKED | {"qa_id": "q2"}, buffered=True)
        assert "event: complete" in streamed.get_data(as_text=True)
    for qa_id in ("q1", "q2"):
        rating_body = {"qa_id": qa_id, "thumb": "up"}
        assert client.post("/api/feedback", json=rating_body).status_code == 200


def test_a_long_answer_is_kept_whole(parish: Atlas, open_state: OpenState) -> None:
    long = replace(parish.ask(QUESTION, qa_id="q1"), text="\x00'\"😀 " * 50_000)
    store = FeedbackStore(open_state("feedback", TABLES), 30)
    store.add([rated(long, "", content=True)])
    assert store.change("", "q1", "anna", lambda *_: UP).answer.answer == long.text
