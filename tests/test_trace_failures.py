"""A server for traces that is away, refuses, hangs or talks nonsense."""

import logging
from dataclasses import replace
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)

from atlas_search.core.addresses import phoenix_at
from atlas_search.core.telemetry import export
from atlas_search.core.telemetry.export import Delivery
from atlas_search.core.telemetry.tracer import Tracer
from tests.collector import Broken, collecting
from tests.conftest import free_port
from tests.orchard import ASKED, build_orchard, orchard
from tests.servers import wait_for

QUICK = 0.05
CHANGING = {"trace_id", "span_id", "timings_ms", "created", "qa_id", "session_id"}
FAULTS: tuple[int | Broken, ...] = (500, 503, 401, 404, 302, "hang", "cut", "endless")


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds that the product waits become moments."""
    monkeypatch.setattr(export, "PROBE_SECONDS", 0.02)
    monkeypatch.setattr(export, "EXPORT_SECONDS", 0.2)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("orchard")
    build_orchard(folder)
    return folder


def spans(tracer: Tracer, count: int) -> None:
    for number in range(count):
        with tracer.root(f"span {number}", "CHAIN"):
            pass


def to(address: str) -> Tracer:
    return Tracer(address, "none", content=True, delay=QUICK)


def test_nothing_is_lost_while_a_server_comes_late(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "atlas_search")
    port = free_port()
    tracer = to(f"http://127.0.0.1:{port}")
    spans(tracer, 3)
    (delivery,) = tracer.deliveries
    wait_for(lambda: delivery.problem or None, 60, "a first try")
    assert (tracer.waiting, tracer.dropped) == (3, 0)
    with collecting(port=port) as collector:
        assert len(collector.wait(3)) == 3
        spans(tracer, 1)
        assert len(collector.wait(4)) == 4
        tracer.close()
    assert (tracer.exported, tracer.dropped, delivery.problem) == (4, 0, "")
    told = [record.getMessage() for record in caplog.records if record.name == export.__name__]
    arrive = f"Phoenix at http://127.0.0.1:{port} gets spans now."
    assert "gets no spans yet" in told[0]
    assert "Waiting: 3, dropped: 0." in told[0]
    assert {record.levelname for record in caplog.records} == {"INFO"}  # for nothing is lost
    assert (told[-1], told.count(arrive)) == (arrive, 1)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_server_in_trouble_gets_the_same_spans_again(
    status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "EXPORT_SECONDS", 60.0)  # three tries of a busy machine take longer
    with collecting() as collector:
        collector.next += [status, "cut", status]
        tracer = to(collector.address)
        spans(tracer, 2)
        assert len(collector.wait(2)) == 2
        tracer.close()
        assert len(collector.requests) == 4
    assert (tracer.exported, tracer.dropped) == (2, 0)


@pytest.mark.parametrize("status", [302, 400, 401, 404, 405])
def test_what_is_refused_is_dropped_and_the_next_is_sent(status: int) -> None:
    with collecting() as collector:
        collector.next.append(status)
        tracer = to(collector.address)
        spans(tracer, 2)
        wait_for(lambda: tracer.dropped or None, 60, "the refusal")
        spans(tracer, 1)
        collector.wait(1)
        tracer.close()
    assert (tracer.exported, tracer.dropped) == (1, 2)


def test_a_loss_is_a_warning_at_once_though_the_log_was_told_before(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "atlas_search")
    with collecting() as collector:
        collector.next += [503, 401]
        tracer = to(collector.address)
        spans(tracer, 1)
        wait_for(lambda: tracer.dropped or None, 60, "the refusal")
        told = [each for each in caplog.records if "gets no spans" in each.getMessage()]
        tracer.close()
    assert [each.levelname for each in told] == ["INFO", "WARNING"]


def test_what_was_lost_before_makes_no_warning_of_spans_that_wait(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "LOG_SECONDS", 0.0)
    caplog.set_level(logging.INFO, "atlas_search")
    with collecting() as collector:
        collector.next += [401, 200, 503]
        tracer = to(collector.address)
        spans(tracer, 1)
        wait_for(lambda: tracer.dropped or None, 60, "the refusal")
        spans(tracer, 1)
        wait_for(lambda: tracer.exported or None, 60, "a span")
        spans(tracer, 1)
        wait_for(lambda: tracer.exported == 2 or None, 60, "another")
        told = [each for each in caplog.records if "gets no spans" in each.getMessage()]
        tracer.close()
    assert [each.levelname for each in told] == ["WARNING", "INFO"]
    assert "dropped: 1." in told[1].getMessage()


def test_a_lasting_500_is_given_up_after_a_while() -> None:
    with collecting(500) as collector:
        tracer = to(collector.address)
        spans(tracer, 2)
        wait_for(lambda: tracer.dropped == 2 or None, 60, "giving up")
        assert len(collector.requests) > 1
        tracer.close()


@pytest.mark.parametrize("body", ["garbage", "endless"])
def test_spans_have_arrived_whatever_a_good_answer_says(body: Broken) -> None:
    with collecting(body) as collector:
        tracer = to(collector.address)
        spans(tracer, 2)
        wait_for(lambda: tracer.exported or None, 60, "the answer")
        tracer.close()
    assert (tracer.exported, tracer.dropped) == (2, 0)


def test_spans_that_the_server_names_as_rejected_count_as_dropped() -> None:
    partial = ExportTracePartialSuccess(rejected_spans=2, error_message="too old")
    with collecting() as collector:
        collector.next.append(ExportTraceServiceResponse(partial_success=partial))
        tracer = to(collector.address)
        spans(tracer, 5)
        wait_for(lambda: tracer.exported or None, 60, "the answer")
        tracer.close()
    assert (tracer.exported, tracer.dropped) == (3, 2)


def test_a_batch_that_is_too_large_is_sent_in_parts() -> None:
    with collecting() as collector:
        collector.limit = 3
        tracer = to(collector.address)
        spans(tracer, 10)
        assert len({span.span_id for span in collector.wait(10)}) == 10
        tracer.close()
    assert (tracer.exported, tracer.dropped) == (10, 0)


def test_a_text_that_cannot_be_sent_takes_no_other_span_with_it() -> None:
    with collecting() as collector:
        tracer = to(collector.address)
        with tracer.root("broken", "CHAIN") as span:
            span.input("half a character: \ud800")
        spans(tracer, 4)
        broken, *others = sorted(collector.wait(5), key=lambda span: span.name)
        tracer.close()
    assert "input.value" not in broken.attributes
    assert len(others) == 4


@pytest.mark.parametrize("fault", FAULTS)
def test_an_answer_is_the_same_and_waits_for_nothing(built: Path, fault: int | Broken) -> None:
    with orchard(built) as well:
        plain = well.post("/api/ask", ASKED).json
    with (
        collecting(fault) as failing,
        orchard(built, phoenix_collector_endpoint=failing.address) as found,
    ):
        with found.tracer.root("before", "CHAIN"):
            pass
        failing.wait_for_requests(1)  # it fails, or hangs, from here on
        answer = found.post("/api/ask", ASKED).json
        stream = found.post("/api/ask/stream", ASKED).text
        found.atlas.close()  # while it still fails, or hangs
        assert found.tracer.waiting == 0
        phoenix, other = found.tracer.deliveries
        assert (other.queue.dropped, phoenix.queue.dropped + phoenix.queue.exported) == (
            0,
            other.queue.exported,
        )
    assert "event: complete" in stream
    assert {name for name in answer if answer[name] != plain[name]} <= CHANGING


def test_the_log_gets_a_line_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    tries: list[float] = []

    def clock() -> float:
        return now

    port = free_port()
    delivery = Delivery(phoenix_at(f"http://127.0.0.1:{port}"), lambda span: span, 5.0, clock)

    class Wait:
        def wait(self, seconds: float) -> bool:
            nonlocal now
            now += 10
            tries.append(now)
            return now >= 180

        def is_set(self) -> bool:
            return False

    delivery._stopped = Wait()  # type: ignore[assignment]
    with caplog.at_level(logging.DEBUG, "atlas_search"):
        assert delivery._send([]) == 0
    delivery.close(1)
    assert len(tries) == 18
    told = [message for message in caplog.messages if "gets no spans" in message]
    assert len(told) == 3
    assert f"Phoenix at http://127.0.0.1:{port} gets no spans yet" in told[0]


def test_a_header_that_http_does_not_know_is_no_crash(caplog: pytest.LogCaptureFixture) -> None:
    destination = replace(phoenix_at("http://127.0.0.1:9"), headers={"x-key": "lamp\noil é"})
    delivery = Delivery(destination, lambda span: span, QUICK)
    delivery.stop()
    assert delivery._deliver([]) == 0
    delivery.close(1)
    assert "lamp" not in caplog.text


def test_health_says_what_became_of_spans(built: Path) -> None:
    with orchard(built) as found:
        found.collector.always = 401
        found.post("/api/search", ASKED)
        wait_for(lambda: found.tracer.dropped or None, 60, "the refusal")
        found.spans()
        part = found.client.get("/api/health").json["parts"]["tracing"]
    assert part["status"] == "note"
    assert "it answers 401" in part["detail"]
    counts = f"spans sent: 0, waiting: 0, dropped: {found.tracer.dropped}"
    assert part["detail"].endswith(counts)
