"""A system in a process of its own: `python -m benchmarks.performance.systems.worker NAME`.

It reads one JSON object a line, {"do": "build"}, and writes one a line: what that took, or an
"error". Seconds are of this process's processor.
"""

import ctypes
import gc
import importlib
import json
import os
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

DEPTH, KEPT = 200, 10
LEAST_RECALLED, LONGEST_RECALL = 10, 60.0
"""Questions whose neighbours are compared in any case, and seconds after which these must do."""


class Passages(NamedTuple):
    """Passages in order, and their vectors of shape (n, d)."""

    rows: Sequence[Mapping[str, str]]
    vectors: NDArray[np.float32]

    def of(self, corpus: str) -> "Passages":
        """Those of a corpus."""
        chosen = [at for at, row in enumerate(self.rows) if row["corpus"] == corpus]
        return Passages([self.rows[at] for at in chosen], self.vectors[chosen])


class System(Protocol):
    """A system; `packages` are the distributions whose versions are told."""

    packages: Sequence[str]
    note: str

    def build(self, corpora: Mapping[str, Passages], folder: Path) -> None:
        """Index all passages, by corpus; what is kept on disk is kept in `folder`."""

    def ask(self, question: str, vector: NDArray[np.float32]) -> list[tuple[str, str]]:
        """Ids and texts of the best ten passages, best first."""

    def nearest(self, corpus: str, vector: NDArray[np.float32]) -> list[str]:
        """Ids of the DEPTH nearest passages of a corpus."""

    def change(self, corpus: str, gone: Sequence[str], passages: Passages) -> None:
        """Replace the passages of a document; the next question sees the change."""


class Worker:
    """A system with the data it was given."""

    def __init__(self, system: System, data: Path, work: Path):
        self._system, self._data, self._work = system, data, work
        self._questions = json.loads((data.parent / "questions.json").read_text())
        self._vectors = np.load(data.parent / "questions.npy")
        self._resident = 0

    def build(self) -> dict[str, Any]:
        """Read the data, which does not count, and build."""
        self._resident = resident()
        with (self._data / "passages.jsonl").open() as file:
            every = Passages([json.loads(line) for line in file], self._read("vectors"))
        names = dict.fromkeys(row["corpus"] for row in every.rows)
        corpora = {name: every.of(name) for name in names}
        began, used = time.perf_counter(), time.process_time()
        self._system.build(corpora, self._work)
        return {
            "processor": time.process_time() - used,
            "elapsed": time.perf_counter() - began,
            "versions": {name: version(name) for name in self._system.packages},
            "note": self._system.note,
        }

    def ask(self, number: int) -> dict[str, Any]:
        """Put a question."""
        began, used = time.perf_counter(), time.process_time()
        found = self._system.ask(self._questions[number], self._vectors[number])
        took = time.process_time() - used, time.perf_counter() - began
        assert len(found) == KEPT, f"{len(found)} passages"
        assert all(text for _, text in found), "a passage without a text"
        return {"processor": took[0], "elapsed": took[1]}

    def recall(self) -> dict[str, Any]:
        """The mean share of the true nearest that are found, by corpus."""
        with (self._data / "passages.jsonl").open() as file:
            rows = [(each["id"], each["corpus"]) for each in map(json.loads, file)]
        nearest = np.load(self._data / "nearest.npy")
        every = len(self._questions) // len(nearest)
        shares: dict[str, list[float]] = {}
        began = time.perf_counter()
        for at, (vector, of_corpora) in enumerate(
            zip(self._vectors[::every], nearest, strict=True)
        ):
            if at >= LEAST_RECALLED and time.perf_counter() - began > LONGEST_RECALL:
                break
            for true in of_corpora:
                ids = {rows[row][0] for row in true if row >= 0}
                corpus = rows[true[0]][1]
                found = ids & set(self._system.nearest(corpus, vector))
                shares.setdefault(corpus, []).append(len(found) / len(ids))
        return {corpus: float(np.mean(found)) for corpus, found in shares.items()}

    def change(self) -> dict[str, Any]:
        """Change one document."""
        rows = json.loads((self._data / "changed.json").read_text())
        changed = Passages(rows, np.load(self._data / "changed.npy"))
        gone = [row["id"] for row in rows]
        used = time.process_time()
        self._system.change(rows[0]["corpus"], gone, changed)
        return {"processor": time.process_time() - used}

    def size(self) -> dict[str, Any]:
        """Bytes in memory beyond those before the build, and on disk."""
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        files = [path for path in self._work.rglob("*") if path.is_file()]
        return {
            "resident": resident() - self._resident,
            "disk": sum(path.stat().st_size for path in files),
        }

    def _read(self, name: str) -> NDArray[np.float32]:
        found: NDArray[np.float32] = np.load(self._data / f"{name}.npy")
        return found


def resident() -> int:
    """Bytes of this process that are in memory (Linux)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def main() -> None:
    """Do what the lines say."""
    # libraries print; the answers go where nothing else does
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    name, data, work = sys.argv[1:]
    worker: Worker | None = None
    for line in sys.stdin:
        told = json.loads(line)
        try:
            if worker is None:
                module = importlib.import_module(f"{__package__}.{name}")
                worker = Worker(module.SYSTEM(), Path(data), Path(work))
            found = getattr(worker, told.pop("do"))(**told)
        except Exception as error:
            traceback.print_exc()
            found = {"error": f"{type(error).__name__}: {error}"[:500]}
        answers.write(json.dumps(found) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
