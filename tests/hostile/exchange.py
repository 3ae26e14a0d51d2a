"""Sending bytes to a server as they are, and what must hold of every answer."""

import contextlib
import socket
import time
from dataclasses import dataclass

MOST_SECONDS = 2.0
SLOWEST_ANSWER = 20.0  # then the connection is given up, and the request counts as hanging
LEAKS = (b"Traceback (most recent", b'File "', b"site-packages", b"/atlas_search/", b"sqlite3.")


@dataclass(frozen=True)
class Attack:
    """Bytes to send. `whole`: they are a whole request, so that an answer must come."""

    name: str
    data: bytes
    whole: bool = True


@dataclass(frozen=True)
class Reply:
    """What came back: 0 and nothing if the server only closed the connection."""

    status: int
    data: bytes
    seconds: float
    ended: bool


def request(
    method: str,
    path: str,
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> bytes:
    """An HTTP/1.1 request, one header for each that matters and the given ones instead of them."""
    own = {"Host": "127.0.0.1", "Connection": "close"}
    if body is not None:
        own |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
    lines = [f"{method} {path} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in (own | (headers or {})).items() if value]
    return "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n" + (body or b"")


def send(port: int, attack: Attack) -> Reply:
    """Send it, and read to the end of the answer."""
    started = time.monotonic()
    received, ended = bytearray(), False
    with socket.create_connection(("127.0.0.1", port), timeout=SLOWEST_ANSWER) as connection:
        # the server may answer and close before it has read all
        with contextlib.suppress(ConnectionError):
            connection.sendall(attack.data)
            if not attack.whole:
                connection.shutdown(socket.SHUT_WR)
        with contextlib.suppress(TimeoutError):
            try:
                while piece := connection.recv(65_536):
                    received += piece
                ended = True
            except ConnectionError:
                ended = True
    data = bytes(received)
    first = data.split(b"\r\n", 1)[0].split()
    status = int(first[1]) if len(first) > 1 and first[1].isdigit() else 0
    return Reply(status, data, time.monotonic() - started, ended)


def faults(port: int, attack: Attack, secrets: tuple[bytes, ...]) -> list[str]:
    """What is wrong with the answer; `secrets` may not stand in it.

    What took too long is sent again, twice at most: the machine may have been busy.
    """
    for _ in range(3):
        reply = send(port, attack)
        slow = not reply.ended or reply.seconds > MOST_SECONDS
        if not slow:
            break
    found = [f"took {reply.seconds:.1f} s"] if slow else []
    # 501 is what HTTP wants said of a transfer coding that a server does not know
    if reply.status >= 500 and reply.status != 501:
        found.append(f"status {reply.status}")
    if attack.whole and reply.ended and not reply.status:
        found.append("no answer")
    found += [f"tells {leak.decode()!r}" for leak in (*LEAKS, *secrets) if leak in reply.data]
    return found
