"""A local HTTP server that speaks Mistral's API, answers as told, and remembers the requests."""

import json
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "the-key-of-the-test"
DIMENSION = 4
TEXTS_PER_REQUEST = 512


@dataclass(frozen=True)
class Request:
    """One request as it came: its path and its JSON."""

    path: str
    body: Mapping[str, Any]


@dataclass(frozen=True)
class Reply:
    """An answer to give whatever is asked. `body` is JSON unless it is text already."""

    status: int = 200
    body: object = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


class Silence:
    """No answer while the server runs."""


class MistralServer:
    """`requests` are those so far. Replies told with `then` come first, in order, each once."""

    def __init__(self, address: str):
        self.address = address
        self.requests: list[Request] = []
        self.told: deque[Reply | Silence] = deque()
        self.stopping = threading.Event()

    def then(self, *replies: Reply | Silence) -> None:
        """Answer the next requests so, whatever they ask."""
        self.told.extend(replies)

    @property
    def texts(self) -> list[list[str]]:
        """The texts of each embedding request."""
        return [request.body["input"] for request in self.requests]

    def answer(self, request: Request) -> Reply:
        """What Mistral would answer."""
        if request.path == "/v1/embeddings":
            return _embeddings(request.body)
        return Reply(404, {"detail": "Not Found"})


def embedding(text: str) -> list[float]:
    """The vector the server gives for a text. It is not of unit length."""
    return [float(len(text)), 1.0, float(text.count("e")), float(text.count(" "))]


def embeddings(vectors: Sequence[Sequence[float]]) -> dict[str, object]:
    """The body of an answer with these vectors."""
    data = [
        {"object": "embedding", "embedding": vector, "index": index}
        for index, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": len(vectors), "total_tokens": len(vectors), "completion_tokens": 0}
    return {
        "id": "e1",
        "object": "list",
        "data": data,
        "model": "mistral-embed",
        "usage": usage,
    }


def refusal(message: str, code: str) -> dict[str, object]:
    """The body of an answer to a request that Mistral does not take."""
    return {
        "object": "error",
        "message": message,
        "type": "invalid_request",
        "param": None,
        "code": code,
    }


@contextmanager
def mistral_server() -> Iterator[MistralServer]:
    """A running server."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server = MistralServer(f"http://127.0.0.1:{http.server_port}")
    http.mistral = server  # type: ignore[attr-defined]
    thread = threading.Thread(target=http.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        http.shutdown()
        thread.join()
        http.server_close()


def _embeddings(body: Mapping[str, Any]) -> Reply:
    texts = body["input"]
    if body["model"] != "mistral-embed":
        return Reply(400, refusal(f"Invalid model: {body['model']}", "1500"))
    if len(texts) > TEXTS_PER_REQUEST:
        return Reply(400, refusal("Too many inputs in request, split into more batches.", "3210"))
    return Reply(200, embeddings([embedding(text) for text in texts]))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        server: MistralServer = self.server.mistral  # type: ignore[attr-defined]
        length = int(self.headers["Content-Length"])
        request = Request(self.path, json.loads(self.rfile.read(length)))
        server.requests.append(request)
        if self.headers["Authorization"] != f"Bearer {KEY}":
            self._send(Reply(401, {"message": "Unauthorized", "request_id": "r1"}))
            return
        reply = server.told.popleft() if server.told else server.answer(request)
        if isinstance(reply, Silence):
            server.stopping.wait()
            self.close_connection = True
        else:
            self._send(reply)

    def _send(self, reply: Reply) -> None:
        body = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
        self.send_response(reply.status)
        headers = {"Content-Type": "application/json", **reply.headers}
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the tests look at `requests`."""
