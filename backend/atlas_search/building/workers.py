"""Processes that read files at the same time, and what they read in the order of the files."""

import hashlib
import os
import pickle
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

from atlas_search.building.prepare import (
    Preparation,
    Prepared,
    Remark,
    TextElsewhere,
    Unreadable,
    VectoredDocument,
    characters_of,
    prepare,
    size_of,
)
from atlas_search.building.source_file import SourceFile
from atlas_search.core.errors import SourceError
from atlas_search.stores.staged import KeptDocument, StagedDocument

if TYPE_CHECKING:
    from atlas_search.core.settings import Settings


MOST_REMARKS = 10_000
"""On one file; a table without any text has millions of rows to complain of."""

_EXPANSION = 100  # characters for each byte of a file; packed books and papers come to 20


@dataclass(frozen=True)
class ReadingLimits:
    """Limits of reading one file; `workers` processes read at once.

    Without `workers` files are read by the build itself, where only `characters` hold. `seconds`
    are those of computing without a new document. `memory` is in megabytes. `characters` are those
    of one document with all its passages; a file may have a hundred for each of its bytes.
    """

    workers: int = 1
    seconds: int = 300
    memory: int = 4000
    characters: int = 200_000_000

    @property
    def patience(self) -> int:
        """Seconds by the clock without a new document: a busy machine computes more slowly."""
        return 4 * self.seconds

    @property
    def too_slow(self) -> str:
        return _left_out(f"reading it took more than {self.seconds} seconds", "FILE_SECONDS")

    @property
    def too_large(self) -> str:
        size = f"{self.memory / 1000:g} GB" if self.memory >= 1000 else f"{self.memory} MB"
        return _left_out(f"reading it took more than {size} of memory", "FILE_MEMORY_MB")

    @property
    def too_long(self) -> str:
        return _left_out(f"it gives more than {self.characters:,} characters", "FILE_CHARACTERS")

    def fingerprint(self, fingerprint: bytes) -> bytes:
        """Return the fingerprint of a file that was left out: read again if it changes, or a
        limit does."""
        said = f"{self.seconds} {self.memory} {self.characters}"
        return hashlib.sha256(fingerprint + said.encode()).digest()


def limits_from(settings: "Settings") -> ReadingLimits:
    """Return the limits that the settings name."""
    named = settings.read_workers
    return ReadingLimits(
        workers=_processors() if named is None else named,
        seconds=settings.file_seconds,
        memory=settings.file_memory_mb,
        characters=settings.file_characters,
    )


@dataclass(frozen=True)
class End:
    """A file has been read, or is left out for the reason `failure`.

    `again` says that it may well be read the next time.
    """

    seconds: float
    failure: str = ""
    again: bool = False


class TooLong(Exception):
    """A file gives more characters than it may."""


def within_limits(
    given: Iterator[Prepared], limits: ReadingLimits, size: int
) -> Iterator[Prepared]:
    """Pass on what a file of `size` bytes gives, and no more remarks than MOST_REMARKS.

    Raises TooLong.
    """
    total = remarks = 0
    for prepared in given:
        if isinstance(prepared, Remark):
            remarks += 1
            if remarks > MOST_REMARKS:
                continue
            yield prepared
            continue
        characters = _characters(prepared)
        total += characters
        if characters > limits.characters or total > max(limits.characters, size * _EXPANSION):
            raise TooLong
        yield prepared
    if remarks > MOST_REMARKS:
        yield Remark(f"{remarks - MOST_REMARKS:,} more remarks on it are not shown")


def _characters(prepared: StagedDocument | VectoredDocument | KeptDocument) -> int:
    if isinstance(prepared, KeptDocument):
        return prepared.characters
    staged = prepared.staged if isinstance(prepared, VectoredDocument) else prepared
    return characters_of(staged.document) + sum(len(p.embedded) for p in staged.passages)


def _processors() -> int:
    """Count the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _left_out(reason: str, setting: str) -> str:
    return f"{reason}; it was left out. If nothing is wrong with it, raise {setting}"


def read_here(
    preparation: Preparation, limits: ReadingLimits, file: SourceFile
) -> Iterator[Prepared | End]:
    """Read what a file gives, and last its End."""
    started = time.monotonic()
    failure: Exception | None = None
    try:
        yield from within_limits(prepare(preparation, file), limits, size_of(file))
    except SourceError:
        raise
    except Exception as error:
        failure = error
    yield _end(started, failure, limits)


def _end(started: float, failure: Exception | None, limits: ReadingLimits) -> End:
    seconds = round(time.monotonic() - started, 4)
    match failure:
        case None:
            return End(seconds)
        case TooLong():
            return End(seconds, limits.too_long)
        case Unreadable() | TextElsewhere():
            return End(seconds, str(failure), again=isinstance(failure, Unreadable))
    return End(seconds, f"cannot be read: {type(failure).__name__}: {failure}")


READY, UNFIT, SOME, SPANS, END, LAST = b"r", b"u", b"s", b"t", b"e", b"l"
"""The first byte of a message to the build: what kind it is. LAST is the END before its own."""

NO_MEMORY = 77
"""The status of a process that met its limit of memory."""

_BATCH = 250_000  # characters of documents sent together
_PAUSE = 0.5  # seconds after which documents are sent, however few
_WORN = 4  # a process that keeps a quarter of its memory after a file makes room for a new one
_FOREVER = 1 << 40


def work(build: Connection) -> None:
    """Read the files that the build names, and send what they give; then end.

    Unless the job can be understood here the build is told why not.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the build ends its workers
    preparation: Preparation
    limits: ReadingLimits
    try:
        preparation, limits, parent = pickle.loads(build.recv_bytes())
    except Exception as error:
        build.send_bytes(UNFIT + f"{type(error).__name__}: {error}".encode())
        return
    _end_with(parent)
    room = _Room(limits)

    def token_spans(text: str) -> Sequence[tuple[int, int]]:
        """Ask the build, which has the model."""
        build.send_bytes(SPANS + text.encode("utf-8", "surrogatepass"))
        spans: Sequence[tuple[int, int]] = build.recv()
        return spans

    preparation = replace(preparation, token_spans=token_spans)
    build.send_bytes(READY)
    with suppress(EOFError, ConnectionError):  # the build is over
        while True:
            file = build.recv()
            _read(build, preparation, file, room)


class _Room:
    """Share of the machine that this process may take, by the limits of its kernel."""

    def __init__(self, limits: ReadingLimits):
        self.limits = limits
        self._before = _data()
        memory = self._before + limits.memory * 1_000_000
        # RLIMIT_DATA counts what is written to, RLIMIT_AS also what is merely mapped or reserved:
        # threads and libraries reserve gigabytes that they never touch
        _limit("RLIMIT_DATA", memory)
        _limit("RLIMIT_CORE", 0)
        self.grant_seconds()

    def grant_seconds(self) -> None:
        """Allow as many seconds of computing as a document may take, from now on."""
        _limit("RLIMIT_CPU", int(time.process_time()) + 1 + self.limits.seconds)

    @property
    def is_worn(self) -> bool:
        """Return whether the next file would have much less memory than the limit."""
        return _data() - self._before > self.limits.memory * 1_000_000 / _WORN


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
        if self._waiting:
            self._build.send_bytes(SOME + pickle.dumps(self._waiting, pickle.HIGHEST_PROTOCOL))
        self._waiting, self._characters, self._sent = [], 0, time.monotonic()


def _read(build: Connection, preparation: Preparation, file: SourceFile, room: _Room) -> None:
    started = time.monotonic()
    batch = _Batch(build)
    failure: Exception | None = None
    room.grant_seconds()
    try:
        for prepared in within_limits(prepare(preparation, file), room.limits, size_of(file)):
            batch.add(prepared, _weight(prepared))
            room.grant_seconds()
        batch.send()
    except MemoryError:
        os._exit(NO_MEMORY)  # there may be too little left even to say so
    except (EOFError, ConnectionError):
        raise
    except Exception as error:
        failure = error
    end = _end(started, failure, room.limits)
    build.send_bytes((LAST if room.is_worn else END) + pickle.dumps(end))


def _weight(prepared: Prepared) -> int:
    """Return about how many characters of a batch it is."""
    return len(prepared.document.text) if isinstance(prepared, StagedDocument) else 1000


def _end_with(parent: int) -> None:
    """Make this process end with the build, however that ends."""
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


# not `multiprocessing`: that would run the caller's own script again in every process
_START = """
import sys
from multiprocessing.connection import Connection
build = Connection(int(sys.argv[1]))
sys.path[:] = build.recv()
from atlas_search.building.workers import work
work(build)
"""


class Unfit(Exception):
    """A process cannot read with this reader: it cannot be sent there."""


class ProcessMessage(NamedTuple):
    """Message of a process: its kind, and what belongs to it."""

    kind: bytes
    content: bytes


class Process:
    """Process that reads. It has a `task`, the number of the file it reads, or none."""

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
        self.task = task
        self.began = self.heard = time.monotonic()
        with suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send(file)

    def receive(self) -> ProcessMessage | None:
        """Return the next message; none if the process has ended."""
        try:
            said = self.connection.recv_bytes()
        except (EOFError, OSError):
            return None
        self.heard = time.monotonic()
        message = ProcessMessage(said[:1], said[1:])
        self.is_ready = self.is_ready or message.kind == READY
        return message

    def answer(self, content: object) -> None:
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


def why_it_ended(status: int, limits: ReadingLimits, seconds: float) -> End:
    """Return what is said of the file during which a process ended with this exit code."""
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


def pack(job: object) -> bytes:
    """Return a job as bytes. Raises Unfit for one that cannot be sent to a process."""
    try:
        return pickle.dumps(job)
    except Exception as error:  # whatever a reader's own class raises
        raise Unfit(str(error)) from error


def no_start(reason: str) -> SourceError:
    """Return the error where no process can be started."""
    return SourceError(
        f"A process that reads source files does not start: {reason}. "
        "With READ_WORKERS=0 the build reads them itself, without limits."
    )


FILES_AHEAD = 32
"""Files that may be read before it is their turn to be staged: a build that is killed reads as
many of them again."""

_BYTES_AHEAD = 64_000_000  # of what has been read before its turn
_START_COST = 0.5  # seconds; another process is worth it if reading has taken as long already


def read_files(
    preparation: Preparation, limits: ReadingLimits, files: Sequence[SourceFile]
) -> Generator[tuple[SourceFile, Iterator[Prepared | End]], None, None]:
    """Read the files, and give each with what it gives, in order; take all of one before the next.

    Files are read by other processes, unless there shall be none or the reader cannot be sent
    there. Close the iterator to end them.
    """
    if limits.workers and files:
        with suppress(Unfit), WorkerPool(preparation, limits, files) as pool:
            pool.meet()
            yield from ((file, pool.take(number)) for number, file in enumerate(files))
            return
    for file in files:
        yield file, read_here(preparation, limits, file)


@dataclass
class _Lane:
    """Part of one file that has been read and not yet been taken."""

    waiting: deque[bytes] = field(default_factory=deque)
    bytes: int = 0
    end: End | None = None


class WorkerPool:
    """Processes that read. They begin with one: few small files are read before a second is
    ready."""

    def __init__(
        self, preparation: Preparation, limits: ReadingLimits, files: Sequence[SourceFile]
    ):
        self._token_spans = preparation.token_spans
        self._limits = limits
        self._job = pack((replace(preparation, token_spans=_build_has_them), limits, os.getpid()))
        self._files = files
        self._begun = 0  # files that a process has been given
        self._turn = 0  # the file that is being taken
        self._lanes: dict[int, _Lane] = {}
        self._processes: list[Process] = []
        self._grown = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        for process in self._processes:
            process.close()

    def meet(self) -> None:
        """Wait until the first process is ready. Raises Unfit, or SourceError if none starts."""
        first = Process(self._job)
        self._processes.append(first)
        said = first.receive()
        if said is None:
            raise no_start(f"it ended with {first.end_status()}")
        if said.kind == UNFIT:
            raise Unfit(said.content.decode())
        self._grown = time.monotonic()

    def take(self, number: int) -> Iterator[Prepared | End]:
        """Return what the file of this number gives, and last its End."""
        self._turn = number
        while True:
            lane = self._lanes.get(number)
            while lane and lane.waiting:
                content = lane.waiting.popleft()
                lane.bytes -= len(content)
                yield from pickle.loads(content)
            if lane and lane.end:
                del self._lanes[number]
                yield lane.end
                return
            self._hand_out()
            self._listen()

    def _hand_out(self) -> None:
        """Give files to processes that have none, and start another one if that pays."""
        free = [process for process in self._processes if process.task is None and process.is_ready]
        while self._has_more():
            if not free:
                self._grow()
                return
            self._lanes[self._begun] = _Lane()
            free.pop().begin(self._begun, self._files[self._begun])
            self._begun += 1

    def _has_more(self) -> bool:
        ahead = sum(lane.bytes for lane in self._lanes.values())
        return (
            self._begun < len(self._files)
            and self._begun < self._turn + FILES_AHEAD
            and (ahead < _BYTES_AHEAD or self._begun == self._turn)
        )

    def _grow(self) -> None:
        starts = any(not process.is_ready for process in self._processes)
        pays = time.monotonic() - self._grown > _START_COST
        if not self._processes or (
            len(self._processes) < self._limits.workers and pays and not starts
        ):
            self._processes.append(Process(self._job))
            self._grown = time.monotonic()

    def _listen(self) -> None:
        """Take in what the processes say, or wait for it; end those that are at it for too long."""
        heard = [process for process in self._processes if not self._is_ahead(process)]
        quiet = [process for process in self._processes if self._is_ahead(process)]
        now = time.monotonic()
        for process in quiet:
            process.heard = now  # it waits for the build
        busy = [process for process in heard if process.task is not None]
        left = [process.heard + self._limits.patience - now for process in busy]
        grows = [_START_COST] if self._begun < len(self._files) else []
        talking = wait([p.connection for p in heard], max(0, min([*left, *grows], default=60)))
        for process in heard:
            if process.connection in talking:
                self._hear(process)
            elif process in busy and time.monotonic() - process.heard > self._limits.patience:
                process.close()
                self._lose(process, End(self._limits.patience, self._limits.too_slow))

    def _is_ahead(self, process: Process) -> bool:
        """Return whether it has read much that cannot be taken yet: the others need the room."""
        if process.task is None or process.task == self._turn:
            return False
        return self._lanes[process.task].bytes > _BYTES_AHEAD / self._limits.workers

    def _hear(self, process: Process) -> None:
        message = process.receive()
        if message is None or message.kind == UNFIT:
            if not process.is_ready:
                raise no_start(f"another one did, and this one ended with {process.end_status()}")
            seconds = round(time.monotonic() - process.began, 4)
            self._lose(process, why_it_ended(process.end_status(), self._limits, seconds))
        elif message.kind == SPANS:
            process.answer(self._token_spans(message.content.decode("utf-8", "surrogatepass")))
        elif process.task is not None:
            lane = self._lanes[process.task]
            if message.kind == SOME:
                lane.waiting.append(message.content)
                lane.bytes += len(message.content)
            elif message.kind in (END, LAST):
                lane.end = pickle.loads(message.content)
                process.task = None
                if message.kind == LAST:
                    self._processes.remove(process)
                    process.close()

    def _lose(self, process: Process, end: End) -> None:
        """Take out a process that is gone; the file it read is left out."""
        self._processes.remove(process)
        process.close()
        if process.task is not None:
            self._lanes[process.task].end = end


def _build_has_them(text: str) -> Sequence[tuple[int, int]]:
    """Stand in for the spans of tokens where they are asked of the build."""
    raise NotImplementedError(text)
