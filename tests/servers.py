"""Starting real servers for tests, and ending them."""

import json
import os
import re
import signal
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from flask_openapi3.openapi import OpenAPI
from waitress import wasyncore
from waitress.server import create_server

from atlas_search.atlas import Atlas
from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from atlas_search.server.serving import Serving
from tests.places import ROOT

START_SECONDS = 120.0
NONE: Mapping[str, str] = {}


class Server:
    """A running command: its output so far, and the addresses it printed."""

    def __init__(self, process: "subprocess.Popen[str]"):
        self.process = process
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line.rstrip())

    def address(self, of: str) -> str:
        """The address printed for `of` ("Atlas", "Phoenix"), waited for."""

        def printed() -> str | None:
            for line in list(self.lines):
                if match := re.search(rf"{of} is at (http://\S+)", line):
                    return match.group(1)
            if self.process.poll() is not None:
                raise AssertionError(f"ended with {self.process.returncode}: {self.lines}")
            return None

        return wait_for(printed, START_SECONDS, f"{of}'s address")

    def close(self) -> None:
        """Read what the ended command has left, and close its output."""
        assert self.process.stdout
        self._reader.join(5)  # longer only if a process that it started holds the other end
        if not self._reader.is_alive():
            self.process.stdout.close()

    def stop(self, how: signal.Signals = signal.SIGINT) -> int:
        """Send a signal as a terminal does, to the whole group, and wait; the exit code."""
        os.killpg(self.process.pid, how)
        return self.process.wait(30)


T = TypeVar("T")


def wait_for(probe: Callable[[], T | None], seconds: float, what: str) -> T:
    """Poll until `probe` gives something, at first often."""
    end = time.monotonic() + seconds
    pause = 0.005
    while time.monotonic() < end:
        if (found := probe()) is not None:
            return found
        time.sleep(pause)
        pause = min(1.5 * pause, 0.1)
    raise AssertionError(f"{what} did not come within {seconds} s")


def answers(url: str) -> bool | None:
    """True once `url` answers with success, else None: a probe for `wait_for`."""
    try:
        return httpx2.get(url, timeout=5).is_success or None
    except httpx2.TransportError:
        return None


@contextmanager
def running(*command: str | Path, environment: Mapping[str, str], folder: Path) -> Iterator[Server]:
    """A command with a clean environment; ended, if it still runs, when the block ends.

    It runs the same sources as the tests do, and the models that they have exported.
    """
    kept = ("PATH", "PYTHONPATH", "ATLAS_MODEL_DIRECTORY")
    own = {name: os.environ[name] for name in kept if name in os.environ}
    process = subprocess.Popen(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env={**own, "HOME": str(folder), **environment},
        start_new_session=True,
    )
    server = Server(process)
    try:
        yield server
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
        server.close()


def app_of(atlas: Atlas) -> OpenAPI:
    """The application of a server of an open collection, with its settings, models and tracer."""
    services = atlas.services
    return create_app(ServedCollections(Serving(services.settings, beside=services)))


@contextmanager
def served(app: Any, **adjustments: Any) -> Iterator[str]:
    """A WSGI application served by a thread of this process; its address."""
    server = create_server(app, host="127.0.0.1", port=0, asyncore_use_poll=True, **adjustments)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()

    def close() -> None:
        for channel in list(server.active_channels.values()):
            channel.handle_close()
        wasyncore.close_all(server._map)

    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        # the thread closes its sockets itself: closed from here, its `select` would fail
        with suppress(OSError):  # a request that ends may have had it closed before the pull
            server.trigger.pull_trigger(close)
        thread.join(60)
        server.task_dispatcher.shutdown()
        assert not thread.is_alive()


class Handler(BaseHTTPRequestHandler):
    """Takes and sends whole bodies, and keeps no log."""

    kept: Any
    """What `listening` made for this server."""

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"] or 0))

    def send(self, status: int, body: object = b"", headers: Mapping[str, str] = NONE) -> None:
        """Send bytes and text as they are, anything else as JSON."""
        text = body if isinstance(body, str | bytes) else json.dumps(body)
        content = text.encode() if isinstance(text, str) else text
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the tests look at what was asked."""


@contextmanager
def listening(handler: type[Handler], make: Callable[[str], T], port: int = 0) -> Iterator[T]:
    """A server of this process: what `make` gives for its address, which its handlers know."""
    own = type(handler.__name__, (handler,), {})
    with ThreadingHTTPServer(("127.0.0.1", port), own) as server:
        own.kept = kept = make(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield kept
        finally:
            server.shutdown()
            thread.join()


class Endless(socketserver.ThreadingTCPServer):
    """A peer whose answers never end: `head`, then `again` and again, each after a `pause`.

    `sent` counts the bytes that clients were sent in all, in MB.
    """

    daemon_threads, block_on_close = True, False

    def __init__(self, head: bytes, again: bytes, pause: float):
        super().__init__(("127.0.0.1", 0), _Endless)
        self.address = f"http://127.0.0.1:{self.server_address[1]}"
        self.head, self.again, self.pause = head, again, pause
        self.sent = 0.0
        self.stopping = threading.Event()


class _Endless(socketserver.BaseRequestHandler):
    server: Endless

    def handle(self) -> None:
        with suppress(OSError):
            self.request.recv(65536)
            self.request.sendall(self.server.head)
            while not self.server.stopping.wait(self.server.pause):
                self.server.sent += self.request.send(self.server.again) / 1e6


@contextmanager
def endless(head: bytes, again: bytes, pause: float = 0.0) -> Iterator[Endless]:
    """A running peer without an end."""
    with Endless(head, again, pause) as peer:
        threading.Thread(target=peer.serve_forever, args=(0.02,), daemon=True).start()
        yield peer
        peer.stopping.set()
        peer.shutdown()


OK_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
ATLAS = (sys.executable, "-m", "atlas_search.cli.main")
JUDGES_VENV = Path(os.environ.get("JUDGES_VENV", ROOT / ".venv-judges")).absolute()
JUDGES_PYTHON = JUDGES_VENV / "bin" / "python"
"""Of the environment that holds RAGAS and DeepEval."""
PHOENIX = Path(os.environ.get("PHOENIX_VENV", ROOT / ".venv-phoenix")) / "bin" / "phoenix"
