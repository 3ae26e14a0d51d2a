"""The protocol of language models, `ChatModel`, and the carrier of all calls to them.

So many calls run at once, the others wait their turn, and each ends the moment it should.

The calls are tasks of one event loop in a thread of its own, because a task, unlike a thread that
reads a socket, can be stopped wherever it waits.
"""

import asyncio
import threading
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterator,
    Mapping,
    Sequence,
)
from concurrent.futures import Future
from contextlib import (
    AbstractAsyncContextManager,
    ExitStack,
    aclosing,
    asynccontextmanager,
    nullcontext,
    suppress,
)
from contextvars import ContextVar
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from atlas_search.core.addresses import bounded
from atlas_search.core.errors import ModelBusy, ModelUnavailable
from atlas_search.core.stop import Stop
from atlas_search.providers.http import readable_environment

if TYPE_CHECKING:
    from anyio.abc import TaskStatus
    from anyio.from_thread import BlockingPortal
    from httpx2 import AsyncClient, Response


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """The settings of a call. No call, its retries included, takes longer than `seconds`.

    `schema` is the JSON schema of the text to write, for a provider that takes one.
    """

    model: str
    temperature: float
    max_tokens: int
    seconds: float
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens a model read and wrote; zero where no language model ran."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        """The tokens of both calls."""
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True, slots=True)
class Ended:
    """The last item of a stream that came to its end.

    `model` is what the server says it ran. `reason` is `length` if `max_tokens` cut the text, and
    `filtered` if the provider withheld it.
    """

    usage: Usage
    model: str
    reason: Literal["stop", "length", "filtered"]


@dataclass(frozen=True, slots=True)
class Health:
    """The state of a model: `ready` to be used; if not, `detail` says why and what to do."""

    ready: bool
    detail: str = ""


class ChatModel(Protocol):
    """A language model behind a provider. Safe to use from several threads.

    Calls wait for their turn behind earlier ones. They raise ModelRefused where trying again
    cannot help, ModelUnavailable where it can, and Cancelled at once when `stop` is set.
    """

    name: str
    default_model: str

    def stream(
        self, messages: Sequence[Message], options: ChatOptions, stop: Stop
    ) -> Generator[str | Ended, None, None]:
        """The text in pieces as they come, then Ended. Closing the iterator ends the call.

        A connection that is lost on the way raises ModelUnavailable; text may have come before.
        """

    def health(self, model: str) -> Health:
        """Check now that the provider can be reached and takes the key (some seconds)."""


LONGEST_REPLY = 8_000_000
"""Bytes of a reply: 25,000 tokens as events. The clients put an event together in square time."""

_OPENED: ContextVar[list["Response"]] = ContextVar("opened")
"""The responses that the present task has got, if somebody wants to know."""


async def keep_connections(idle: int, *, task_status: "TaskStatus[AsyncClient]") -> None:
    """Open a client, and close it when cancelled. It opens any number, and keeps `idle` of them.

    Raises ConfigurationError for an environment that allows none.
    """
    from anyio import sleep_forever
    from httpx2 import AsyncClient, Limits  # 0.15 s: only who calls a model pays

    limits = Limits(max_connections=None, max_keepalive_connections=idle)
    hooks = {"response": [_remember]}
    with readable_environment():
        http = AsyncClient(follow_redirects=True, limits=limits, event_hooks=hooks)
    async with bounded(http, LONGEST_REPLY):
        task_status.started(http)
        await sleep_forever()


@asynccontextmanager
async def closing_responses() -> AsyncIterator[None]:
    """End every response that this task gets in the block, however the block ends.

    A client that is stopped between getting a response and handing it on forgets to: Mistral's
    runs its hooks there, and the model would go on writing for nobody.
    """
    from anyio import CancelScope

    opened: list[Response] = []
    _OPENED.set(opened)
    try:
        yield
    finally:
        with CancelScope(shield=True):
            for response in opened:
                await response.aclose()


async def _remember(response: "Response") -> None:
    with suppress(LookupError):
        _OPENED.get().append(response)


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
        """True while the thread runs."""
        return self._portal is not None

    @property
    def http(self) -> "AsyncClient":
        """The connections that all calls share. They close with the calls."""
        with self._lock:
            self._start()
            return self._http

    def iterate(self, source: Source[Item], stop: Stop) -> Iterator[Item]:
        """Yield the items of `source` as they come, once it is this call's turn.

        Raises what `source` raises, and Cancelled at once when `stop` is set. When the iterator
        has ended, or is closed, the place is free again.
        """
        return self._read(source, stop, self._turn())

    def run(self, work: Callable[[], Awaitable[Item]], stop: Stop) -> Item:
        """Return the result of `work`, under the rules of `iterate`."""
        (result,) = self.iterate(lambda: _only(work), stop)
        return result

    def at_once(self, work: Callable[[], Awaitable[Item]]) -> Item:
        """Return the result of `work`, without a turn and beside the bound: for short requests."""
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
        future.add_done_callback(call.outcomes.put)
        try:
            with stop.calling(future.cancel):
                while isinstance(outcome := call.outcomes.get(), _Yield):
                    stop.check()
                    yield outcome.item
        finally:
            future.cancel()
            if threading.get_ident() != self._thread:  # the garbage collector may close it there
                call.ended.wait()
        stop.check()
        if outcome.cancelled():
            raise ModelUnavailable(_CLOSED)
        outcome.result()

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
class _Yield(Generic[Item]):
    item: Item


class _Call(Generic[Item]):
    """A task of the loop. `outcomes` holds its items so far, and last of all its future.

    Nothing holds the task back if nobody reads: a model's text is bounded by its tokens.
    """

    def __init__(self, source: Source[Item], turn: Turn):
        self.outcomes: SimpleQueue[_Yield[Item] | Future[None]] = SimpleQueue()
        self.ended = threading.Event()
        self._source, self._turn = source, turn

    async def __call__(self) -> None:
        try:
            async with self._turn, closing_responses(), aclosing(self._source()) as items:
                async for item in items:
                    self.outcomes.put(_Yield(item))
        finally:
            self.ended.set()


async def _only(work: Callable[[], Awaitable[Item]]) -> AsyncGenerator[Item, None]:
    yield await work()
