"""Other systems against the product: each in a process of its own, both asked in turns."""

import json
import os
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.performance.records import Beside, Record
from benchmarks.performance.site import DEPTH, QUESTIONS, Site
from tests.places import ROOT

PEERS = ("langchain", "llamaindex", "haystack", "txtai")
ORIGINAL = "original"
PYTHON = Path(os.environ.get("PEERS_VENV", ROOT / ".venv-peers")) / "bin" / "python"
LONGEST_ASKING = 120.0  # seconds of questions in turns; then those asked must do
LEAST_ASKED, MOST_ASKED, WARMING = 8, 40, 3

Tell = Callable[[str], None]


class Failed(Exception):
    """A system did not do what it was told; says why."""


class Process:
    """A worker: one answer for each call. Raises Failed after `patience` seconds without one."""

    def __init__(self, process: "subprocess.Popen[str]", patience: float):
        self._process, self._patience = process, patience
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put("")

    def __call__(self, do: str, **given: Any) -> dict[str, Any]:
        """What a command gave."""
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps({"do": do, **given}) + "\n")
            self._process.stdin.flush()
            line = self._answers.get(timeout=self._patience)
        except queue.Empty as error:
            raise Failed(f"{do} took more than {self._patience:.0f} s") from error
        except OSError as error:
            raise Failed(f"ended before {do}") from error
        if not line:
            raise Failed(f"ended with {self._process.wait()} during {do}")
        found: dict[str, Any] = json.loads(line)
        if "error" in found:
            raise Failed(f"{do}: {found['error']}")
        return found


@contextmanager
def worker(
    python: Path | str, system: str, data: Path, work: Path, patience: float
) -> Iterator[Process]:
    """A worker over `data`, which keeps its files in `work`; what it says goes to a log beside."""
    module = "benchmarks.performance.systems.worker"
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "backend")]),
        "HF_HUB_OFFLINE": "1",
        "HAYSTACK_TELEMETRY_ENABLED": "False",
        "ANONYMIZED_TELEMETRY": "False",
        "LANGSMITH_TRACING": "false",
    }
    with (data.parent / f"{system}.log").open("w") as log:
        process = subprocess.Popen(
            [str(python), "-m", module, system, str(data), str(work)],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            yield Process(process, patience)
        finally:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe and not pipe.closed:
                    pipe.close()


def beside(site: Site, system: str, patience: float, tell: Tell) -> Beside:
    """A system and the product in turns. What fails is told in the `error`, with what was found."""
    python = sys.executable if system == ORIGINAL else PYTHON
    if not Path(python).exists():
        return Beside(system, site.size, {}, error="not installed: run `make peers-venv`")
    site.require_exported()
    work = site.folder / f"work-{system}"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    found: dict[str, Any] = {"versions": {}}
    try:
        with worker(python, system, site.exported, work, patience) as theirs:
            _measure(site, theirs, found, patience, tell)
    except Failed as error:
        found["error"] = str(error)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return Beside(system, site.size, **found)


def _measure(
    site: Site, theirs: Process, found: dict[str, Any], patience: float, tell: Tell
) -> None:
    tell("building")
    built = theirs("build")
    passages = site.passages()
    found |= {
        "versions": built["versions"],
        "build_seconds": built["processor"],
        "note": built["note"],
    }
    tell(f"built in {built['elapsed']:.0f} s, asking")
    with worker(sys.executable, "product", site.exported, site.store, patience) as ours:
        ours("build")
        found |= _in_turns(theirs, ours)
    sizes = theirs("size")
    found["resident_bytes"] = sizes["resident"] / passages
    if sizes["disk"]:
        found["disk_bytes"] = sizes["disk"] / passages
    tell("recall")
    found["recall"] = min(theirs("recall").values())
    tell("changing a document")
    found["change_seconds"] = theirs("change")["processor"]


def _in_turns(theirs: Process, ours: Process) -> dict[str, float]:
    """Medians over the same questions, in milliseconds."""
    taken: dict[str, list[dict[str, float]]] = {"theirs": [], "ours": []}
    spent = 0.0
    for at in range(WARMING + MOST_ASKED):
        number = at * (QUESTIONS // (WARMING + MOST_ASKED))
        pair = [("theirs", theirs), ("ours", ours)]
        for name, ask in pair[:: 1 if at % 2 else -1]:
            one = ask("ask", number=number)
            spent += one["elapsed"]
            if at >= WARMING:
                taken[name].append(one)
        if spent > LONGEST_ASKING and at >= WARMING + LEAST_ASKED:
            break

    def of(name: str, what: str) -> float:
        return 1000 * median(each[what] for each in taken[name])

    return {
        "question_ms": of("theirs", "processor"),
        "question_elapsed_ms": of("theirs", "elapsed"),
        "product_ms": of("ours", "processor"),
        "product_elapsed_ms": of("ours", "elapsed"),
    }


def against_original(found: Beside, recall: float | None) -> Record:
    """How many times faster the product is than the original layout, at p50."""
    name = "search against the original layout"
    if found.error or not found.question_elapsed_ms or not found.product_elapsed_ms:
        return Record(name, "times faster", None, found.size, 50.0, "higher", error=found.error)
    product, original = found.product_elapsed_ms, found.question_elapsed_ms
    kept = f"; recall@{DEPTH} {found.recall:.3f}, the product's {recall:.3f}" if recall else ""
    return Record(
        name,
        "times faster",
        original / product,
        found.size,
        50.0,
        "higher",
        note=f"p50 {original:.0f} ms against {product:.1f} ms elapsed; "
        f"{found.question_ms:.0f} against {found.product_ms:.1f} CPU ms{kept}",
    )
