"""Builds: the whole, one changed document, a thousand."""

import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.performance.fresh import fresh, processor
from benchmarks.performance.records import Record
from benchmarks.performance.site import MANY_CHANGED, Site

ONE_CHANGED = 3  # documents, one after the other
ADDED = "\n\nA new paragraph says what was not known before."


def whole(site: Site) -> list[Record]:
    """A build without embedding, and what it takes on disk."""
    site.write_sources()
    shutil.rmtree(site.store, ignore_errors=True)
    took = fresh("rows.building:build_store", sources=site.sources, store=site.store)
    passages = took["passages"]
    parts = ", ".join(f"{name} {bytes_ / passages:,.0f}" for name, bytes_ in took["sizes"].items())
    return [
        Record(
            "build without embedding",
            "passages a CPU second",
            passages / took["processor"],
            site.size,
            reach=3000.0,
            better="higher",
            note=f"{took['elapsed']:.0f} s elapsed",
        ),
        Record(
            "disk a passage",
            "KB",
            sum(took["sizes"].values()) / passages / 1000,
            site.size,
            reach=4.0,
            floor=1.536,
            note=f"bytes: {parts}; the floor is one copy of the vectors",
        ),
    ]


def one_changed(site: Site) -> list[Record]:
    """One document changed, three times over; the median."""
    site.require_store()
    changed = site.documents()[1 : 1 + ONE_CHANGED]
    took = [each["processor"] for each in _changed(site, [[path] for path in changed])]
    looked = fresh("rows.building:look", sources=site.sources)
    return [
        Record(
            "one changed document",
            "CPU s",
            median(took),
            site.size,
            reach=1.0,
            floor=looked["processor"],
            note=f"the floor is to list {looked['files']:,} files and ask the system for the state "
            "of each",
        ),
    ]


def many_changed(site: Site) -> list[Record]:
    """A thousand documents changed at once."""
    site.require_store()
    changed = site.documents()[-MANY_CHANGED:]
    (took,) = _changed(site, [changed])
    return [
        Record(
            "a thousand changed documents",
            "CPU s",
            took["processor"],
            site.size,
            note=f"{len(changed):,} changed documents",
        )
    ]


def _changed(site: Site, rounds: Sequence[Sequence[Path]]) -> list[dict[str, Any]]:
    """What builds after changes take, each change over the one before, in a copy of the store."""
    copy = site.folder / "changed"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(site.store, copy)
    before: dict[Path, str] = {}
    took = []
    try:
        for paths in rounds:
            for path in paths:
                before[path] = path.read_text()
                path.write_text(before[path] + ADDED)
            took.append(fresh("rows.building:build_store", sources=site.sources, store=copy))
    finally:
        for path, text in before.items():
            path.write_text(text)
        shutil.rmtree(copy, ignore_errors=True)
    return took


def look(sources: str) -> dict[str, Any]:
    """Seconds of processor to list all files below a folder and to get the state of each."""
    used, files = processor(), 0
    for folder, _, names in os.walk(sources):
        for name in names:
            os.stat(os.path.join(folder, name))
            files += 1
    return {"processor": processor() - used, "files": files}


def build_store(sources: str, store: str) -> dict[str, Any]:
    """Build, and give seconds of processor and elapsed, passages, and bytes by part."""
    from atlas_search.building.flow import BuildOptions, build
    from atlas_search.building.sources import by_folder
    from atlas_search.readers.text import TxtReader
    from benchmarks.performance.embedder import Given

    reader, embedder = TxtReader(), Given()
    began, used = time.perf_counter(), processor()
    found = by_folder([Path(sources)], reader.suffixes, "")
    options = BuildOptions("store", "txt")
    report = build(Path(store), found, reader, embedder, options, lambda *_: None)
    return {
        "processor": processor() - used,
        "elapsed": time.perf_counter() - began,
        "passages": report.manifest.passages,
        "sizes": report.manifest.sizes,
    }
