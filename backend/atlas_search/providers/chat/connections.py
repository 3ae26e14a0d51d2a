"""The HTTP connections that all calls to language models share."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING

from atlas_search.providers.http import readable_environment

if TYPE_CHECKING:
    from anyio.abc import TaskStatus
    from httpx2 import AsyncClient, Response

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
    async with http:
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
