"""Hostile requests to a real server: it answers all of them, shortly, and gives nothing away.

`make test-hostile` sends all of them, `make test-all` one in twenty.
"""

import contextlib
import os
import socket
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pytest

from atlas_search.building.flow import BuildReport
from tests.server.hostile.attacks import Attack, every_attack
from tests.servers import ATLAS, Server, answers, running

pytestmark = pytest.mark.thorough

MOST_SECONDS = 2.0
SLOWEST_ANSWER = 20.0  # then the connection is given up, and the request counts as hanging
LEAKS = (b"Traceback (most recent", b'File "', b"site-packages", b"/atlas_search/", b"sqlite3.")


@dataclass(frozen=True)
class Reply:
    """An answer: 0 and nothing if the server only closed the connection."""

    status: int
    data: bytes
    seconds: float
    ended: bool


def send(port: int, attack: Attack) -> Reply:
    """Send it, and read to the end of the answer."""
    started = time.monotonic()
    received, ended = bytearray(), False
    with socket.create_connection(("127.0.0.1", port), timeout=SLOWEST_ANSWER) as connection:
        # the server may answer and close before it has read all
        with contextlib.suppress(OSError):
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
    """Name the faults of the answer; `secrets` may not stand in it.

    What took too long is sent again, twice at most: the machine may have been busy.
    """
    for _ in range(3):
        reply = send(port, attack)
        slow = not reply.ended or reply.seconds > MOST_SECONDS
        if not slow:
            break
    errors = [f"took {reply.seconds:.1f} s"] if slow else []
    # 501 is what HTTP wants said of a transfer coding that a server does not know
    if reply.status >= 500 and reply.status != 501:
        errors.append(f"status {reply.status}")
    if attack.whole and reply.ended and not reply.status:
        errors.append("no answer")
    errors += [f"tells {leak.decode()!r}" for leak in (*LEAKS, *secrets) if leak in reply.data]
    return errors


TOKEN = "an administrator's token"
SHARE = 1 if "HOSTILE" in os.environ else 20


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder the server runs in, which is its home and holds its temporary files too."""
    return tmp_path_factory.mktemp("attacked")


@pytest.fixture(scope="module")
def server(
    stores: Path, demo: BuildReport, place: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    environment = {
        "CHROMA_PERSIST_DIRECTORY": str(stores),
        "ATLAS_PORT": "0",
        "ATLAS_ADMIN_TOKEN": TOKEN,
        "TMPDIR": str(place),
        "INGEST_ROOT": str(tmp_path_factory.mktemp("ingest")),
        "ATLAS_STATE_DIRECTORY": str(tmp_path_factory.mktemp("state")),
    }
    with running(*ATLAS, "serve", environment=environment, folder=place) as server:
        server.address("Atlas")
        yield server


def test_there_are_enough() -> None:
    names = [attack.name for attack in every_attack(TOKEN)]
    assert len(names) > 1_000
    assert len(set(names)) == len(names)


def test_every_hostile_request_gets_an_answer_that_tells_nothing(
    server: Server, stores: Path, place: Path
) -> None:
    address = server.address("Atlas")
    port = int(address.rpartition(":")[2])
    secrets = (str(stores).encode(), str(place).encode(), TOKEN.encode())
    before = _files(place), _files(stores)
    wrong = {}
    for attack in islice(every_attack(TOKEN), 0, None, SHARE):
        if own := faults(port, attack, secrets):
            wrong[attack.name] = own
    assert not wrong
    assert answers(f"{address}/api/health")
    log = "".join(server.lines)
    assert "Traceback" not in log, log[log.index("Traceback") :][:3000]
    assert (_files(place), _files(stores)) == before


def _files(folder: Path) -> Mapping[Path, int]:
    """Every file below it, with its size."""
    return {
        path: path.stat().st_size
        for path in folder.rglob("*")
        # SQLite makes these when it opens a file, and takes them away again
        if path.is_file() and path.suffix not in {".sqlite-wal", ".sqlite-shm", ".sqlite3-wal"}
    }
