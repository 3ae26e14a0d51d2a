"""Builds of hostile files, within limits that a test does not wait for.

`python -m tests.server.hostile.builds SOURCES FOLDER LOG` builds, and never comes to an end.
"""

import sys
from dataclasses import replace
from pathlib import Path

from atlas_search.building.chunking import Chunking, chunking
from atlas_search.building.flow import BuildOptions, BuildReport, build
from atlas_search.building.sources import by_folder
from atlas_search.building.workers import ReadingLimits
from atlas_search.readers import Reader
from tests.hash_embedder import HashEmbedder
from tests.server.hostile.readers import HostileReader
from tests.tiny import HNSW

LIMITS = ReadingLimits(workers=2, seconds=1, memory=400, characters=1_000_000)


def build_with(
    reader: Reader,
    root: Path,
    folder: Path,
    limits: ReadingLimits = LIMITS,
    cut: Chunking | None = None,
    embedder: HashEmbedder | None = None,
) -> BuildReport:
    return build(
        folder,
        by_folder([root], reader.suffixes, ""),
        reader,
        embedder or HashEmbedder(),
        BuildOptions(folder.name, "hostile", cut or chunking(), limits=limits, indexing=HNSW),
        lambda *_: None,
    )


def write_deeds(root: Path, *deeds: str) -> Path:
    """A file for each deed, with good files before and after it."""
    (root / "town").mkdir(parents=True)
    for name in ("a", *deeds, "z"):
        (root / "town" / f"{name}.txt").write_text(f"{name} is what this file says.")
    return root


if __name__ == "__main__":
    sources, folder, log = sys.argv[1:]
    limits = replace(LIMITS, seconds=10_000)
    build_with(HostileReader(log), Path(sources), Path(folder), limits)
