"""An event loop in a thread of its own, with the HTTP connections that its tasks share."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING

from atlas_search.core.errors import ConfigurationError

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Response

_OPENED: ContextVar[list["Response"]] = ContextVar("opened")
"""The responses that the present task has got, if somebody wants to know."""


class EventLoop:
    """A running loop. `http` keeps up to `connections` idle connections, and opens any number."""

    def __init__(self, connections: int):
        ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event, AsyncClient]] = Future()
        # a daemon, so that a process that does not close it can end nevertheless
        self._thread = threading.Thread(
            target=lambda: asyncio.run(_serve(connections, ready)), name="model-calls", daemon=True
        )
        self._thread.start()
        self._loop, self._closing, self.http = ready.result()

    def soon(self, callback: Callable[[], object]) -> None:
        """Call `callback` in the loop, in the order asked for; not at all once it has closed."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(callback)

    @property
    def is_this_thread(self) -> bool:
        """Whether the caller runs in the loop."""
        return threading.current_thread() is self._thread

    def close(self) -> None:
        """Cancel all tasks and wait for their end; then end the connections and the thread."""
        self.soon(self._closing.set)
        self._thread.join()


@asynccontextmanager
async def closing_responses() -> AsyncIterator[None]:
    """End every response that this task gets in the block, however the block ends.

    A client that is stopped between getting a response and handing it on forgets to: Mistral's
    runs its hooks there, and the model would go on writing for nobody.
    """
    opened: list[Response] = []
    _OPENED.set(opened)
    try:
        yield
    finally:
        # tasks of their own: this one may be stopped again
        left = [asyncio.create_task(r.aclose()) for r in opened if not r.is_closed]
        if left:
            await asyncio.wait(left)


async def _remember(response: "Response") -> None:
    with suppress(LookupError):
        _OPENED.get().append(response)


async def _serve(
    connections: int,
    ready: "Future[tuple[asyncio.AbstractEventLoop, asyncio.Event, AsyncClient]]",
) -> None:
    from httpx2 import AsyncClient, Limits  # 0.15 s: only who calls a model pays

    closing = asyncio.Event()
    limits = Limits(max_connections=None, max_keepalive_connections=connections)
    try:
        hooks = {"response": [_remember]}
        http = AsyncClient(follow_redirects=True, limits=limits, event_hooks=hooks)
    except Exception as error:  # of what the environment says; httpx2 raises many kinds
        ready.set_exception(_not_opened(error))
        return
    async with http:
        ready.set_result((asyncio.get_running_loop(), closing, http))
        await closing.wait()
        await _end_others()


async def _end_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def _not_opened(error: Exception) -> ConfigurationError:
    failure = ConfigurationError(
        f"Connections to language models cannot be made ({type(error).__name__}: {error}). Mend "
        "HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE or SSL_CERT_DIR in the environment."
    )
    failure.__cause__ = error
    return failure
