"""A local HTTP server that speaks to Zotero's connector as Zotero does, and keeps what it got.

After `xpcom/server/server.js` and `server_connector.js` of zotero/zotero: requests of browsers
without the connector's header are refused, a session is taken once, items make 201.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ZoteroServer:
    """`items` are all that were saved; `editable` whether the chosen library can be changed."""

    def __init__(self, address: str):
        self.address = address
        self.items: list[dict[str, Any]] = []
        self.sessions: set[str] = set()
        self.editable = True

    def save(self, sent: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if sent["sessionID"] in self.sessions:
            return 409, {"error": "SESSION_EXISTS"}
        self.sessions.add(sent["sessionID"])
        if not self.editable:
            return 500, {"libraryEditable": False}
        self.items += sent["items"]
        return 201, {}


@contextmanager
def zotero_server() -> Iterator[ZoteroServer]:
    """Zotero, running."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(200 if self.path == "/connector/ping" else 404, {})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers["X-Zotero-Connector-API-Version"] != "3":
                return self._answer(412, {})
            if self.headers["Content-Type"] != "application/json":
                return self._answer(400, {})
            if self.path != "/connector/saveItems":
                return self._answer(404, {})
            return self._answer(*started.save(json.loads(body)))

        def _answer(self, status: int, body: dict[str, Any]) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("X-Zotero-Version", "7.0")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    started = ZoteroServer(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield started
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
