"""Open a store and ask it, and print the resident memory that takes for each passage."""

import sys
import time
from pathlib import Path

import numpy as np

from atlas_search.stores.embedded import EmbeddedStore

QUESTIONS = 50
DEPTH = 200


def resident() -> int:
    """Bytes of this process that are in memory (Linux)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def main(folder: Path) -> None:
    """Measure and print."""
    import chromadb  # noqa: F401 the library is not part of what a passage costs

    before = resident()
    started = time.perf_counter()
    store = EmbeddedStore(folder)
    opened = time.perf_counter() - started
    random = np.random.default_rng(2)
    dimension = store.manifest.embedding.dimension
    times = []
    for row in random.integers(0, store.manifest.passages, QUESTIONS):
        vector = store.vectors(np.array([row]))[0]
        terms = [list(store.tokens.vocabulary)[term] for term in store.tokens.words.row(row)[:8]]
        started = time.perf_counter()
        for corpus in store.corpora:
            near = store.nearest(corpus.id, vector, DEPTH, None)
            store.matching(corpus.id, terms, DEPTH, None)
            store.vectors(near.rows)
        store.passages([int(r) for r in near.rows[:10]])
        times.append(time.perf_counter() - started)
    count = store.manifest.passages
    used = (resident() - before) / count - 4 * dimension
    print(
        f"{count} passages: {used:.0f} bytes of resident memory a passage beyond one copy of the "
        f"vectors; opened in {opened:.1f} s, both legs of all corpora and ten texts in "
        f"{np.median(times) * 1000:.0f} ms (median)"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
