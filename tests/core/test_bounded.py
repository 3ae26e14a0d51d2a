"""A client whose answers are bounded in bytes and time."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import httpx2
import pytest

from atlas_search.core.addresses import bounded

MOST = 64_000


def test_the_head_of_an_answer_that_is_too_long_is_read_before_it_is_refused() -> None:
    """All of it lies in the client's buffer before the client begins to read."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            peer, _ = listener.accept()
            with peer, suppress(ConnectionError):  # the client leaves with most of it unread
                peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 150000\r\n\r\n" + b"x" * 150_000)
                sent.set()
                while peer.recv(65_536):
                    pass

        sent = threading.Event()
        thread = threading.Thread(target=answer)
        thread.start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"

        def body() -> Iterator[bytes]:
            yield b"the request"
            assert sent.wait(30)

        with (
            bounded(httpx2.Client(timeout=30), MOST) as client,
            client.stream("POST", address, content=body()) as response,
        ):
            assert response.status_code == 200
            with pytest.raises(httpx2.DecodingError, match="longer than"):
                response.read()
        thread.join(30)
