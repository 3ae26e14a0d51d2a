"""Carrying all calls to language models: so many at once, in turn, ended the moment they should.

The calls are tasks of one event loop in a thread of its own, because a task, unlike a thread that
reads a socket, can be stopped wherever it waits.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import (
    AbstractAsyncContextManager,
    ExitStack,
    aclosing,
    asynccontextmanager,
    nullcontext,
)
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Generic, TypeVar

from atlas_search.core.errors import ModelBusy, ModelUnavailable
from atlas_search.core.stop import Stop
from atlas_search.providers.chat.connections import closing_responses, keep_connections

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal
    from httpx2 import AsyncClient

Item = TypeVar("Item")
Source = Callable[[], AsyncGenerator[Item, None]]
Turn = AbstractAsyncContextManager[None]

_CLOSED = "Atlas is shutting down. Try again when it is up."


class ModelCalls:
    """At most `limit` calls run at once; the others wait in the order they came.

    One that waits longer than `patience_seconds` gets ModelBusy. `running` and `waiting` say how
    many do. A thread is started by the first call, and ended by `close`.
    """

    def __init__(self, limit: int, patience_seconds: float):
        self._limit = limit
        self._patience = patience_seconds
        self._places = asyncio.Semaphore(limit)
        self._lock = threading.Lock()
        self._closed = False
        self._portal: BlockingPortal | None = None
        self._http: AsyncClient
        self.running = 0
        self.waiting = 0

    @property
    def started(self) -> bool:
        """Whether the thread runs."""
        return self._portal is not None

    @property
    def http(self) -> "AsyncClient":
        """The connections that all calls share. They close with the calls."""
        with self._lock:
            self._start()
            return self._http

    def iterate(self, source: Source[Item], stop: Stop) -> Iterator[Item]:
        """What `source` gives, as it comes, once it is this call's turn.

        Raises what `source` raises, and Cancelled at once when `stop` is set. When the iterator
        has ended, or is closed, the place is free again.
        """
        return self._read(source, stop, self._turn())

    def run(self, work: Callable[[], Awaitable[Item]], stop: Stop) -> Item:
        """What `work` gives, under the same rules."""
        (result,) = self.iterate(lambda: _only(work), stop)
        return result

    def at_once(self, work: Callable[[], Awaitable[Item]]) -> Item:
        """What `work` gives, without a turn and beside the bound: for short questions."""
        (result,) = self._read(lambda: _only(work), Stop(), nullcontext())
        return result

    def close(self) -> None:
        """End the calls that run or wait, with ModelUnavailable, then the connections and thread.

        Later calls fail likewise.
        """
        with self._lock:
            self._closed = True
            portal, self._portal = self._portal, None
        if portal:
            portal.call(portal.stop, True)
            self._opened.close()

    def _read(self, source: Source[Item], stop: Stop, turn: Turn) -> Iterator[Item]:
        stop.check()
        call = _Call(source, turn)
        with self._lock:  # so that no call begins after the loop's end
            future = self._start().start_task_soon(call)
        future.add_done_callback(call.given.put)
        try:
            with stop.calling(future.cancel):
                while isinstance(given := call.given.get(), _Given):
                    stop.check()
                    yield given.item
        finally:
            future.cancel()
            if threading.get_ident() != self._thread:  # the garbage collector may close it there
                call.ended.wait()
        stop.check()
        if given.cancelled():
            raise ModelUnavailable(_CLOSED)
        given.result()

    def _start(self) -> "BlockingPortal":
        from anyio.from_thread import start_blocking_portal

        if self._closed:
            raise ModelUnavailable(_CLOSED)
        if not self._portal:
            with ExitStack() as opened:
                portal = opened.enter_context(start_blocking_portal(name="model-calls"))
                self._thread = portal.call(threading.get_ident)
                _, self._http = portal.start_task(keep_connections, self._limit)
                self._portal, self._opened = portal, opened.pop_all()
        return self._portal

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        await self._wait()
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            self._places.release()

    async def _wait(self) -> None:
        self.waiting += 1
        try:
            async with asyncio.timeout(self._patience):
                await self._places.acquire()
        except TimeoutError as error:
            raise ModelBusy(
                f"The language model answers {self._limit} others, and none ended within "
                f"{self._patience:g} seconds. Try again later, or raise LLM_CONCURRENCY (if the "
                "provider allows it) or LLM_QUEUE_SECONDS.",
                self._patience,
            ) from error
        finally:
            self.waiting -= 1


@dataclass(frozen=True, slots=True)
class _Given(Generic[Item]):
    item: Item


class _Call(Generic[Item]):
    """A task of the loop. `given` holds what it gave so far, and last of all its future.

    Nothing holds the task back if nobody reads: a model's text is bounded by its tokens.
    """

    def __init__(self, source: Source[Item], turn: Turn):
        self.given: SimpleQueue[_Given[Item] | Future[None]] = SimpleQueue()
        self.ended = threading.Event()
        self._source, self._turn = source, turn

    async def __call__(self) -> None:
        try:
            async with self._turn, closing_responses(), aclosing(self._source()) as items:
                async for item in items:
                    self.given.put(_Given(item))
        finally:
            self.ended.set()


async def _only(work: Callable[[], Awaitable[Item]]) -> AsyncGenerator[Item, None]:
    yield await work()
