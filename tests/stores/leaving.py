"""A server of Qdrant that holds a collection, and goes away."""

from contextlib import AbstractContextManager

from tests.servers import Handler, listening


def leaving(count: int) -> AbstractContextManager[str]:
    """Give the address of a server whose collections are whole, with so many points."""

    class Leaving(Handler):
        def do_GET(self) -> None:
            self.answer({"exists": True})

        def do_POST(self) -> None:
            self.body()
            self.answer({"count": count})

        def answer(self, result: dict[str, object]) -> None:
            document = {"result": result, "status": "ok", "time": 0.0}
            self.send(200, document, {"Content-Type": "application/json"})

    return listening(Leaving, str)
