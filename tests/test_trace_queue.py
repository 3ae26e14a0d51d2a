"""Where spans wait: bounded in number and bytes, the oldest dropped, all of them counted."""

import threading
from collections.abc import Iterator, Sequence

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider

from atlas_search.core.telemetry import export as queue
from atlas_search.core.telemetry.export import BATCH, SpanQueue
from tests.servers import wait_for

NEVER = 3600.0  # seconds: nothing is sent for its age


class Gate:
    """Takes spans once it is open; `sent` are their names."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.taken = threading.Event()
        self.sent: list[str] = []
        self.queue = SpanQueue(self.send, NEVER)
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(self.queue)
        self.tracer = self.provider.get_tracer("test")

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
    monkeypatch.setattr(queue, "QUEUE", 600)
    gate.end(BATCH)
    gate.taken.wait(60)
    gate.end(2000)
    assert (gate.queue.waiting, gate.queue.dropped) == (600, 2000 + BATCH - 600)
    gate.open.set()
    gate.queue.give_up(60)
    assert gate.sent[BATCH:] == [str(number) for number in range(2000 - (600 - BATCH), 2000)]
    assert (gate.queue.exported, gate.queue.waiting) == (600, 0)


def test_long_texts_count_by_their_length(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "QUEUE_BYTES", 100_000)
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


def test_what_is_left_at_the_end_is_dropped_and_counted_once(gate: Gate) -> None:
    gate.end(BATCH)
    gate.taken.wait(60)
    gate.end(7)
    gate.queue.give_up(0)
    assert (gate.queue.exported, gate.queue.dropped, gate.queue.waiting) == (0, BATCH + 7, 0)
    gate.end(2)
    gate.open.set()
    gate.queue.give_up(60)
    assert (gate.queue.exported, gate.queue.dropped) == (0, BATCH + 9)


def test_an_old_span_is_sent_without_being_asked_for() -> None:
    sent = threading.Event()
    made = SpanQueue(lambda spans: sent.set() or len(spans), 0.01)  # type: ignore[func-returns-value]
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(made)
    with provider.get_tracer("test").start_as_current_span("one"):
        pass
    assert sent.wait(60)
    made.give_up(60)
    assert made.exported == 1


def test_many_threads_lose_no_count(gate: Gate) -> None:
    gate.open.set()
    threads = [threading.Thread(target=gate.end, args=(400,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gate.queue.give_up(60)
    assert gate.queue.exported + gate.queue.dropped == 3200
