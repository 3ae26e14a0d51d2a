"""Chroma for any system: a collection for each corpus, with the product's accuracy."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

HNSW = {"space": "cosine", "ef_search": 1000, "ef_construction": 200, "max_neighbors": 16}
BATCH = 5000  # Chroma refuses more than 5461 at once


def client(folder: Path) -> Any:
    """A client of a folder that tells nobody anything."""
    import chromadb
    from chromadb.config import Settings

    return chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))


def batches(count: int) -> Sequence[slice]:
    """Slices of at most BATCH."""
    return [slice(start, min(start + BATCH, count)) for start in range(0, count, BATCH)]
