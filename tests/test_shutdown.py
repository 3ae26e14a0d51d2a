"""A server that is told to stop ends within SECONDS, whatever its clients and models do."""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.chat_server import Pause, Says
from tests.listening import HALF_BODY, HALF_HEADER, connected, rest
from tests.servers import ATLAS, Server, running, wait_for
from tests.without_model import settings_with_chat

SECONDS = 8.0  # what docs/deploy.md promises
ASK = b'{"question": "Do sheep give wool?"}'
STREAM = (
    b"POST /api/ask/stream HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(ASK), ASK)
)


@pytest.fixture(scope="module")
def silent() -> Iterator[str]:
    """The address of a server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Of a server whose model takes a minute for its second word."""
    root = tmp_path_factory.mktemp("stopping")
    with settings_with_chat(root, Says("Sheep ", Pause(60), "give wool.")) as found:
        yield found


@contextmanager
def serving(
    settings: dict[str, str], folder: Path, **changes: str
) -> Iterator[tuple[Server, tuple[str, int]]]:
    with running(*ATLAS, "serve", environment={**settings, **changes}, folder=folder) as server:
        host, port = server.address("Atlas").removeprefix("http://").split(":")
        yield server, (host, int(port))


def begin(stream: socket.socket) -> None:
    """Read a stream until its passages have come, so that its answer is being written."""
    found = b""
    while b"event: references" not in found:
        piece = stream.recv(65536)
        assert piece, found
        found += piece


@pytest.mark.parametrize("fault", ["slow model", "hanging model", "hanging phoenix"])
def test_it_ends_in_time_and_tells_every_stream(
    settings: dict[str, str], silent: str, tmp_path: Path, fault: str
) -> None:
    changes = {
        "slow model": {},
        "hanging model": {"OPENAI_BASE_URL": f"{silent}/v1"},
        "hanging phoenix": {"PHOENIX_COLLECTOR_ENDPOINT": silent},
    }[fault]
    with serving(settings, tmp_path, **changes) as (server, address), ExitStack() as clients:
        for data in (b"", HALF_HEADER, HALF_BODY):
            clients.enter_context(connected(address, 5, data))
        clients.enter_context(connected(address, 5, STREAM))  # which never read
        streams = clients.enter_context(connected(address, 5, STREAM))
        for stream in streams:
            begin(stream)
        os.killpg(server.process.pid, signal.SIGTERM)
        assert server.process.wait(SECONDS) == 0
        for stream in streams:
            assert b"event: error\ndata: " in (said := rest(stream))
            assert b"The server is stopping." in said


def test_the_second_signal_ends_it_at_once(
    settings: dict[str, str], silent: str, tmp_path: Path
) -> None:
    changes = {"PHOENIX_COLLECTOR_ENDPOINT": silent}
    with (
        serving(settings, tmp_path, **changes) as (server, address),
        connected(address, 1, STREAM) as [stream],
    ):
        begin(stream)
        os.killpg(server.process.pid, signal.SIGTERM)
        rest(stream)  # then Phoenix keeps it for two more seconds
        os.killpg(server.process.pid, signal.SIGTERM)
        assert server.process.wait(SECONDS) == 128 + signal.SIGTERM


def test_nothing_is_done_after_all_is_closed(settings: dict[str, str], tmp_path: Path) -> None:
    """The interpreter is not taken apart, and yet nothing that it would tidy up is left."""
    script = """
import atexit
from atlas_search.cli.main import main
atexit.register(lambda: print("taken apart", flush=True))
main(["serve"])
"""
    (tmp_path / "temporary").mkdir()
    environment = {**settings, "TMPDIR": str(tmp_path / "temporary")}
    with running(*(ATLAS[0], "-c", script), environment=environment, folder=tmp_path) as server:
        server.address("Atlas")
        assert list((tmp_path / "temporary").glob("atlas-open-*"))
        os.killpg(server.process.pid, signal.SIGTERM)
        assert server.process.wait(SECONDS) == 0
        wait_for(lambda: _has(server, "Stopping.") or None, 60, "the last line")
        assert not _has(server, "taken apart")
    assert not list((tmp_path / "temporary").glob("atlas-open-*"))


def test_what_cannot_be_ended_is_left_behind(tmp_path: Path) -> None:
    script = """
import signal, subprocess, sys, threading, time
from atlas_search.cli import stopping
stopping.LAST_SECONDS = 0.5
stopping.stop_on_signal()
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"],
                         start_new_session=True)
stopping.end_with_this(child)
threading.Thread(target=time.sleep, args=(60,)).start()
print(child.pid, flush=True)
signal.pause()
"""
    environment = {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    with running(*(ATLAS[0], "-c", script), environment=environment, folder=tmp_path) as server:
        child = _first_line(server)
        os.kill(server.process.pid, signal.SIGTERM)
        assert server.process.wait(SECONDS) == 1
    ended = subprocess.run(["ps", "-o", "stat=", "-p", child], capture_output=True, text=True)
    assert ended.stdout.strip() in ("", "Z", "Zs")


def _has(server: Server, words: str) -> bool:
    return any(words in line for line in list(server.lines))


def _first_line(server: Server) -> str:
    return wait_for(lambda: server.lines[0] if server.lines else None, 60, "a process")
