"""Calls of language models: bounded, in turn, and ended the moment they should."""

import asyncio
import gc
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue

import pytest

from atlas_search.core.errors import (
    Cancelled,
    ConfigurationError,
    ModelBusy,
    ModelRefused,
    ModelUnavailable,
)
from atlas_search.core.stop import Stop
from atlas_search.providers.chat import ModelCalls

SOON = 20.0


@pytest.fixture
def calls() -> Iterator[ModelCalls]:
    opened = ModelCalls(limit=2, patience_seconds=SOON)
    yield opened
    opened.close()


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(64) as opened:
        yield opened


class Model:
    """Gives its name, waits until it is let go on, and gives it again. Says when it begins and
    ends."""

    def __init__(self, name: str, events: SimpleQueue[str], calls: ModelCalls):
        self.name = name
        self._events = events
        self._calls = calls
        self._go = asyncio.Event()

    async def __call__(self) -> AsyncGenerator[str, None]:
        self._events.put(f"{self.name} begins")
        try:
            yield self.name
            await self._go.wait()
            yield self.name
        finally:
            self._events.put(f"{self.name} ends")

    def go_on(self) -> None:
        """From any thread."""

        async def go() -> None:
            self._go.set()

        self._calls.at_once(go)


class Models:
    """Models that run in threads; `events` in order."""

    def __init__(self, calls: ModelCalls, pool: ThreadPoolExecutor):
        self.events: SimpleQueue[str] = SimpleQueue()
        self.stops: dict[str, Stop] = {}
        self._calls, self._pool = calls, pool
        self._models: dict[str, Model] = {}

    def start(self, name: str) -> Future[list[str]]:
        self.stops[name] = Stop()
        self._models[name] = Model(name, self.events, self._calls)
        return self._pool.submit(
            lambda: list(self._calls.iterate(self._models[name], self.stops[name]))
        )

    def go_on(self, name: str) -> None:
        self._models[name].go_on()

    def next(self, count: int = 1) -> list[str]:
        return [self.events.get(timeout=SOON) for _ in range(count)]


@pytest.fixture
def models(calls: ModelCalls, pool: ThreadPoolExecutor) -> Models:
    return Models(calls, pool)


def until(condition: Callable[[], bool]) -> None:
    """Wait for what no event tells."""
    end = time.monotonic() + SOON
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


async def forever() -> None:
    await asyncio.Event().wait()


async def number() -> int:
    return 7


def carriers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "model-calls"]


async def letters() -> AsyncGenerator[str, None]:
    yield "a"
    await asyncio.sleep(0)
    yield "b"


def test_pieces_of_a_call_come_in_order(calls: ModelCalls) -> None:
    assert list(calls.iterate(letters, Stop())) == ["a", "b"]
    assert calls.run(number, Stop()) == 7
    assert (calls.running, calls.waiting) == (0, 0)


def test_an_error_of_a_call_comes_as_it_is_after_its_pieces(calls: ModelCalls) -> None:
    async def failing() -> AsyncGenerator[str, None]:
        yield "a"
        raise ModelRefused("No such model.")

    stream = calls.iterate(failing, Stop())
    assert next(stream) == "a"
    with pytest.raises(ModelRefused, match="No such model"):
        next(stream)
    assert calls.running == 0


def test_no_more_calls_run_than_are_allowed(calls: ModelCalls, pool: ThreadPoolExecutor) -> None:
    peak: list[int] = []

    async def brief() -> None:
        for _ in range(5):
            peak.append(calls.running)
            await asyncio.sleep(0)

    list(pool.map(lambda _: calls.run(brief, Stop()), range(64)))
    assert max(peak) == 2
    assert len(peak) == 5 * 64
    assert (calls.running, calls.waiting) == (0, 0)


def test_calls_begin_in_the_order_they_came(calls: ModelCalls, models: Models) -> None:
    running = [models.start("a"), models.start("b")]
    models.next(2)
    for position, name in enumerate("cdef", 1):
        running.append(models.start(name))
        until(lambda position=position: calls.waiting == position)
    for ending, beginning in zip("abcd", "cdef", strict=True):
        models.go_on(ending)
        assert models.next(2) == [f"{ending} ends", f"{beginning} begins"]
    for name in "ef":
        models.go_on(name)
    assert [future.result(SOON) for future in running] == [[name, name] for name in "abcdef"]


def test_a_caller_who_stops_waiting_lets_the_next_one_pass(
    calls: ModelCalls, models: Models
) -> None:
    running = [models.start("a"), models.start("b")]
    models.next(2)
    running.append(models.start("c"))
    until(lambda: calls.waiting == 1)
    running.append(models.start("d"))
    until(lambda: calls.waiting == 2)
    models.stops["c"].set()
    with pytest.raises(Cancelled):
        running[2].result(SOON)
    assert (calls.running, calls.waiting) == (2, 1)
    models.go_on("a")
    assert models.next(2) == ["a ends", "d begins"]
    for name in "bd":
        models.go_on(name)
    assert running[3].result(SOON) == ["d", "d"]


def test_a_caller_who_waits_too_long_learns_that_the_model_is_busy() -> None:
    calls = ModelCalls(limit=1, patience_seconds=0.05)

    async def something() -> AsyncGenerator[str, None]:
        yield "a"
        await forever()

    stream = calls.iterate(something, Stop())
    assert next(stream) == "a"
    with pytest.raises(ModelBusy, match=r"answers 1 others.*LLM_CONCURRENCY") as caught:
        calls.run(number, Stop())
    assert caught.value.retry_after == 0.05
    assert (calls.running, calls.waiting) == (1, 0)
    stream.close()
    assert calls.run(number, Stop()) == 7
    calls.close()


def test_a_stop_ends_a_call_and_frees_its_place(calls: ModelCalls, models: Models) -> None:
    running = models.start("a")
    assert models.next() == ["a begins"]
    models.stops["a"].set()
    with pytest.raises(Cancelled):
        running.result(SOON)
    assert models.next() == ["a ends"]
    assert calls.running == 0


def test_a_stop_passes_over_pieces_that_nobody_read(calls: ModelCalls) -> None:
    stop = Stop()
    stream = calls.iterate(letters, stop)
    assert next(stream) == "a"
    stop.set()
    with pytest.raises(Cancelled):
        next(stream)


def test_a_call_that_is_stopped_before_it_begins_never_does(calls: ModelCalls) -> None:
    stop = Stop()
    stop.set()
    with pytest.raises(Cancelled):
        calls.run(number, stop)
    assert not calls.started


def test_a_stream_that_is_closed_or_forgotten_ends_the_call(
    calls: ModelCalls, models: Models
) -> None:
    stream = calls.iterate(Model("a", models.events, calls), Stop())
    assert next(stream) == "a"
    stream.close()
    assert models.next(2) == ["a begins", "a ends"]
    assert next(calls.iterate(Model("b", models.events, calls), Stop())) == "b"
    gc.collect()
    assert models.next(2) == ["b begins", "b ends"]
    assert calls.running == 0


def test_a_short_question_is_asked_beside_the_calls(calls: ModelCalls, models: Models) -> None:
    running = [models.start("a"), models.start("b")]
    models.next(2)
    assert calls.at_once(number) == 7
    for name in "ab":
        models.go_on(name)
    assert [future.result(SOON) for future in running] == [["a", "a"], ["b", "b"]]


def test_the_thread_begins_with_the_first_call_and_ends_with_the_last() -> None:
    before = len(carriers())
    calls = ModelCalls(limit=1, patience_seconds=SOON)
    assert (calls.started, len(carriers())) == (False, before)
    calls.run(number, Stop())
    calls.run(number, Stop())
    assert (calls.started, len(carriers())) == (True, before + 1)
    http = calls.http
    calls.close()
    calls.close()
    assert (calls.started, len(carriers()), http.is_closed) == (False, before, True)


def test_calls_that_run_or_wait_at_the_end_are_told(calls: ModelCalls, models: Models) -> None:
    running = [models.start(name) for name in "abc"]
    models.next(2)
    until(lambda: calls.waiting == 1)
    calls.close()
    for future in running:
        with pytest.raises(ModelUnavailable, match="shutting down"):
            future.result(SOON)
    assert (calls.running, calls.waiting) == (0, 0)


def test_no_call_begins_after_the_end(calls: ModelCalls) -> None:
    calls.close()
    with pytest.raises(ModelUnavailable, match="shutting down"):
        calls.run(number, Stop())
    with pytest.raises(ModelUnavailable, match="shutting down"):
        _ = calls.http


def test_a_proxy_that_cannot_be_one_is_reported(
    calls: ModelCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "nonsense://proxy")
    with pytest.raises(ConfigurationError, match=r"nonsense.*Correct HTTP_PROXY"):
        calls.run(number, Stop())
    monkeypatch.delenv("ALL_PROXY")
    assert calls.run(number, Stop()) == 7
