"""How many of the true nearest passages the vector index finds."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from atlas_search.stores.vectors import Vectors

DEPTH = 200  # candidates of one leg for one corpus, as a search asks for them
SAMPLE = 100  # passages used as questions, spread over the corpus
NOISE = 0.5  # length of what is added to a passage's vector to make a question of it


def index_recall(
    index: Vectors, corpus: str, rows: Mapping[str, int], vectors: NDArray[np.float32]
) -> float:
    """The mean share of the nearest passages of a corpus that its index finds, from 0 to 1.

    `vectors` (n, d) are those of the corpus, `rows` says which is that of each passage id. The
    index may hold others, which are gone.
    """
    random = np.random.default_rng(0)
    depth = min(DEPTH, len(vectors))
    gone = index.count(corpus) - len(vectors)
    found = []
    for at in sample(len(vectors)):
        noise = random.standard_normal(vectors.shape[1], dtype=np.float32)
        query = vectors[at] + NOISE * noise / np.linalg.norm(noise)
        query = (query / np.linalg.norm(query)).astype(np.float32)
        exact = np.einsum("ij,j->i", vectors, query)
        floor = np.partition(exact, -depth)[-depth]
        asked = depth + 2 * depth * gone // max(len(vectors), 1)
        hits = [id_ for id_ in index.nearest(corpus, query, asked).ids if id_ in rows][:depth]
        found.append(sum(exact[rows[id_]] >= floor - 1e-6 for id_ in hits) / depth)
    return float(np.mean(found)) if found else 1.0


def sample(count: int) -> list[int]:
    """At most SAMPLE numbers from 0 to `count` - 1, evenly spread."""
    return sorted({int(at) for at in np.linspace(0, count - 1, min(SAMPLE, count))})
