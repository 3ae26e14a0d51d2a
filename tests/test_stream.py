"""Streams that take their time: heartbeats, failures on the way, and clients that go away."""

import json
import os
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from atlas_search.answer.cache import AnswerCache
from atlas_search.atlas import Atlas
from atlas_search.server import events as events_api
from atlas_search.server.app import create_app
from atlas_search.services import Services
from tests.servers import served, wait_for
from tests.slow_model import SlowModel

QUESTION = "Can a local authority sue a newspaper for libel?"


@pytest.fixture
def model() -> SlowModel:
    return SlowModel()


def served_by(services: Services, model: SlowModel, **settings: object) -> Services:
    """The demo collection, answered by `model`."""
    target = services.targets["k10_extractive"].model_copy(
        update={"llm_provider": "openai", "near_duplicate": 1.0, **settings}
    )
    answerer = replace(
        services.answerer, models={"openai": model}, cache=AnswerCache(1, 1, enabled=False)
    )
    targets = {**services.targets, "k10_extractive": target}
    return replace(services, answerer=answerer, targets=targets)


@pytest.fixture
def address(services: Services, model: SlowModel) -> Iterator[str]:
    app = create_app(lambda: Atlas(served_by(services, model)))
    with served(app, channel_request_lookahead=1) as found:
        yield found
        model.go.release(100)


def streamed(address: str, read: Callable[[str], None]) -> list[str]:
    """The lines of a stream, each given to `read` as it arrives."""
    lines = []
    url = f"{address}/api/ask/stream"
    with httpx2.stream("POST", url, json={"question": QUESTION}, timeout=30) as response:
        for line in response.iter_lines():
            lines.append(line)
            read(line)
    return lines


def test_a_silent_answer_is_kept_alive_by_comments(
    address: str, model: SlowModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events_api, "HEARTBEAT_SECONDS", 0.1)
    monkeypatch.setattr(events_api, "POLL_SECONDS", 0.05)

    def let_it_write(line: str) -> None:
        if line.startswith(":"):
            model.go.release()

    lines = streamed(address, let_it_write)
    assert lines.count("event: token") == model.written == 5
    assert lines.index(": still here") < lines.index("event: token")
    assert "event: complete" in lines


def test_tokens_arrive_before_the_answer_is_complete(address: str, model: SlowModel) -> None:
    seen: list[int] = []

    def one_more(line: str) -> None:
        if line in ("event: references", "event: token", "event: complete"):
            seen.append(model.written)
            model.go.release()

    streamed(address, one_more)
    assert seen == [0, 1, 2, 3, 4, 5, 5]  # references, five tokens, complete


def test_a_client_that_goes_away_stops_the_model(address: str, model: SlowModel) -> None:
    host, port = address.removeprefix("http://").split(":")
    body = json.dumps({"question": QUESTION}).encode()
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
    # the answer goes on to its next step, which finds that nobody listens
    wait_for(lambda: _stopped(model), 60, "the model's end")
    assert model.written < 5


def _stopped(model: SlowModel) -> bool | None:
    """True once the model has ended; else another sentence may be written in half a second."""
    if model.ended.wait(1.0):
        return True
    model.go.release()
    return None


def test_a_model_that_fails_on_the_way_ends_the_stream_with_a_problem(
    address: str, model: SlowModel
) -> None:
    model.fault = RuntimeError("secret")
    model.go.release()
    lines = streamed(address, lambda _: None)
    problem = json.loads(lines[lines.index("event: error") + 1].removeprefix("data: "))
    assert problem["status"] == 500
    assert "secret" not in str(problem)


def events_of(lines: list[str], name: str) -> list[dict[str, Any]]:
    """The data of the events of that name."""
    places = [at for at, line in enumerate(lines) if line == f"event: {name}"]
    return [json.loads(lines[at + 1].removeprefix("data: ")) for at in places]


def test_an_invented_citation_is_flagged_and_blocks_the_answer(
    address: str, model: SlowModel
) -> None:
    model.marker = "[legal_uk.invented p1]"
    model.go.release(20)
    lines = streamed(address, lambda _: None)
    flagged = events_of(lines, "sentence")
    assert not any(sentence["grounded"] for sentence in flagged)
    assert flagged[0]["errors"] == ["cites [legal_uk.invented p1], which was not retrieved."]
    assert events_of(lines, "restart") == [{"reason": "repair"}]
    (complete,) = events_of(lines, "complete")
    assert complete["decision"] == "BLOCK"
    assert complete["answer"] is None
    assert complete["citations"] == complete["sentences"] == []
    assert "[legal_uk.invented p1], which was not retrieved" in complete["reason"]["message"]


def test_more_citations_than_the_limit_block_the_answer(
    services: Services, model: SlowModel
) -> None:
    model.go.release(20)
    limited = served_by(services, model, citation_limit=1)
    body = {"question": "Which grounds make marriage of the same sex lawful?"}
    text = create_app(lambda: Atlas(limited)).test_client().post("/api/ask/stream", json=body).text
    assert '"decision": "BLOCK"' in text
    assert "more than 1" in text


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts open files in /proc")
def test_streams_leave_no_file_open(services: Services) -> None:
    client = create_app(lambda: Atlas(services)).test_client()

    def open_files_after(streams: int) -> int:
        for _ in range(streams):
            client.post("/api/ask/stream", json={"question": "zzzz"}).get_data()
        return len(os.listdir("/proc/self/fd"))

    before = open_files_after(3)
    assert open_files_after(30) <= before + 3
