"""A local HTTP server in place of Phoenix, which can fail in each way that Phoenix can."""

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs

from tests.servers import served, wait_for

PROJECT = "/v1/projects/atlas"


class PhoenixServer:
    """Takes annotations of the spans it knows; `status` answers in its place, `hold` hangs.

    Of a span in `broken` every request is answered with that status.
    """

    def __init__(self) -> None:
        self.address = ""
        self.spans: dict[str, list[str]] = {}
        self.annotations: dict[tuple[str, str, str], dict] = {}
        self.documents: dict[tuple[str, str, int], dict] = {}
        self.requests: list[str] = []
        self.keys: set[str] = set()
        self.status = 0
        self.broken: dict[str, int] = {}
        self.hold = threading.Event()
        self.hold.set()

    def know(self, span_id: str, documents: Iterable[str] = ()) -> None:
        """A span has arrived, with these documents."""
        self.spans[span_id] = list(documents)

    def said(self, voter_count: int = 1) -> dict[str, dict]:
        """The results by name, of one voter."""
        assert len({identifier for _, _, identifier in self.annotations}) <= voter_count
        return {name: found["result"] for (name, _, _), found in self.annotations.items()}

    def wait_for_requests(self, count: int) -> None:
        """Wait until so many have come in all."""
        wait_for(lambda: len(self.requests) >= count or None, 30, f"request {count}")

    def __call__(self, environ: dict, start_response: Callable[..., Any]) -> list[bytes]:
        """Answer, as a WSGI application."""
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        query = {name: value[0] for name, value in parse_qs(environ["QUERY_STRING"]).items()}
        body = environ["wsgi.input"].read() if method == "POST" else b""
        self.requests.append(f"{method} {path}")
        self.keys.add(environ.get("HTTP_AUTHORIZATION", ""))
        self.hold.wait(60)
        status, document = self._answer(method, path, query, json.loads(body or b"null"))
        start_response(f"{status} Said", [("Content-Type", "application/json")])
        return [json.dumps(document).encode() if status != 204 else b""]

    def _answer(self, method: str, path: str, query: dict, body: Any) -> tuple[int, object]:
        if self.status:
            return self.status, {"detail": "told to"}
        for span_id, status in self.broken.items():
            if span_id in json.dumps(body):
                return status, {"detail": "told to"}
        if path == "/v1/span_annotations":
            return self._annotate(body["data"])
        if path == "/v1/document_annotations":
            return self._annotate_documents(body["data"])
        if method == "DELETE" and path == f"{PROJECT}/span_annotations":
            gone = [
                k for k in self.annotations if (k[0], k[2]) == (query["name"], query["identifier"])
            ]
            for key in gone:
                del self.annotations[key]
            return 204, None
        assert (method, path) == ("GET", f"{PROJECT}/spans")
        return 200, {"data": [_span(span_id, ids) for span_id, ids in self.spans.items()]}

    def _annotate(self, given: list[dict]) -> tuple[int, object]:
        if any(one["span_id"] not in self.spans for one in given):
            return 404, {"detail": "Spans do not exist."}
        for one in given:
            self.annotations[one["name"], one["span_id"], one["identifier"]] = one
        return 200, {"data": []}

    def _annotate_documents(self, given: list[dict]) -> tuple[int, object]:
        for one in given:
            assert one.get("identifier", "") == ""
            if one["document_position"] not in range(len(self.spans[one["span_id"]])):
                return 422, {"detail": "Out of bounds."}
        for one in given:
            self.documents[one["name"], one["span_id"], one["document_position"]] = one
        return 200, {"data": []}


@contextmanager
def phoenix_server() -> Iterator[PhoenixServer]:
    """The server while the block runs."""
    server = PhoenixServer()
    with served(server) as address:
        server.address = address
        try:
            yield server
        finally:
            server.hold.set()


def _span(span_id: str, documents: list[str]) -> dict:
    prefix = "retrieval.documents"
    return {
        "context": {"span_id": span_id},
        "span_kind": "CHAIN",
        "start_time": "2026-01-01",
        "attributes": {f"{prefix}.{n}.document.id": id_ for n, id_ in enumerate(documents)},
    }
