"""The process that reads: one file at a time, each within its limits, until it is told no more."""

import os
import pickle
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection

from atlas_search.build.isolation.limits import End, Limits, TooLong, measured
from atlas_search.build.prepare import Preparation, Prepared, Unreadable, prepare, size_of
from atlas_search.build.source_file import SourceFile
from atlas_search.stores.staging import StagedDocument

READY, UNFIT, SOME, SPANS, END, LAST = b"r", b"u", b"s", b"t", b"e", b"l"
"""The first byte of a message to the build: what kind it is. LAST is the END before its own."""

NO_MEMORY = 77
"""The status of a process that met its limit of memory."""

_BATCH = 250_000  # characters of documents sent together
_PAUSE = 0.5  # seconds after which documents are sent, however few
_WORN = 4  # a process that keeps a quarter of its memory after a file makes room for a new one
_FOREVER = 1 << 40


@dataclass(frozen=True)
class Job:
    """How to read, within which limits, and for which process."""

    preparation: Preparation
    limits: Limits
    parent: int


def work(build: Connection) -> None:
    """Read the files that the build names, and send what they give; then end.

    Unless the job can be understood here the build is told why not.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the build ends its workers
    try:
        job: Job = pickle.loads(build.recv_bytes())
    except Exception as error:
        build.send_bytes(UNFIT + f"{type(error).__name__}: {error}".encode())
        return
    _end_with(job.parent)
    room = _Room(job.limits)
    spans = _AskedSpans(build)
    preparation = replace(job.preparation, token_spans=spans)
    build.send_bytes(READY)
    with suppress(EOFError, ConnectionError):  # the build is over
        while True:
            file = build.recv()
            _read(build, preparation, file, room)


class _Room:
    """What this process may take of the machine, by the limits of its kernel."""

    def __init__(self, limits: Limits):
        self.limits = limits
        self._before = _data()
        memory = self._before + limits.memory * 1_000_000
        # RLIMIT_DATA counts what is written to, RLIMIT_AS also what is merely mapped or reserved:
        # threads and libraries reserve gigabytes that they never touch
        _limit("RLIMIT_DATA", memory)
        _limit("RLIMIT_CORE", 0)
        self.grant_seconds()

    def grant_seconds(self) -> None:
        """As many seconds of computing as a document may take, from now on."""
        _limit("RLIMIT_CPU", int(time.process_time()) + 1 + self.limits.seconds)

    @property
    def is_worn(self) -> bool:
        """Whether the next file would have much less memory than the limit."""
        return _data() - self._before > self.limits.memory * 1_000_000 / _WORN


class _AskedSpans:
    """The spans of tokens, which only the build knows: it has the model."""

    def __init__(self, build: Connection):
        self._build = build

    def __call__(self, text: str) -> Sequence[tuple[int, int]]:
        self._build.send_bytes(SPANS + text.encode("utf-8", "surrogatepass"))
        spans: Sequence[tuple[int, int]] = self._build.recv()
        return spans


class _Batch:
    """Documents on their way to the build, some at a time."""

    def __init__(self, build: Connection):
        self._build = build
        self._waiting: list[Prepared] = []
        self._characters = 0
        self._sent = time.monotonic()

    def add(self, prepared: Prepared, characters: int) -> None:
        """Take a document or remark; send what waits if it is much, or waits for long."""
        self._waiting.append(prepared)
        self._characters += characters
        if self._characters > _BATCH or time.monotonic() - self._sent > _PAUSE:
            self.send()

    def send(self) -> None:
        """Send what waits."""
        if self._waiting:
            self._build.send_bytes(SOME + pickle.dumps(self._waiting, pickle.HIGHEST_PROTOCOL))
        self._waiting, self._characters, self._sent = [], 0, time.monotonic()


def _read(build: Connection, preparation: Preparation, file: SourceFile, room: _Room) -> None:
    started = time.monotonic()
    batch = _Batch(build)
    failure, again = "", False
    room.grant_seconds()
    try:
        for prepared in measured(prepare(preparation, file), room.limits, size_of(file)):
            batch.add(prepared, _weight(prepared))
            room.grant_seconds()
        batch.send()
    except MemoryError:
        os._exit(NO_MEMORY)  # there may be too little left even to say so
    except TooLong:
        failure = room.limits.too_long
    except Unreadable as error:
        failure, again = str(error), True
    except (EOFError, ConnectionError):
        raise
    except Exception as error:
        failure = f"cannot be read: {type(error).__name__}: {error}"
    end = End(round(time.monotonic() - started, 4), failure, again)
    build.send_bytes((LAST if room.is_worn else END) + pickle.dumps(end))


def _weight(prepared: Prepared) -> int:
    """About how many characters of a batch it is."""
    return len(prepared.document.text) if isinstance(prepared, StagedDocument) else 1000


def _end_with(parent: int) -> None:
    """See to it that this process does not outlive the build, however that ends."""
    if sys.platform == "linux":
        import ctypes

        kill_me_when_my_parent_dies = 1
        ctypes.CDLL(None).prctl(kill_me_when_my_parent_dies, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit()


def _data() -> int:
    """Bytes of memory that are this process's own to write to; 0 where the system does not say."""
    with suppress(OSError), open("/proc/self/statm") as file:
        return int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _limit(name: str, most: int) -> None:
    """Set a limit of the kernel, if it has it; one that is lower already stays."""
    with suppress(ImportError, AttributeError, ValueError, OSError):
        import resource

        which = getattr(resource, name)
        _, hard = resource.getrlimit(which)
        highest = _FOREVER if hard == resource.RLIM_INFINITY else hard
        resource.setrlimit(which, (min(most, highest), hard))
