"""A local HTTP server that speaks Cohere's rerank API, answers as told, remembers the requests."""

import json
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.mistral_server import Reply, Request, Silence

KEY = "the-key-of-the-test"
MODEL = "rerank-v3.5"


class Cut:
    """The connection closed in the middle of the answer."""


Told = Reply | Silence | Cut


class CohereServer:
    """`requests` are those so far. Replies told with `then` come first, in order, each once."""

    def __init__(self, address: str):
        self.address = address
        self.requests: list[Request] = []
        self.told: deque[Told] = deque()
        self.stopping = threading.Event()

    def then(self, *replies: Told) -> None:
        """Answer the next requests so, whatever they ask."""
        self.told.extend(replies)

    def answer(self, request: Request) -> Reply:
        """What Cohere would answer."""
        if request.path != "/v2/rerank":
            return Reply(404, {"message": "404 page not found"})
        return _reranked(request.body)


def relevance(query: str, document: str) -> float:
    """The score the server gives: the share of the query's words that stand in the document."""
    asked = set(query.lower().split())
    return len(asked & set(document.lower().split())) / len(asked)


def results(*pairs: tuple[object, object], **further: object) -> dict[str, object]:
    """The body of an answer with these indices and scores."""
    listed = [{"index": index, "relevance_score": score} for index, score in pairs]
    meta = {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}}
    return {"id": "r1", "results": listed, "meta": meta, **further}


@contextmanager
def cohere_server() -> Iterator[CohereServer]:
    """A running server."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server = CohereServer(f"http://127.0.0.1:{http.server_port}")
    http.cohere = server  # type: ignore[attr-defined]
    thread = threading.Thread(target=http.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        http.shutdown()
        thread.join()
        http.server_close()


def _reranked(body: Mapping[str, Any]) -> Reply:
    query, documents = body["query"], body["documents"]
    if body["model"] != MODEL:
        return Reply(404, {"message": f"model '{body['model']}' not found"})
    if not documents:
        return Reply(400, {"message": "invalid request: list of documents must not be empty"})
    return Reply(200, results(*_best(query, documents)[: body.get("top_n")]))


def _best(query: str, documents: Sequence[str]) -> list[tuple[int, float]]:
    """Index and score of each document, best first, as Cohere sends them."""
    scores = [(index, relevance(query, text)) for index, text in enumerate(documents)]
    return sorted(scores, key=lambda pair: (-pair[1], pair[0]))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        server: CohereServer = self.server.cohere  # type: ignore[attr-defined]
        length = int(self.headers["Content-Length"])
        request = Request(self.path, json.loads(self.rfile.read(length)))
        server.requests.append(request)
        if self.headers["Authorization"] != f"Bearer {KEY}":
            self._send(Reply(401, {"id": "r1", "message": "invalid api token"}))
            return
        reply = server.told.popleft() if server.told else server.answer(request)
        if isinstance(reply, Silence):
            server.stopping.wait()
            self.close_connection = True
        elif isinstance(reply, Cut):
            self._send(Reply(200, results()), missing=10)
            self.close_connection = True
        else:
            self._send(reply)

    def _send(self, reply: Reply, *, missing: int = 0) -> None:
        body = (reply.body if isinstance(reply.body, str) else json.dumps(reply.body)).encode()
        self.send_response(reply.status)
        headers = {"Content-Type": "application/json", **reply.headers}
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) - missing])

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the tests look at `requests`."""
