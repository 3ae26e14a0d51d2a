"""The vectors of a coming version: taken from earlier ones, from the staging area, or embedded."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atlas_search.building.document_ids import KeptDocuments, PlacedDocument
from atlas_search.building.materials import Cut, Live, Materials
from atlas_search.building.prepare import VectoredDocument
from atlas_search.core.errors import DamagedStore, SourceError
from atlas_search.providers.embedding import Embedder
from atlas_search.stores.manifest import Manifest, readable_manifest
from atlas_search.stores.order import RECENT, Order
from atlas_search.stores.staging import Staging
from atlas_search.stores.vectors import (
    DIGESTS,
    SUMS,
    TOKENS,
    AnyEmbeddings,
    Embeddings,
    read_embeddings,
)
from atlas_search.stores.versions import EMBEDDINGS, ORDER, damaged_files, versions

SAMPLE = 32
LEAST_COSINE = 0.98
"""Between a vector and what the model makes of its text; other models are near 0."""


def check_vectors(
    source: str, documents: Sequence[VectoredDocument], embedder: Embedder
) -> tuple[list[bytes], list[int], NDArray[np.float32]]:
    """Return text digests, token counts and unit vectors that came with the documents of a source.

    Raises SourceError if they are not those of `embedder`: a question's vector would mean nothing
    among them.
    """
    pairs = [
        pair
        for document in documents
        for pair in zip(document.staged.passages, document.vectors, strict=True)
    ]
    texts = {passage.digest: passage.embedded for passage, _ in pairs}
    given = {passage.digest: vector for passage, vector in pairs}
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


COMMIT_EVERY = 256  # passages embedded between two commits

Progress = Callable[[int, int], None]


class StoredVector(NamedTuple):
    """A text that a version on disk has the vector of: its row there."""

    version: Embeddings
    row: int


@dataclass(frozen=True)
class VectorSources:
    """Sources of the vectors of a version: of each part in order, the rows of the live
    version, or the digests of its texts, which are `known` or staged.

    `embedded` counts the texts that had to be embedded.
    """

    parts: Sequence[range | Sequence[bytes]]
    known: Mapping[bytes, StoredVector]
    embedded: int

    @property
    def passages(self) -> int:
        return sum(map(len, self.parts))


class Known:
    """Vectors of the versions on disk and of collections `beside`, if the same model made them."""

    def __init__(
        self, folder: Path, fingerprint: str, live: Live | None, beside: Sequence[Path] = ()
    ):
        of_others = ((other, readable_manifest(other)) for other in beside)
        result = [
            *((folder, manifest) for manifest in versions(folder)),
            *((other, manifest) for other, manifest in of_others if manifest),
        ]
        self._versions = [
            (of / manifest.version, manifest)
            for of, manifest in result
            if manifest.embedding.fingerprint == fingerprint
        ]
        self._live = live

    @property
    def live(self) -> AnyEmbeddings | None:
        """Embeddings of the live version, if the same model made them and they are whole."""
        live = self._live
        if live is None or all(path != live.folder for path, _ in self._versions):
            return None
        try:
            return live.embeddings
        except DamagedStore:
            return None

    def find(self, digests: Collection[bytes]) -> dict[bytes, StoredVector]:
        """Return the texts among these that need not be embedded."""
        wanted = set(digests)
        result: dict[bytes, StoredVector] = {}
        for path, manifest in self._versions:
            if len(result) == len(wanted):
                break
            for piece in self._pieces(path, manifest):
                for digest, row in piece.rows_of(wanted - result.keys()).items():
                    if piece.is_whole(row):
                        result[digest] = StoredVector(piece, row)
        return result

    def _pieces(self, path: Path, manifest: Manifest) -> Sequence[Embeddings]:
        try:
            # the vectors have sums of their own
            names = [f"{EMBEDDINGS}/{name}" for name in (DIGESTS, TOKENS, SUMS)]
            names += [f"{EMBEDDINGS}/{RECENT}/{name}" for name in (DIGESTS, TOKENS, SUMS)]
            if damaged_files(path, manifest, [name for name in names if name in manifest.files]):
                return ()
            return read_embeddings(path / EMBEDDINGS, Order.read(path / ORDER)).pieces
        except DamagedStore:
            return ()


def embed_missing(
    parts: Sequence[KeptDocuments | PlacedDocument],
    materials: Materials,
    known: Known,
    embedder: Embedder,
    staging: Staging,
    progress: Progress,
    *,
    are_whole: bool = False,
) -> VectorSources:
    """Embed the texts of a version that have no vector yet.

    With `are_whole` the vectors of the live version are taken for undamaged. Equal texts share a
    vector. The order of the work depends on the texts alone, so a build that
    was interrupted forms the same batches as one that was not.
    """
    of_parts: list[range | list[bytes]] = []
    cuts: dict[bytes, Cut] = {}
    for part in parts:
        if isinstance(part, KeptDocuments) and (are_whole or known.live is not None):
            of_parts.append(part.rows)
            continue
        of_part = [
            cut
            for place in (
                materials.live.placed(part) if isinstance(part, KeptDocuments) else [part]
            )
            for cut in materials.cuts(place)
        ]
        of_parts.append([cut.digest for cut in of_part])
        for cut in of_part:
            cuts.setdefault(cut.digest, cut)
    result = known.find(cuts)
    missing = [
        cut
        for digest, cut in cuts.items()
        if digest not in result and not staging.has_vector(embedder.fingerprint, digest)
    ]
    # texts of like length in one batch need little padding
    queue = sorted(missing, key=lambda cut: (cut.length, cut.digest))
    progress(0, len(queue))
    for start in range(0, len(queue), COMMIT_EVERY):
        batch = queue[start : start + COMMIT_EVERY]
        texts = materials.texts(batch)
        staging.add_vectors(
            embedder.fingerprint,
            [cut.digest for cut in batch],
            embedder.count_tokens(texts),
            embedder.embed(texts),
        )
        progress(start + len(batch), len(queue))
    return VectorSources(of_parts, result, len(queue))


def fill(
    target: Embeddings,
    vectors: VectorSources,
    live: AnyEmbeddings | None,
    staging: Staging,
    model: str,
) -> None:
    """Write vector, digest and token count of every passage into `target`, row by row.

    `live` are those of the live version, `model` is the fingerprint of what was staged.
    """
    start = 0
    for part in vectors.parts:
        if isinstance(part, range):
            assert live is not None
            into, rows = slice(start, start + len(part)), slice(part.start, part.stop)
            target.vectors[into] = live.vectors[rows]
            target.digests[into] = live.digests[rows]
            target.tokens[into] = live.tokens[rows]
        else:
            for row, digest in enumerate(part, start):
                target.digests[row] = np.frombuffer(digest, dtype=np.uint8)
                if digest in vectors.known:
                    version, at = vectors.known[digest]
                    target.tokens[row] = version.tokens[at]
                    target.vectors[row] = version.vectors[at]
                else:
                    target.tokens[row], target.vectors[row] = staging.vector(model, digest)
        start += len(part)
    target.flush()
