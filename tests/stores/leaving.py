"""A server of Qdrant that holds a collection, and goes away."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread


@contextmanager
def leaving(count: int) -> Iterator[str]:
    """Give the address of a server whose collections are whole, with so many points."""

    class Leaving(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer({"exists": True})

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.answer({"count": count})

        def answer(self, result: dict[str, object]) -> None:
            body = json.dumps({"result": result, "status": "ok", "time": 0.0}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Leaving) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
