"""A local HTTP server that speaks to Zotero's connector as Zotero does, and keeps what it got.

After `xpcom/server/server.js` and `server_connector.js` of zotero/zotero: requests of browsers
without the connector's header are refused, a session is taken once, items make 201. After
`localAPI/server_localAPI.js` it shows a library, once that is allowed: in pages, with
the address of each file. A change that is not synchronised leaves all versions as they are.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from tests.servers import NONE, Handler, listening


class ZoteroServer:
    """`items` are all that were saved; `editable` whether the chosen library can be changed.

    `shown` are the data of items and collections of `library`, `files` the paths of attachments,
    `asked` the paths of all requests for them. `between` is done before each page but the first:
    a page has all that is left, or `most`.
    """

    def __init__(self, address: str):
        self.address = address
        self.items: list[dict[str, Any]] = []
        self.sessions: set[str] = set()
        self.editable = True
        self.allowed = True
        self.library = "users/0"
        self.shown: dict[str, list[dict[str, Any]]] = {"items": [], "collections": []}
        self.files: dict[str, str] = {}
        self.asked: list[str] = []
        self.most = 1_000_000
        self.between: Callable[[], None] = lambda: None

    def show(self, address: str) -> tuple[int, Any, dict[str, str]]:
        """The answer to a request of the local API: its status, body and headers."""
        parts = urlsplit(address)
        self.asked.append(parts.path)
        if not self.allowed:
            return 403, "Local API is not enabled", {}
        kind, *rest = parts.path.removeprefix(f"/api/{self.library}/").split("/")
        if rest[1:] == ["file"]:
            if rest[0] not in self.files:
                return 404, "Not found", {}
            return 302, "", {"Location": f"file://{quote(self.files[rest[0]])}"}
        if kind not in self.shown:
            return 404, "Not found", {}
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        start, limit = (
            int(query.get("start", 0)),
            min(int(query.get("limit", self.most)), self.most),
        )
        if start:
            self.between()
        of, id_ = self.library.split("/")
        owner = {"type": of[:-1], "id": int(id_) or 475425, "name": "Mine", "links": {}}
        found = [
            {"key": each["key"], "version": 9, "library": owner, "data": each | {"version": 9}}
            for each in self.shown[kind]
        ]
        following = f"{self.address}{parts.path}?start={start + limit}&limit={limit}"
        more = {"Link": f'<{following}>; rel="next"'} if start + limit < len(found) else {}
        headers = {"Total-Results": str(len(found)), "Last-Modified-Version": "9"}
        return 200, found[start : start + limit], headers | more

    def save(self, sent: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if sent["sessionID"] in self.sessions:
            return 409, {"error": "SESSION_EXISTS"}
        self.sessions.add(sent["sessionID"])
        if not self.editable:
            return 500, {"libraryEditable": False}
        self.items += sent["items"]
        return 201, {}


def zotero_server() -> AbstractContextManager[ZoteroServer]:
    """Zotero, running."""
    return listening(_Handler, ZoteroServer)


class _Handler(Handler):
    def do_GET(self) -> None:
        if self.path.startswith("/api/"):
            if self.headers["Zotero-API-Version"] != "3":
                return self._answer(501, {})
            return self._answer(*self.kept.show(self.path))
        return self._answer(200 if self.path == "/connector/ping" else 404, {})

    def do_POST(self) -> None:
        body = self.body()
        if self.headers["X-Zotero-Connector-API-Version"] != "3":
            return self._answer(412, {})
        if self.headers["Content-Type"] != "application/json":
            return self._answer(400, {})
        if self.path != "/connector/saveItems":
            return self._answer(404, {})
        return self._answer(*self.kept.save(json.loads(body)))

    def _answer(self, status: int, body: Any, headers: Mapping[str, str] = NONE) -> None:
        self.send(status, body, {**headers, "X-Zotero-Version": "7.0"})
