"""Builds in processes of their own, to be killed at any moment.

They are forked from a process that has imported everything, so that a kill meets the build and
not its imports.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import atlas_search.building.vectorise
from atlas_search.building import change
from atlas_search.building.chunking import chunking
from atlas_search.building.flow import BuildOptions, build
from atlas_search.building.go_live import Indexing
from atlas_search.building.sources import by_folder
from atlas_search.readers import Read
from atlas_search.readers.text import TxtReader
from atlas_search.stores.manifest import Engine
from atlas_search.stores.staged import text_digest
from tests.hash_embedder import HashEmbedder
from tests.servers import wait_for

BATCH = 4  # passages embedded between two commits
FINISH_SECONDS = 60.0

_PROCESSES = get_context("forkserver")
_PROCESSES.set_forkserver_preload(
    ["chromadb", "pytest", "atlas_search.building.flow", "atlas_search.readers.text"]
)
_CHANGES = {"os.mkdir", "os.rename", "os.remove", "sqlite3.connect"}


@dataclass(frozen=True)
class Job:
    """A build of `source` in `folder`, which writes what it reads and embeds into `log`.

    It takes `delay` seconds for each text, stands still once so much of the stage `until` is done,
    and dies before the `fatal`-th change to the folder, if any. If it `shares`, it writes what is
    new beside the files of the live version.
    """

    folder: Path
    source: Path
    log: Path
    delay: float = 0.0
    fatal: int = 0
    shares: bool = False
    until: tuple[str, int] | None = None
    engine: Engine = "embedded"


@dataclass(frozen=True)
class LoggedReader(TxtReader):
    """Notes every file it reads."""

    log: Path

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        _note(self.log, [f"read {path}"])
        return super().read(path, encoding)


class LoggedEmbedder(HashEmbedder):
    """Notes every text it embeds. As a real model's, a vector differs a little with its batch."""

    def __init__(self, log: Path, delay: float = 0.0):
        super().__init__(delay=delay)
        self._log = log

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        digests = [text_digest(text) for text in texts]
        _note(self._log, [f"embed {digest.hex()}" for digest in digests])
        company = np.random.default_rng(np.frombuffer(b"".join(digests), dtype=np.uint8))
        vectors = super().embed(texts)
        vectors += company.normal(scale=1e-5, size=vectors.shape).astype(np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class Build:
    """A build at work."""

    def __init__(self, job: Job):
        self._receiver, sender = _PROCESSES.Pipe(duplex=False)
        self.process = _PROCESSES.Process(target=_work, args=(job, sender), daemon=True)
        self.process.start()
        self._halts = job.until is not None
        sender.close()

    def reaches(self, stage: str, done: int = 0) -> bool:
        """Wait until so much of a stage is done; False if the build ends before."""
        try:
            while (progress := self._receiver.recv()) and not (
                progress[0] == stage and progress[1] >= done
            ):
                pass
        except EOFError:
            return False
        return True

    @contextmanager
    def paused(self) -> Iterator[None]:
        """It stands still while the block runs; if it was to halt by itself, from there on."""
        assert self.process.pid
        if self._halts:
            wait_for(self._is_halted, FINISH_SECONDS, "the end of its steps")
        else:
            os.kill(self.process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.process.pid, signal.SIGCONT)

    def _is_halted(self) -> bool | None:
        command = ("ps", "-o", "state=", "-p", str(self.process.pid))
        state = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return state.startswith("T") or None

    def works_for(self, seconds: float) -> bool:
        """Wait; False if the build ends before."""
        self.process.join(seconds)
        return self.process.is_alive()

    def kill(self) -> bool:
        """End it at once; False if it had come to its end already."""
        self.process.kill()
        return self.finish() == -signal.SIGKILL

    def finish(self) -> int:
        """Wait for its end; the exit code."""
        self.process.join(FINISH_SECONDS)
        assert self.process.exitcode is not None, "the build hangs"
        self._receiver.close()
        return self.process.exitcode


def run_build(job: Job) -> None:
    """Build without interruption."""
    assert Build(job).finish() == 0


def _work(job: Job, sender: Connection) -> None:
    atlas_search.building.vectorise.COMMIT_EVERY = BATCH
    if job.shares:
        change.WHOLE_UP_TO, change.RECENT_SHARE, change.REBUILD_SHARE = 0, 1.0, 1.0
    if job.fatal:
        die_before(job.folder, job.fatal)
    reader = LoggedReader(job.log)

    halts = [job.until] if job.until else []

    def tell(stage: str, done: int, total: int) -> None:
        sender.send((stage, done, total))
        if halts and stage == halts[0][0] and done >= halts[0][1]:
            halts.clear()
            os.kill(os.getpid(), signal.SIGSTOP)

    tell("Starting", 0, 0)
    build(
        job.folder,
        by_folder([job.source], reader.suffixes, ""),
        reader,
        LoggedEmbedder(job.log, job.delay),
        BuildOptions(
            "kept", "txt", chunking(size=200, overlap=20), indexing=Indexing("hnsw", job.engine)
        ),
        tell,
    )


def die_before(folder: Path, fatal: int) -> None:
    """Kill this process before it changes an entry of the folder for the `fatal`-th time.

    Removing any folder counts too: half of what it was part of is gone then.
    """
    left = fatal

    def count(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        changes = event in _CHANGES or (event == "open" and _writes(arguments[2]))
        if event == "os.rmdir" or (changes and os.path.dirname(arguments[0]) == str(folder)):
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)


def _writes(flags: object) -> bool:
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))


def _note(log: Path, lines: Sequence[str]) -> None:
    with log.open("a") as file:
        file.write("".join(f"{line}\n" for line in lines))
