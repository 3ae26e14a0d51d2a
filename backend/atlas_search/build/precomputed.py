"""Vectors that came with their documents: taken over if they are the model's own."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from atlas_search.build.prepare import VectoredDocument
from atlas_search.core.errors import SourceError
from atlas_search.providers.embedding import Embedder

SAMPLE = 32
LEAST_COSINE = 0.98
"""Between a vector and what the model makes of its text; other models are near 0."""


def check_vectors(
    source: str, documents: Sequence[VectoredDocument], embedder: Embedder
) -> tuple[list[bytes], list[int], NDArray[np.float32]]:
    """Text digests, token counts and unit vectors that came with the documents of a source.

    Raises SourceError if they are not those of `embedder`: a question's vector would mean nothing
    among them.
    """
    passages = [document.staged.passages[0] for document in documents]
    texts = {passage.digest: passage.embedded for passage in passages}
    given = {p.digest: each.vector for p, each in zip(passages, documents, strict=True)}
    digests = list(given)
    lengths = {len(vector) for vector in given.values()}
    if lengths != {embedder.info.dimension}:
        raise SourceError(
            f"{source}: its vectors have {' or '.join(map(str, sorted(lengths)))} "
            f"dimensions, those of {embedder.info.name} {embedder.info.dimension}. "
            "Set EMBEDDING_MODEL and POOLING to what made them."
        )
    vectors = np.array([given[digest] for digest in digests], dtype=np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    chosen = np.linspace(0, len(digests) - 1, min(SAMPLE, len(digests))).astype(int)
    made = embedder.embed([texts[digests[at]] for at in chosen])
    cosine = float(np.einsum("nd,nd->n", vectors[chosen], made).min())
    if cosine < LEAST_COSINE:
        raise SourceError(
            f"{source}: its vectors are not those of {embedder.info.name} (lowest "
            f"cosine {cosine:.2f} over {len(chosen)} texts). Set EMBEDDING_MODEL, POOLING and the "
            "prefixes to what made them."
        )
    return digests, embedder.count_tokens([texts[digest] for digest in digests]), vectors
