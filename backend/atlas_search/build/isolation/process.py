"""A process that reads, as the build sees it."""

import pickle
import signal
import subprocess
import sys
import time
from contextlib import suppress
from multiprocessing import Pipe
from typing import NamedTuple

from atlas_search.build.isolation.limits import End, Limits
from atlas_search.build.isolation.worker import NO_MEMORY, READY
from atlas_search.build.source_file import SourceFile
from atlas_search.core.errors import SourceError

# not `multiprocessing`: that would run the caller's own script again in every process
_START = """
import sys
from multiprocessing.connection import Connection
build = Connection(int(sys.argv[1]))
sys.path[:] = build.recv()
from atlas_search.build.isolation.worker import work
work(build)
"""


class Unfit(Exception):
    """A process cannot read with this reader: it cannot be sent there."""


class Message(NamedTuple):
    """What a process says: the kind, and what belongs to it."""

    kind: bytes
    content: bytes


class Process:
    """One process. It has a `task`, the number of the file it reads, or none."""

    def __init__(self, job: bytes):
        self.connection, theirs = Pipe()
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-c", _START, str(theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            except OSError as error:
                self.connection.close()
                raise no_start(error.strerror or str(error)) from error
        self.task: int | None = None
        self.is_ready = False
        self.began = self.heard = time.monotonic()
        with suppress(BrokenPipeError):  # it is gone: whoever listens is told
            self.connection.send(sys.path)
            self.connection.send_bytes(job)

    def begin(self, task: int, file: SourceFile) -> None:
        """Let it read a file."""
        self.task = task
        self.began = self.heard = time.monotonic()
        with suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send(file)

    def receive(self) -> Message | None:
        """The next message; none if the process has ended."""
        try:
            said = self.connection.recv_bytes()
        except (EOFError, OSError):
            return None
        self.heard = time.monotonic()
        message = Message(said[:1], said[1:])
        self.is_ready = self.is_ready or message.kind == READY
        return message

    def answer(self, content: object) -> None:
        """Tell it what it asked for."""
        with suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send(content)

    def end_status(self) -> int:
        """Its exit code, negative for a signal; it is killed if it has not ended by itself."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        return self.close()

    def close(self) -> int:
        """End it at once; its exit code."""
        self._process.kill()
        self.connection.close()
        return self._process.wait()


def why_it_ended(status: int, limits: Limits, seconds: float) -> End:
    """What is said of the file during which a process ended with this exit code."""
    if status == NO_MEMORY:
        return End(seconds, limits.too_large)
    if status == -signal.SIGXCPU:
        return End(seconds, limits.too_slow)
    if status == -signal.SIGKILL:
        killed = "the system ended the process that read it, as it does for want of memory"
        return End(seconds, f"{killed}; it is tried again next time", again=True)
    name = signal.Signals(-status).name if status < 0 else f"status {status}"
    # a library written in C ends in one way for want of memory and for a fault of its own
    cause = ", maybe for want of memory" if status < 0 else ""
    return End(seconds, f"reading it crashed ({name}){cause}; it was left out")


def packed(job: object) -> bytes:
    """A job as bytes. Raises Unfit for one that cannot be sent to a process."""
    try:
        return pickle.dumps(job)
    except Exception as error:  # whatever a reader's own class raises
        raise Unfit(str(error)) from error


def no_start(reason: str) -> SourceError:
    """What is raised where no process can be started."""
    return SourceError(
        f"A process that reads source files does not start: {reason}. "
        "With READ_WORKERS=0 the build reads them itself, without limits."
    )
