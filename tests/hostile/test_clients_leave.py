"""Clients that go away while a request is computed: the work ends before its end."""

import json
import socket
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from atlas_search import Atlas
from atlas_search.core.errors import Cancelled
from atlas_search.core.stop import Stop
from atlas_search.core.targets import Target
from atlas_search.documents.export import Format, export
from atlas_search.search.rerankers import Relevance
from atlas_search.server.app import create_app
from atlas_search.server.limits import LOOK_SECONDS, ClientStop
from tests.servers import served, wait_for

TEXTS = 3


class Reads:
    """A second stage that takes its time for each text, and counts those that it read."""

    name = "reads"

    def __init__(self) -> None:
        self.read = 0
        self.begun = threading.Event()
        self.go = threading.Event()

    def relevance(self, question: str, texts: Sequence[str], seconds: float) -> Relevance:
        for _ in texts:
            self.begun.set()
            assert self.go.wait(30)
            self.read += 1
        return Relevance(np.ones(len(texts)), "")


@pytest.fixture
def stage() -> Reads:
    return Reads()


@pytest.fixture
def begun() -> threading.Event:
    """Set once a request is worked on; the server drops those whose client left before."""
    return threading.Event()


@pytest.fixture
def statuses() -> list[int]:
    """Those of all responses, whether or not anybody receives them."""
    return []


@pytest.fixture
def address(
    farm: Atlas, stage: Reads, begun: threading.Event, statuses: list[int]
) -> Iterator[str]:
    searcher = replace(farm.services.searcher, stages={("cohere", ""): stage})
    targets = {farm.services.settings.test_target: Target(reranker="cohere")}
    services = replace(
        farm.services, answerer=replace(farm.services.answerer, searcher=searcher), targets=targets
    )
    app = create_app(lambda: Atlas(services))
    app.before_request(begun.set)
    app.after_request(lambda response: statuses.append(response.status_code) or response)
    with served(app, channel_request_lookahead=1) as found:
        yield found


def send(address: str, path: str, body: object) -> socket.socket:
    """A connection on which a request was sent, and nothing received yet."""
    host, port = address.removeprefix("http://").split(":")
    content = json.dumps(body).encode()
    connection = socket.create_connection((host, int(port)), timeout=60)
    connection.sendall(
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n\r\n".encode()
        + content
    )
    return connection


def test_a_search_is_ended_between_the_texts_that_a_model_reads(
    address: str, stage: Reads, statuses: list[int]
) -> None:
    with send(address, "/api/search", {"question": "Who gives wool?"}):
        assert stage.begun.wait(60)
    # the server sees it in its own time; each text is a chance to notice
    wait_for(lambda: _ended(stage, statuses), 60, "the end of the search")
    assert statuses == [409]
    assert stage.read < TEXTS


def _ended(stage: Reads, statuses: list[int]) -> bool | None:
    if not stage.go.is_set():
        threading.Timer(0.5, stage.go.set).start()
    return bool(statuses) or None


def test_a_search_goes_to_its_end_for_a_client_that_waits(
    address: str, stage: Reads, statuses: list[int]
) -> None:
    stage.go.set()
    with send(address, "/api/search", {"question": "Who gives wool?"}) as connection:
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
    assert (statuses, stage.read) == ([200], TEXTS)


def test_a_check_of_an_answer_is_ended(
    address: str, begun: threading.Event, statuses: list[int]
) -> None:
    text = " ".join(f"Ewe{n} gives wool." for n in range(2000))
    passages = [{"document_id": "wool", "page": 1, "text": text}] * 11
    answer = "\n".join(f"Goat{n} gives milk. [wool p1]" for n in range(40))
    with send(address, "/api/validate", {"answer": answer, "passages": passages}):
        assert begun.wait(60)
    wait_for(lambda: bool(statuses) or None, 60, "the end of the check")
    assert statuses == [409]


def test_a_client_is_looked_for_no_more_than_every_moment() -> None:
    looked: list[float] = []
    now = [100.0]
    stop = ClientStop(lambda: bool(looked.append(now[0])), lambda: now[0])
    for _ in range(10):
        stop.check()
        now[0] += LOOK_SECONDS / 2
    assert looked == pytest.approx([100.0 + LOOK_SECONDS * n for n in range(5)])


def test_what_a_client_left_stays_stopped() -> None:
    gone = iter([True, False])
    stop = ClientStop(lambda: next(gone), iter([0.0, 0.0, 9.0]).__next__)
    for _ in range(2):
        with pytest.raises(Cancelled, match="The client went away"):
            stop.check()


@pytest.mark.parametrize("exact", [True, False])
def test_a_stopped_search_finds_nothing_and_leaves_no_span_open(farm: Atlas, exact: bool) -> None:
    stop = Stop()
    stop.set()
    with pytest.raises(Cancelled):
        farm.search("Who gives wool?", exact=exact, facets=True, explain=True, stop=stop)
    assert farm.services.tracer.open_spans == 0


def test_every_stage_of_a_search_asks_whether_to_go_on(farm: Atlas) -> None:
    """However often it was asked before, the next time ends the search."""
    asked = count_checks(farm)
    assert asked > 8
    for number in range(asked):
        with pytest.raises(Cancelled):
            farm.search("Who gives wool?", exact=True, stop=_StopAt(number))
        assert farm.services.tracer.open_spans == 0


@pytest.mark.parametrize("format", ["markdown", "json", "csv", "csl-json"])
def test_an_export_asks_before_each_answer(farm: Atlas, format: Format) -> None:
    answers = [farm.ask("Who gives wool?").to_dict() for _ in range(3)]
    assert export(answers, format, "", stop=_StopAt(len(answers) + 1)).text
    for number in range(len(answers) + 1):
        with pytest.raises(Cancelled):
            export(answers, format, "", stop=_StopAt(number))


class _StopAt(Stop):
    """Is set when it is asked for the time `number`."""

    def __init__(self, number: float):
        super().__init__()
        self.asked = 0
        self._number = number

    def check(self) -> None:
        if self.asked >= self._number:
            self.set()
        self.asked += 1
        super().check()


def count_checks(farm: Atlas) -> int:
    stop = _StopAt(float("inf"))
    farm.search("Who gives wool?", exact=True, stop=stop)
    return stop.asked
