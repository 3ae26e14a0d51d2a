"""Answers in the making: streamed, resumed, stopped, bounded, and left by their clients."""

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from atlas_search import Atlas
from atlas_search.answer.cache import AnswerCache
from atlas_search.core.errors import Conflict, NotFound, TooManyQuestions
from atlas_search.server import events as events_module
from atlas_search.server.runs import Runs
from tests.server.two_corpora import QUESTION
from tests.servers import app_of, served, wait_for
from tests.slow_model import SlowModel

BODY = {"question": QUESTION, "qa_id": "q1"}


@pytest.fixture
def model() -> SlowModel:
    return SlowModel()


def written_by(
    atlas: Atlas, model: SlowModel, resume_seconds: float = 30.0, **target: object
) -> Atlas:
    """The parish, answered by `model`, with places for one answer in the making and one more."""
    services = atlas.services
    name = services.settings.test_target
    own = {"llm_provider": "openai", "near_duplicate": 1.0, **target}
    targets = {name: services.targets[name].model_copy(update=own)}
    kept = AnswerCache(1, 1, enabled=False)
    answerer = replace(services.answerer, models={"openai": model}, cache=kept)
    settings = services.settings.model_copy(
        update={"resume_seconds": resume_seconds, "llm_concurrency": 1, "llm_queue": 1}
    )
    return Atlas(replace(services, answerer=answerer, targets=targets, settings=settings))


@pytest.fixture
def address(parish: Atlas, model: SlowModel) -> Iterator[str]:
    atlas = written_by(parish, model)
    with served(app_of(atlas), channel_request_lookahead=1) as address:
        yield address
        model.go.release(100)


def read_all(address: str, read: Callable[[str], None]) -> list[str]:
    """The lines of a stream, each given to `read` as it arrives."""
    lines = []
    url = f"{address}/api/ask/stream"
    with httpx2.stream("POST", url, json={"question": QUESTION}, timeout=60) as response:
        for line in response.iter_lines():
            lines.append(line)
            read(line)
    return lines


def events(response: httpx2.Response, count: int = 1000) -> list[tuple[int, str]]:
    """Numbers and names of up to `count` events."""
    names: list[tuple[int, str]] = []
    for line in response.iter_lines():
        if line.startswith("id: "):
            number = int(line[4:])
        if line.startswith("event: "):
            names.append((number, line[7:]))
            if len(names) == count:
                break
    return names


def data_of(lines: list[str], name: str) -> list[dict[str, Any]]:
    """The data of the events of that name."""
    places = [at for at, line in enumerate(lines) if line == f"event: {name}"]
    return [json.loads(lines[at + 1].removeprefix("data: ")) for at in places]


def test_a_silent_answer_is_kept_alive_by_comments(
    address: str, model: SlowModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events_module, "HEARTBEAT_SECONDS", 0.1)
    monkeypatch.setattr(events_module, "POLL_SECONDS", 0.05)

    def let_it_write(line: str) -> None:
        if line.startswith(":"):
            model.go.release()

    lines = read_all(address, let_it_write)
    assert lines.count("event: token") == model.written == 4
    assert lines.index(": still here") < lines.index("event: token")
    assert "event: complete" in lines


def test_tokens_arrive_before_the_answer_is_complete(address: str, model: SlowModel) -> None:
    seen: list[int] = []

    def one_more(line: str) -> None:
        if line in ("event: references", "event: token", "event: complete"):
            seen.append(model.written)
            model.go.release()

    read_all(address, one_more)
    assert seen == [0, 1, 2, 3, 4, 4]  # references, four tokens, complete


def test_a_client_that_goes_away_stops_the_model(parish: Atlas, model: SlowModel) -> None:
    atlas = written_by(parish, model, resume_seconds=0.2)
    body = json.dumps({"question": QUESTION}).encode()

    def stopped() -> bool | None:
        if model.ended.wait(1.0):
            return True
        model.go.release()  # the answer goes on to its next step, which finds that nobody listens
        return None

    with served(app_of(atlas), channel_request_lookahead=1) as address:
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            connection.sendall(
                b"POST /api/ask/stream HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Type: application/json\r\n"
                + f"Content-Length: {len(body)}\r\n\r\n".encode()
                + body
            )
            received = b""
            while b"event: references" not in received:
                received += connection.recv(65536)
        wait_for(stopped, 60, "the model's end")
    assert model.written < 4


def test_a_model_that_fails_on_the_way_ends_the_stream_with_a_problem(
    address: str, model: SlowModel
) -> None:
    model.fault = RuntimeError("secret")
    model.go.release()
    (problem,) = data_of(read_all(address, lambda _: None), "error")
    assert problem["status"] == 500
    assert "secret" not in str(problem)


def test_an_invented_citation_is_flagged_and_blocks_the_answer(
    address: str, model: SlowModel
) -> None:
    model.marker = "[meadow.invented p1]"
    model.go.release(20)
    lines = read_all(address, lambda _: None)
    flagged = data_of(lines, "sentence")
    assert not any(sentence["grounded"] for sentence in flagged)
    assert flagged[0]["errors"] == ["cites [meadow.invented p1], which was not retrieved."]
    assert data_of(lines, "restart") == [{"reason": "repair"}]
    (complete,) = data_of(lines, "complete")
    assert complete["decision"] == "BLOCK"
    assert complete["answer"] is None
    assert complete["citations"] == complete["sentences"] == []
    assert "[meadow.invented p1], which was not retrieved" in complete["reason"]["message"]


def test_more_citations_than_the_limit_block_the_answer(parish: Atlas, model: SlowModel) -> None:
    model.go.release(20)
    atlas = written_by(parish, model, citation_limit=1)
    client = app_of(atlas).test_client()
    text = client.post("/api/ask/stream", json={"question": QUESTION}).text
    assert '"decision": "BLOCK"' in text
    assert "more than 1" in text


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts open files in /proc")
def test_streams_leave_no_file_open(parish: Atlas) -> None:
    client = app_of(parish).test_client()

    def open_files_after(streams: int) -> int:
        for _ in range(streams):
            client.post("/api/ask/stream", json={"question": "zzzz"}).get_data()
        return len(os.listdir("/proc/self/fd"))

    before = open_files_after(3)
    assert open_files_after(30) <= before + 3


def test_a_broken_stream_goes_on_where_it_broke(address: str, model: SlowModel) -> None:
    url = f"{address}/api/ask/stream"
    with httpx2.stream("POST", url, json=BODY, timeout=60) as response:
        model.go.release()
        assert events(response, 2) == [(1, "references"), (2, "token")]
    model.go.release(10)
    resumed = f"{address}/api/ask/q1/stream"
    with httpx2.stream("GET", resumed, headers={"Last-Event-ID": "2"}, timeout=60) as response:
        rest = events(response)
    assert [number for number, _ in rest] == list(range(3, 3 + len(rest)))
    assert rest[-1][1] == "complete"
    again = httpx2.post(url, json=BODY, headers={"Last-Event-ID": "2"}, timeout=60)
    assert [line for line in again.text.splitlines() if line.startswith("id: ")] == [
        f"id: {number}" for number, _ in rest
    ]
    assert len(model.prompts) == 1


def test_a_deleted_answer_stops_its_model_and_ends_its_stream_with_an_error(
    address: str, model: SlowModel
) -> None:
    with httpx2.stream("POST", f"{address}/api/ask/stream", json=BODY, timeout=60) as response:
        lines = response.iter_lines()
        next(line for line in lines if line == "event: references")
        wait_for(lambda: model.prompts or None, 60, "the model's call")
        deleted = httpx2.delete(f"{address}/api/ask/q1")
        assert deleted.json() == {"qa_id": "q1", "stopped": True}
        assert model.ended.wait(60)
        rest = "\n".join(lines)
    assert "event: error" in rest
    assert '"status":409' in rest.replace(" ", "")
    assert httpx2.get(f"{address}/api/ask/q1").status_code == 409


def test_an_answer_at_once_can_be_deleted_too(address: str, model: SlowModel) -> None:
    responses: list[httpx2.Response] = []
    thread = threading.Thread(
        target=lambda: responses.append(httpx2.post(f"{address}/api/ask", json=BODY, timeout=60))
    )
    thread.start()
    wait_for(lambda: model.prompts or None, 60, "the model's call")
    httpx2.delete(f"{address}/api/ask/q1")
    thread.join(60)
    assert responses[0].status_code == 409


def test_no_more_answers_are_begun_than_there_are_places(address: str, model: SlowModel) -> None:
    threads = []
    for number in range(2):
        body = BODY | {"qa_id": f"q{number}"}
        thread = threading.Thread(
            target=lambda body=body: httpx2.post(f"{address}/api/ask", json=body, timeout=60)
        )
        thread.start()
        threads.append(thread)
    wait_for(lambda: len(model.prompts) == 2 or None, 60, "two answers")
    refusal = httpx2.post(f"{address}/api/ask", json=BODY | {"qa_id": "q3"})
    taken = httpx2.post(f"{address}/api/ask", json=BODY | {"qa_id": "q1"})
    model.go.release(100)
    for thread in threads:
        thread.join(20)
    assert (refusal.status_code, refusal.headers["Retry-After"]) == (429, "5")
    assert refusal.json()["type"] == "urn:atlas:problem:too-many-questions"
    assert refusal.json()["retry_after"] == 5
    assert taken.status_code == 409


def test_a_finished_answer_is_kept_under_its_id_and_no_other_takes_it(
    address: str, model: SlowModel
) -> None:
    model.go.release(20)
    answer = httpx2.post(f"{address}/api/ask", json=BODY, timeout=60).json()
    for path in ("ask", "ask/stream"):
        other = BODY | {"question": "May the miller cross the bridge?"}
        taken = httpx2.post(f"{address}/api/{path}", json=other, timeout=60)
        assert taken.status_code == 409
        assert "Choose another qa_id" in taken.json()["detail"]
    kept = httpx2.get(f"{address}/api/ask/q1").json()
    assert answer["passages"] is None
    assert {**kept, "passages": None} == answer
    assert len(kept["passages"]) > 0
    seen = {"Last-Event-ID": "500"}  # who has seen all events is told the last again
    again = httpx2.get(f"{address}/api/ask/q1/stream", headers=seen)
    assert again.text.count("event: ") == again.text.count("event: complete") == 1
    for number in ("x", "-1", "9" * 5000):
        header = {"Last-Event-ID": number}
        refusal = httpx2.get(f"{address}/api/ask/q1/stream", headers=header)
        assert refusal.status_code == 400
        assert "Last-Event-ID" in refusal.json()["detail"]


def test_an_unknown_answer_is_not_found(parish: Atlas) -> None:
    client = app_of(parish).test_client()
    for response in (
        client.get("/api/ask/q9"),
        client.get("/api/ask/q9/stream"),
        client.delete("/api/ask/q9"),
        client.get("/api/ask/q9/export"),
        client.get("/api/sessions/s9/export"),
    ):
        assert response.status_code == 404
        assert response.get_json(force=True)["type"] == "urn:atlas:problem:not-found"


def test_one_reader_may_leave_while_another_stays(address: str, model: SlowModel) -> None:
    with httpx2.stream("POST", f"{address}/api/ask/stream", json=BODY, timeout=60) as first:
        events(first, 1)
        with httpx2.stream("GET", f"{address}/api/ask/q1/stream", timeout=60) as second:
            first.close()
            model.go.release(10)
            assert events(second)[-1][1] == "complete"


def test_runs_free_their_place_at_their_end() -> None:
    runs = Runs(1, 0.0)
    go = threading.Event()
    run = runs.start("q1", "s1", lambda _: go.wait(60) and None)
    with pytest.raises(Conflict):
        runs.start("q1", "s1", lambda _: None)
    with pytest.raises(TooManyQuestions):
        runs.start("q2", "s1", lambda _: None)
    go.set()
    wait_for(lambda: run.ended or None, 60, "the end")
    assert runs.running == 0
    runs.start("q2", "s1", lambda _: None)
    with pytest.raises(NotFound):
        runs.get("q3")
    assert runs.of_session("s1") == []
