"""Opening a collection, what it holds in memory, and starting commands."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.performance.fresh import fresh, processor
from benchmarks.performance.records import Record
from benchmarks.performance.site import Site

OPENED = 3  # times
ASKED = 50
HELPED = 5


def opened(site: Site) -> list[Record]:
    """Opening a collection whose libraries are imported, and its memory after some searches."""
    site.require_store()
    given = {"store": site.store, "questions": site.questions}
    found = [fresh("rows.opening:open_and_ask", **given) for _ in range(OPENED)]
    seconds = median(each["processor"] for each in found)
    resident = median(each["resident"] for each in found) / found[0]["passages"] / 1000
    return [
        Record("open a collection", "CPU s", seconds, site.size),
        Record(
            "memory a passage",
            "KB",
            resident,
            site.size,
            2.5,
            floor=1.536,
            note=f"resident, after {ASKED} searches; the floor is one copy of the vectors",
        ),
    ]


def open_and_ask(store: str, questions: str) -> dict[str, Any]:
    """Seconds of processor to open, and what is resident afterwards beyond what was before."""
    import chromadb  # noqa: F401 libraries are not part of what a passage costs

    from atlas_search.atlas import Atlas
    from benchmarks.open_store import resident
    from benchmarks.performance.embedder import Given

    asked = json.loads(Path(questions).read_text())[:ASKED]
    embedder = Given(Path(questions))
    before, used = resident(), processor()
    with Atlas.open(Path(store), embedder=embedder) as atlas:
        taken = processor() - used
        for question in asked:
            atlas.search(question)
        held = resident() - before
        passages = atlas.services.store.manifest.passages
    return {"processor": taken, "resident": held, "passages": passages}


def helped(_site: Site) -> list[Record]:
    """`atlas --help`, against an empty Python."""
    help_ = median(_children([sys.executable, "-m", "atlas_search.cli.main", "--help"]))
    empty = median(_children([sys.executable, "-c", ""]))
    return [
        Record(
            "`atlas --help`", "CPU s", help_, floor=empty, note="the floor is a Python without work"
        )
    ]


def _children(command: Sequence[str]) -> list[float]:
    took = []
    for _ in range(HELPED):
        null = os.open(os.devnull, os.O_WRONLY)
        process = os.posix_spawn(
            command[0],
            command,
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)],
        )
        _, status, used = os.wait4(process, 0)
        os.close(null)
        if status:
            raise RuntimeError(f"{command} ended with {status}")
        took.append(used.ru_utime + used.ru_stime)
    return took
