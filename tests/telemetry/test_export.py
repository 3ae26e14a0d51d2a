"""Sending spans: where they wait, and a server that is away, refuses, hangs or talks nonsense."""

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider

from atlas_search.core.addresses import otlp_at, phoenix_at
from atlas_search.core.telemetry import export
from atlas_search.core.telemetry.export import BATCH, Delivery, SpanQueue
from atlas_search.core.telemetry.tracer import Tracer
from tests.collector import Broken, Told, collecting
from tests.conftest import free_port
from tests.orchard import ASKED, Orchard, orchard
from tests.servers import wait_for

QUICK = 0.05
NEVER = 3600.0  # seconds: nothing is sent for its age


class Gate:
    """Takes spans once it is open; `sent` are their names."""

    def __init__(self, delay: float = NEVER) -> None:
        self.open = threading.Event()
        self.taken = threading.Event()
        self.sent: list[str] = []
        self.queue = SpanQueue(self.send, delay)
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(self.queue)
        self.tracer = provider.get_tracer("test")

    def send(self, spans: Sequence[ReadableSpan]) -> int:
        self.taken.set()
        self.open.wait()
        self.sent += [span.name for span in spans]
        return len(spans)

    def end(self, count: int, text: str = "") -> None:
        for number in range(count):
            with self.tracer.start_as_current_span(f"{number}") as span:
                span.set_attribute("text", text)


@pytest.fixture
def gate() -> Iterator[Gate]:
    made = Gate()
    yield made
    made.open.set()
    made.queue.give_up(60)


def test_of_too_many_spans_the_oldest_are_dropped_and_the_newest_kept(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "QUEUE", 600)
    gate.end(BATCH)
    gate.taken.wait(60)
    gate.end(2000)
    assert (gate.queue.waiting, gate.queue.dropped) == (600, 2000 + BATCH - 600)
    gate.open.set()
    gate.queue.give_up(60)
    assert gate.sent[BATCH:] == [str(number) for number in range(2000 - (600 - BATCH), 2000)]
    assert (gate.queue.exported, gate.queue.waiting) == (600, 0)


def test_long_texts_count_by_their_length(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "QUEUE_BYTES", 100_000)
    gate.end(50, "x" * 9_900)  # and 100 bytes for the attribute: ten of them fit
    assert (gate.queue.waiting, gate.queue.dropped) == (10, 40)
    gate.end(1, "x" * 200_000)
    assert gate.queue.waiting == 0
    gate.end(3)
    assert (gate.queue.waiting, gate.queue.dropped) == (3, 51)


def test_a_full_batch_is_sent_at_once_and_the_rest_at_the_end(gate: Gate) -> None:
    gate.open.set()
    gate.end(BATCH + 5)
    wait_for(lambda: gate.queue.exported == BATCH or None, 60, "a batch")
    assert gate.queue.waiting == 5
    gate.queue.give_up(60)
    assert gate.queue.exported == BATCH + 5


def test_an_old_span_is_sent_unasked() -> None:
    quick = Gate(delay=0.01)
    quick.open.set()
    quick.end(1)
    assert quick.taken.wait(60)
    quick.queue.give_up(60)
    assert quick.sent == ["0"]


def test_spans_that_are_left_at_the_end_are_dropped_and_counted_once(gate: Gate) -> None:
    gate.end(BATCH)
    gate.taken.wait(60)
    gate.end(7)
    gate.queue.give_up(0)
    assert (gate.queue.exported, gate.queue.dropped, gate.queue.waiting) == (0, BATCH + 7, 0)
    gate.end(2)
    gate.open.set()
    gate.queue.give_up(60)
    assert (gate.queue.exported, gate.queue.dropped) == (0, BATCH + 9)


def test_many_threads_lose_no_count(gate: Gate) -> None:
    gate.open.set()
    threads = [threading.Thread(target=gate.end, args=(400,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gate.queue.give_up(60)
    assert gate.queue.exported + gate.queue.dropped == 3200


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds that the product waits become moments."""
    monkeypatch.setattr(export, "PROBE_SECONDS", 0.02)
    monkeypatch.setattr(export, "EXPORT_SECONDS", 0.2)


def to(address: str, **options: Any) -> Tracer:
    return Tracer(address, "none", content=True, delay=QUICK, **options)


def end(tracer: Tracer, count: int) -> None:
    """End so many spans."""
    for number in range(count):
        with tracer.root(f"span {number}", "CHAIN"):
            pass


@pytest.mark.usefixtures("impatient")
def test_nothing_is_lost_while_a_server_comes_late(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "atlas_search")
    port = free_port()
    tracer = to(f"http://127.0.0.1:{port}")
    end(tracer, 3)
    (delivery,) = tracer.deliveries
    wait_for(lambda: delivery.problem or None, 60, "a first try")
    assert (tracer.waiting, tracer.dropped) == (3, 0)
    with collecting(port=port) as collector:
        collector.wait(3)
        end(tracer, 1)
        collector.wait(4)
        tracer.close()
    assert (tracer.exported, tracer.dropped, delivery.problem) == (4, 0, "")
    first, *_, last = (r.getMessage() for r in caplog.records if r.name == export.__name__)
    arrive = f"Phoenix at http://127.0.0.1:{port} gets spans now."
    assert "gets no spans yet" in first
    assert "Waiting: 3, dropped: 0." in first
    assert {record.levelname for record in caplog.records} == {"INFO"}  # for nothing is lost
    assert (last, caplog.messages.count(arrive)) == (arrive, 1)


REJECTED = ExportTracePartialSuccess(rejected_spans=2, error_message="too old")
TIMES: dict[str, tuple[list[Told], int, int, int]] = {
    # answers of the server, spans that arrive of five, spans that are dropped, requests
    **{f"{status} again and again": ([status, "cut", status], 5, 0, 4) for status in (429, 503)},
    **{f"{status}": ([status], 0, 5, 1) for status in (302, 400, 401, 404, 405)},
    "garbage": (["garbage"], 5, 0, 1),
    "endless": (["endless"], 5, 0, 1),
    "some rejected": ([ExportTraceServiceResponse(partial_success=REJECTED)], 3, 2, 1),
}


@pytest.mark.parametrize("name", TIMES)
def test_each_span_is_sent_until_it_arrives_or_is_refused(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "PROBE_SECONDS", 0.02)
    answers, arrived, dropped, requests = TIMES[name]
    with collecting() as collector:
        collector.next += answers
        tracer = to(collector.address)
        end(tracer, 5)
        wait_for(lambda: not tracer.waiting or None, 60, "the answer")
        assert (tracer.exported, tracer.dropped) == (arrived, dropped)
        assert len(collector.requests) == requests
        end(tracer, 1)  # what comes after is sent
        wait_for(lambda: tracer.exported == arrived + 1 or None, 60, "the next")
        tracer.close()


@pytest.mark.usefixtures("impatient")
def test_a_lasting_500_is_given_up_after_a_while() -> None:
    with collecting(500) as collector:
        tracer = to(collector.address)
        end(tracer, 2)
        wait_for(lambda: tracer.dropped == 2 or None, 60, "giving up")
        assert len(collector.requests) > 1
        tracer.close()


def test_a_batch_that_is_too_large_is_sent_in_parts() -> None:
    with collecting() as collector:
        collector.limit = 3
        tracer = to(collector.address)
        end(tracer, 10)
        assert len({span.span_id for span in collector.wait(10)}) == 10
        tracer.close()
    assert (tracer.exported, tracer.dropped) == (10, 0)


@pytest.mark.parametrize(
    ("answers", "levels"),
    [
        ([503, 401], ["INFO", "WARNING"]),  # a loss is one at once
        ([401, 200, 503], ["WARNING", "INFO"]),  # an old one makes none of spans that wait
    ],
)
def test_a_loss_is_a_warning_and_a_wait_is_none(
    answers: list[int],
    levels: list[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(export, "PROBE_SECONDS", 0.02)
    if levels[0] == "WARNING":
        monkeypatch.setattr(export, "LOG_SECONDS", 0.0)
    caplog.set_level(logging.INFO, "atlas_search")
    with collecting() as collector:
        collector.next += answers
        tracer = to(collector.address)
        for count in range(1, 4):
            end(tracer, 1)
            wait_for(lambda n=count: tracer.exported + tracer.dropped == n or None, 60, "the fate")
        lines = [each for each in caplog.records if "gets no spans" in each.getMessage()]
        tracer.close()
    assert [line.levelname for line in lines] == levels
    assert tracer.dropped == 1
    assert "dropped: 1." in lines[1].getMessage()


def test_the_log_gets_a_line_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "PROBE_SECONDS", 0.001)
    now = 0.0
    logged: list[tuple[float, str]] = []

    def clock() -> float:
        nonlocal now
        now += 5
        return now

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "gets no spans yet" in record.getMessage():
                logged.append((now, record.getMessage()))

    handler, log = Lines(), logging.getLogger(export.__name__)
    log.addHandler(handler)
    monkeypatch.setattr(log, "level", logging.INFO)
    address = f"http://127.0.0.1:{free_port()}"
    delivery = Delivery(phoenix_at(address), lambda span: span, 0.01, clock)
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(delivery.queue)
    with provider.get_tracer("test").start_as_current_span("one"):
        pass
    wait_for(lambda: len(logged) >= 4 or None, 60, "four lines")
    delivery.stop()
    delivery.close(60)
    log.removeHandler(handler)
    times = [at for at, _ in logged]
    assert {60 <= later - earlier <= 75 for earlier, later in pairwise(times[:4])} == {True}
    assert f"Phoenix at {address} gets no spans yet" in logged[0][1]


def test_a_header_that_http_does_not_know_is_no_crash(caplog: pytest.LogCaptureFixture) -> None:
    with collecting() as collector:
        also = otlp_at(collector.address, "", {"x-key": "lamp\noil é"})
        tracer = to("", also=also)
        end(tracer, 1)
        (delivery,) = tracer.deliveries
        wait_for(lambda: delivery.problem or None, 60, "a first try")
        tracer.close()
    assert collector.requests == []
    assert (tracer.exported, tracer.dropped) == (0, 1)
    assert "lamp" not in caplog.text


def test_health_says_what_became_of_spans(built: Path) -> None:
    with orchard(built) as own:
        own.collector.always = 401
        own.post("/api/search", ASKED)
        wait_for(lambda: own.tracer.dropped or None, 60, "the refusal")
        own.spans()
        part = own.client.get("/api/health").json["parts"]["tracing"]
    assert part["status"] == "note"
    assert "it answers 401" in part["detail"]
    assert part["detail"].endswith(f"spans sent: 0, waiting: 0, dropped: {own.tracer.dropped}")


SLOW = 20.0  # less than the product waits for an answer
SOON = 8.0  # a request takes some 0.1 s, on a busy machine ten times as long
ABSENT = "absent"
CHANGING = {"trace_id", "span_id", "timings_ms", "created", "qa_id", "session_id"}
REQUESTS = {
    "/api/ask": (ASKED, 200),
    "/api/ask/stream": (ASKED, 200),
    "/api/search": (ASKED, 200),
    "/api/validate": ({"answer": "The warden keeps it [hill.qzjfile-ladder p1]."}, 200),
    "/api/counts": ({"query": '"unclosed'}, 400),
}
also = pytest.mark.thorough


@contextmanager
def failing(told: Told | str, after: float) -> Iterator[str]:
    """The address of a server that answers so, and so late; of none if it is ABSENT."""
    if told == ABSENT:
        yield f"http://127.0.0.1:{free_port()}"
        return
    with collecting(told) as collector:  # type: ignore[arg-type]
        collector.after = after
        yield collector.address


def seconds_of(own: Orchard, path: str) -> tuple[float, Any]:
    body, status = REQUESTS[path]
    began = time.monotonic()
    answer = own.post(path, body)
    taken = time.monotonic() - began
    assert answer.status_code == status, answer.text
    return taken, answer


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("told", "after"),
    [
        (ABSENT, 0),
        ("hang", 0),
        (200, SLOW),
        pytest.param(500, 0, marks=also),
        pytest.param(401, 0, marks=also),
        pytest.param(302, 0, marks=also),
        pytest.param("cut", 0, marks=also),
        pytest.param("endless", 0, marks=also),
        pytest.param(503, SLOW, marks=also),
        pytest.param(401, SLOW, marks=also),
    ],
)
def test_no_request_waits_for_a_server_of_traces_and_answers_are_the_same(
    built: Path, told: Told | str | Broken, after: float
) -> None:
    assert export.EXPORT_SECONDS > SLOW < export.ANSWER_SECONDS
    with orchard(built) as well:
        plain = well.post("/api/ask", ASKED).json
    with failing(told, after) as address, orchard(built, phoenix_collector_endpoint=address) as own:
        taken, answers = {}, {}
        for path in (*REQUESTS, *REQUESTS):  # the second time it fails, or hangs, already
            taken[path], answers[path] = seconds_of(own, path)
        phoenix, other = own.tracer.deliveries
        counts = phoenix.queue
        assert counts.waiting + counts.dropped + counts.exported > 0
        began = time.monotonic()
        own.atlas.close()
        closing = time.monotonic() - began
        assert own.tracer.waiting == other.queue.dropped == 0
        assert counts.dropped + counts.exported == other.queue.exported
    assert {path: seconds for path, seconds in taken.items() if seconds > SOON} == {}
    assert closing < SOON
    answer = answers["/api/ask"].json
    assert {name for name in answer if answer[name] != plain[name]} <= CHANGING
    assert "event: complete" in answers["/api/ask/stream"].text
