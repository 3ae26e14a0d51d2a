"""Requests to the API from within its server, and an ASGI application behind a WSGI one.

A tool or a chat front end is answered by requests to the present API, so that keys, corpora,
limits, audit and traces are those of any request.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from concurrent.futures import CancelledError
from contextlib import AbstractAsyncContextManager
from contextvars import Context
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any
from wsgiref.util import is_hop_by_hop

from atlas_search.core.errors import Unavailable

if TYPE_CHECKING:
    from httpx2 import Client

Environ = dict[str, Any]
Wsgi = Callable[[Environ, Callable[..., Any]], Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Message, Receive, Send], Awaitable[None]]

POLL_SECONDS = 0.5  # how soon a client that went away is noticed while nothing is sent
GONE = "waitress.client_disconnected"
# what one request says of itself and not of its sender
_OWN = frozenset(
    f"HTTP_{name}"
    for name in "ACCEPT ACCEPT_ENCODING CONNECTION EXPECT LAST_EVENT_ID TRANSFER_ENCODING".split()
)
_PASSED_ON = ("REMOTE_ADDR", "REMOTE_HOST", "wsgi.url_scheme", "atlas.forwarded", GONE)


def client_within(app: Wsgi, outer: Environ) -> "Client":
    """Return a client of `app` whose requests come from the sender of the `outer` request."""
    from httpx2 import Client, WSGITransport

    sender = {
        name: value
        for name, value in outer.items()
        if name in _PASSED_ON or (name.startswith("HTTP_") and name not in _OWN)
    }

    def inner(environ: Environ, start_response: Callable[..., Any]) -> "_Apart":
        return _Apart(app, environ | sender, start_response)

    transport = WSGITransport(app=inner, raise_app_exceptions=False)
    return Client(transport=transport, headers={"accept-encoding": "identity"}, timeout=None)


class _Apart:
    """A response that is made in a context of its own: Flask would share that of the outer one."""

    def __init__(self, app: Wsgi, environ: Environ, start_response: Callable[..., Any]):
        self._context = Context()
        self._chunks = self._context.run(app, environ, start_response)
        self._left = self._context.run(iter, self._chunks)

    def __iter__(self) -> "_Apart":
        return self

    def __next__(self) -> bytes:
        chunk: bytes = self._context.run(next, self._left)
        return chunk

    def close(self) -> None:
        if hasattr(self._chunks, "close"):
            self._context.run(self._chunks.close)


class AsgiBridge:
    """An ASGI application that is answered from threads of a WSGI server.

    One thread of its own runs its event loop, from the first request on. Safe to use from several
    threads.
    """

    def __init__(self, app: Asgi, lifespan: Callable[[], AbstractAsyncContextManager[None]]):
        self._app = app
        self._lifespan = lifespan
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def answer(
        self, environ: Environ, body: bytes, extra: Mapping[str, Any]
    ) -> tuple[int, list[tuple[str, str]], Iterator[bytes]]:
        """Status, headers and body of the answer; `extra` is added to the scope.

        An answer that nobody reads any more is cancelled. Raises Unavailable if there is none.
        """
        exchange = _Exchange(self._running(), body, environ.get(GONE, lambda: False))
        exchange.begin(self._app, {**_scope(environ), **extra})
        start = exchange.next()
        if start is None:
            raise Unavailable("The request ended without an answer; the server's log says why.")
        headers = ((n.decode("latin-1"), v.decode("latin-1")) for n, v in start["headers"])
        own = [(name, value) for name, value in headers if not is_hop_by_hop(name)]
        return start["status"], own, exchange.chunks()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                begun = threading.Event()
                threading.Thread(
                    target=self._loop.run_until_complete,
                    args=(self._live(begun),),
                    name="asgi",
                    daemon=True,
                ).start()
                begun.wait()
            return self._loop

    async def _live(self, begun: threading.Event) -> None:
        async with self._lifespan():
            begun.set()
            await asyncio.Event().wait()


class _Exchange:
    """One request and its answer, message by message."""

    def __init__(self, loop: asyncio.AbstractEventLoop, body: bytes, gone: Callable[[], bool]):
        self._loop = loop
        self._gone = gone
        self._messages: SimpleQueue[Message | None] = SimpleQueue()
        self._body: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    def begin(self, app: Asgi, scope: Message) -> None:
        async def run() -> None:
            try:
                await app(scope, self._receive, self._send)
            finally:
                self._messages.put(None)

        self._task = asyncio.run_coroutine_threadsafe(run(), self._loop)

    def next(self) -> Message | None:
        """The next message; None after the last, or once the client has gone."""
        while True:
            try:
                return self._messages.get(timeout=POLL_SECONDS)
            except Empty:
                if self._gone():
                    self._task.cancel()
                    return None

    def chunks(self) -> Iterator[bytes]:
        try:
            while message := self.next():
                if message.get("body"):
                    yield message["body"]
                if not message.get("more_body"):
                    return
        finally:
            self._task.cancel()

    async def _receive(self) -> Message:
        if self._body:
            return self._body.pop()
        await asyncio.Event().wait()  # until it is cancelled
        raise CancelledError

    async def _send(self, message: Message) -> None:
        self._messages.put(message)


def _scope(environ: Environ) -> Message:
    headers = [
        (name.removeprefix("HTTP_").lower().replace("_", "-").encode(), value.encode("latin-1"))
        for name, value in environ.items()
        if name.startswith("HTTP_") or name in ("CONTENT_TYPE", "CONTENT_LENGTH")
    ]
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.5"},
        "http_version": "1.1",
        "method": environ["REQUEST_METHOD"],
        "scheme": environ.get("wsgi.url_scheme", "http"),
        "path": environ.get("PATH_INFO", ""),
        "raw_path": environ.get("PATH_INFO", "").encode("latin-1"),
        "root_path": "",
        "query_string": environ.get("QUERY_STRING", "").encode("ascii"),
        "headers": headers,
        "client": (environ.get("REMOTE_ADDR", ""), 0),
        "server": (environ.get("SERVER_NAME", ""), int(environ.get("SERVER_PORT") or 0)),
    }
