"""A listener in this process, and clients that behave badly towards it."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from atlas_search.server.limits import networks
from atlas_search.server.sockets import BoundPort, ConnectionLimits, LargeBodies

HALF_HEADER = b"GET /api/health HTTP/1.1\r\nHost: te"
HALF_BODY = (
    b"POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b'Content-Length: 100\r\n\r\n{"question": "Do'
)
WHOLE = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n"


@contextmanager
def listening(
    app: Any,
    *,
    threads: int = 8,
    connections: int = 400,
    per_address: int = 64,
    trusted: str = "",
    max_body: int = 1024 * 1024,
    large: LargeBodies | None = None,
) -> Iterator[tuple[str, int]]:
    """A WSGI application behind a listener that a thread runs; host and port."""
    limits = ConnectionLimits(connections, per_address, networks(trusted))
    listener = BoundPort(
        app, "127.0.0.1", 0, threads=threads, max_body=max_body, limits=limits, large=large
    )
    thread = threading.Thread(target=listener.run, daemon=True)
    thread.start()
    try:
        yield "127.0.0.1", listener.port
    finally:
        listener.stop()
        thread.join(60)
        listener.close()
        assert not thread.is_alive()


@contextmanager
def connected(
    address: tuple[str, int], count: int, data: bytes = b"", source: str = "127.0.0.1"
) -> Iterator[Sequence[socket.socket]]:
    """Open so many connections from one address, and send `data` on each."""
    with ExitStack() as opened:
        clients = []
        for _ in range(count):
            each = socket.create_connection(address, timeout=20, source_address=(source, 0))
            opened.enter_context(each)
            try:
                each.sendall(data)
            except OSError:  # closed already
                continue
            finally:
                clients.append(each)
        yield clients


def rest(connection: socket.socket) -> bytes:
    """Read until the other side closes."""
    received = b""
    while True:
        try:
            piece = connection.recv(65536)
        except ConnectionError:
            return received
        if not piece:
            return received
        received += piece


def is_open(connection: socket.socket) -> bool:
    """True while the other side has not closed it; its bytes are thrown away."""
    connection.setblocking(False)
    try:
        while connection.recv(65536):
            pass
        return False
    except BlockingIOError:
        return True
    except ConnectionError:
        return False
    finally:
        connection.settimeout(20)
