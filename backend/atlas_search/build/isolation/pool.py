"""Processes that read files at the same time, and what they read in the order of the files."""

import os
import pickle
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import wait
from types import TracebackType
from typing import Self

from atlas_search.build.isolation.here import read_here
from atlas_search.build.isolation.limits import End, Limits
from atlas_search.build.isolation.process import Process, Unfit, no_start, packed, why_it_ended
from atlas_search.build.isolation.worker import END, LAST, SOME, SPANS, UNFIT, Job
from atlas_search.build.prepare import Preparation, Prepared
from atlas_search.build.source_file import SourceFile

FILES_AHEAD = 32
"""Files that may be read before it is their turn to be staged: a build that is killed reads as
many of them again."""

_BYTES_AHEAD = 64_000_000  # of what has been read before its turn
_START_COST = 0.5  # seconds; another process is worth it if reading has taken as long already


def read_files(
    preparation: Preparation, limits: Limits, files: Sequence[SourceFile]
) -> Generator[tuple[SourceFile, Iterator[Prepared | End]], None, None]:
    """Each file with what it gives, in order; take all of one before the next.

    Files are read by other processes, unless there shall be none or the reader cannot be sent
    there. Close the iterator to end them.
    """
    if limits.workers and files:
        with suppress(Unfit), Pool(preparation, limits, files) as pool:
            pool.meet()
            yield from ((file, pool.take(number)) for number, file in enumerate(files))
            return
    for file in files:
        yield file, read_here(preparation, limits, file)


@dataclass
class _Lane:
    """What has been read of one file and not yet been taken."""

    waiting: deque[bytes] = field(default_factory=deque)
    bytes: int = 0
    end: End | None = None


class Pool:
    """The processes. They begin with one: few small files are read before a second one is ready."""

    def __init__(self, preparation: Preparation, limits: Limits, files: Sequence[SourceFile]):
        self._token_spans = preparation.token_spans
        self._limits = limits
        self._job = packed(Job(replace(preparation, token_spans=_asked), limits, os.getpid()))
        self._files = files
        self._begun = 0  # files that a process has been given
        self._turn = 0  # the file that is being taken
        self._lanes: dict[int, _Lane] = {}
        self._processes: list[Process] = []
        self._grown = time.monotonic()

    def __enter__(self) -> Self:  # noqa: D105
        return self

    def __exit__(  # noqa: D105
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
        """What the file of this number gives, and last its End."""
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
        """Whether it has read much that cannot be taken yet: the others need the room."""
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
        """A process is gone; the file it read is left out."""
        self._processes.remove(process)
        process.close()
        if process.task is not None:
            self._lanes[process.task].end = end


def _asked(text: str) -> Sequence[tuple[int, int]]:
    """Stands in for the spans of tokens where they are asked of the build."""
    raise NotImplementedError(text)
