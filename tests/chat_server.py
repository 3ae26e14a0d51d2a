"""A local HTTP server of a model provider: it answers as told, and remembers what it was asked."""

import json
import re
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, TypeVar

from tests.servers import Handler, listening

KEY = "the-key-of-the-test"
TEXT = "The court held the statute void [case p1]."
GLANCE_SECONDS = 0.02


@dataclass(frozen=True)
class Request:
    """One request as it came: its path and its JSON."""

    path: str
    body: Mapping[str, Any]

    @property
    def prompt(self) -> str:
        """The texts of all messages."""
        return "\n".join(message["content"] for message in self.body["messages"])


@dataclass(frozen=True)
class Reply:
    """An answer to give whatever is asked. `body` is JSON unless it is text already."""

    status: int = 200
    body: object = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


class Silence:
    """No answer while the server runs."""


class Hang:
    """In an answer: nothing more comes, and the connection stays."""


class Cut:
    """The connection breaks in the middle of an answer."""


class Gate(threading.Event):
    """In an answer: what follows comes once the gate is set."""


@dataclass(frozen=True)
class Pause:
    """In an answer: what follows takes so many seconds, as it does with a model."""

    seconds: float


@dataclass(frozen=True)
class Raw:
    """In an answer: the data of an event as it is, not a piece of the text."""

    data: str


Part = str | Gate | Hang | Cut | Pause | Raw


class Says:
    """A model's answer in parts; each text is one event of a stream.

    `finish` is the provider's word for why the text ends; empty: the stream ends without one.
    `usage` are the tokens read and written; None: the server does not say.
    """

    def __init__(self, *parts: Part, finish: str = "stop", usage: tuple[int, int] | None = (11, 7)):
        self.parts = parts
        self.finish = finish
        self.usage = usage


Told = Reply | Silence | Cut | Says


def sentence(text: str, *passages: int) -> str:
    """A sentence of the form that a model is asked for, with the numbers of its passages."""
    return json.dumps({"text": text, "passages": passages})


class ChatServer:
    """`requests` are those so far. Replies told with `then` come first, in order, each once.

    `arrived` gives each request as it comes, `left` each whose client went away before the end of
    its answer, and `connections` counts those that clients opened.
    """

    path = "/v1"

    def __init__(self, address: str):
        self.address = address
        self.requests: list[Request] = []
        self.arrived: SimpleQueue[Request] = SimpleQueue()
        self.left: SimpleQueue[Request] = SimpleQueue()
        self.connections = 0
        self.key = KEY
        self.told: deque[Told] = deque()
        self.stopping = threading.Event()
        self._answer: Callable[[Request], Told] = lambda _: said(TEXT)

    def then(self, *replies: Told) -> None:
        """Answer the next requests so, whatever they ask."""
        self.told.extend(replies)

    def says(self, answer: str | Callable[[Request], str | Told]) -> None:
        """Answer with this text from now on, or with what a function makes of the request."""

        def answered(request: Request) -> Told:
            given = answer if isinstance(answer, str) else answer(request)
            return said(given) if isinstance(given, str) else given

        self._answer = answered

    def answer(self, request: Request) -> Told:
        """What the provider would answer to a request."""
        if request.path != f"{self.path}/chat/completions":
            return Reply(404, {"detail": "Not Found"})
        if request.body["model"] not in self.models:
            return self.unknown_model(request.body["model"])
        return self._answer(request)

    # what the providers differ in

    models: Sequence[str] = ()
    unauthorized = Reply(401)

    def list_of_models(self) -> Reply:
        """The answer to the question for them."""
        raise NotImplementedError

    def unknown_model(self, model: str) -> Reply:
        """The answer to a request for a model that does not exist."""
        raise NotImplementedError

    def events(self, request: Request, says: Says) -> Iterator[Part]:
        """The events of a stream: Raw where there is data to send."""
        raise NotImplementedError


def said(text: str) -> Says:
    """A text, word by word."""
    return Says(*re.findall(r"\s*\S+\s*", text))


Server = TypeVar("Server", bound=ChatServer)


@contextmanager
def serving(make: Callable[[str], Server]) -> Iterator[Server]:
    """A running server."""
    with listening(_Handler, make) as server:
        try:
            yield server
        finally:
            server.stopping.set()


class _Broken(Exception):
    """The answer ends here, and its connection with it."""


class _Handler(Handler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self.chat: ChatServer = self.kept
        self.chat.connections += 1

    def handle(self) -> None:
        with suppress(ConnectionError):  # the client went away between two requests
            super().handle()

    def do_GET(self) -> None:
        if self.headers["Authorization"] != f"Bearer {self.chat.key}":
            self._send(self.chat.unauthorized)
            return
        self._answer(Request(self.path, {}), self._told() or self.chat.list_of_models())

    def do_POST(self) -> None:
        request = Request(self.path, json.loads(self.body()))
        self.chat.requests.append(request)
        self.chat.arrived.put(request)
        if self.headers["Authorization"] != f"Bearer {self.chat.key}":
            self._send(self.chat.unauthorized)
            return
        self._answer(request, self._told() or self.chat.answer(request))

    def _told(self) -> Told | None:
        return self.chat.told.popleft() if self.chat.told else None

    def _answer(self, request: Request, told: Told) -> None:
        try:
            if isinstance(told, Silence):
                self._wait(threading.Event())
            elif isinstance(told, Reply):
                self._send(told)
            elif isinstance(told, Cut):
                self.send(200, "{", {"Content-Length": "10"})
                self.close_connection = True
            else:
                self._stream(request, told)
        except _Broken:
            self.close_connection = True
        except OSError:  # the client went away while it was written to
            self.chat.left.put(request)
            self.close_connection = True
        except _Left:
            self.chat.left.put(request)
            self.close_connection = True

    def _stream(self, request: Request, says: Says) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for part in self.chat.events(request, says):
            if isinstance(part, Raw):
                self._chunk(f"data: {part.data}\n\n")
            else:
                self._pause(part)
        self._chunk("data: [DONE]\n\n")
        self._chunk("")

    def _pause(self, part: Part) -> None:
        if isinstance(part, Cut):
            raise _Broken
        if isinstance(part, Pause):
            time.sleep(part.seconds)
            return
        self._wait(part if isinstance(part, Gate) else threading.Event())

    def _wait(self, event: threading.Event) -> None:
        """Wait for it, but not longer than the client does or the server runs."""
        while not event.wait(GLANCE_SECONDS):
            if self.chat.stopping.is_set():
                raise _Broken
            poll = select.poll()  # `select` fails at the 1024th file
            poll.register(self.connection, select.POLLIN)
            if poll.poll(0) and not self.connection.recv(1, socket.MSG_PEEK):
                raise _Left

    def _chunk(self, data: str) -> None:
        content = data.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(content), content))

    def _send(self, reply: Reply) -> None:
        self.send(reply.status, reply.body, {"Content-Type": "application/json", **reply.headers})


class _Left(Exception):
    """The client closed its connection."""


def chunk(
    model: str,
    choices: Sequence[Mapping[str, object]],
    usage: tuple[int, int] | None,
) -> dict[str, object]:
    """What Mistral and OpenAI send, of a piece of an answer."""
    body = {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": model,
        "choices": choices,
    }
    if usage is None:
        return body
    read, written = usage
    counts = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    return body | {"usage": counts}
