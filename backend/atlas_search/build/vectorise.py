"""The vectors of a coming version: taken from earlier ones, from the staging area, or embedded."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from atlas_search.build.document_ids import Placed
from atlas_search.build.live_version import Cut, Live, Materials
from atlas_search.core.errors import DamagedStore
from atlas_search.providers.embedding import Embedder
from atlas_search.stores.digests import check_files
from atlas_search.stores.embeddings import Embeddings
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.staging import Staging
from atlas_search.stores.versions import EMBEDDINGS, versions

COMMIT_EVERY = 256  # passages embedded between two commits

Progress = Callable[[int, int], None]


class Known:
    """Vectors of the versions on disk that the same model made, and of the staging area."""

    def __init__(self, folder: Path, fingerprint: str, staging: Staging, live: Live | None):
        self._fingerprint = fingerprint
        self._staging = staging
        self._versions: list[Embeddings] = []
        self._rows: dict[bytes, tuple[int, int]] = {}
        for manifest in versions(folder):
            if manifest.embedding.fingerprint == fingerprint:
                self._take(folder / manifest.version, manifest, live)

    def _take(self, version: Path, manifest: Manifest, live: Live | None) -> None:
        try:
            if live and live.folder == version:
                found = live.embeddings  # their files are not read twice
            else:
                check_files(version, manifest, EMBEDDINGS)
                found = Embeddings.read(version / EMBEDDINGS)
        except DamagedStore:
            return
        number = len(self._versions)
        self._versions.append(found)
        for digest, row in found.rows_by_digest().items():
            self._rows.setdefault(digest, (number, row))

    def has(self, digest: bytes) -> bool:
        """Whether this text need not be embedded."""
        return digest in self._rows or self._staging.has_vector(self._fingerprint, digest)

    def fill(self, target: Embeddings, digests: Sequence[bytes]) -> None:
        """Write vector, digest and token count of every text into `target`, row by row."""
        target.digests[:] = np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(-1, 32)
        groups: dict[int, tuple[list[int], list[int]]] = {}
        for row, digest in enumerate(digests):
            if digest in self._rows:
                number, found = self._rows[digest]
                into, rows = groups.setdefault(number, ([], []))
                into.append(row)
                rows.append(found)
            else:
                target.tokens[row], target.vectors[row] = self._staging.vector(
                    self._fingerprint, digest
                )
        for number, (into, rows) in groups.items():
            target.vectors[into] = self._versions[number].vectors[rows]
            target.tokens[into] = self._versions[number].tokens[rows]
        target.flush()


def embed_missing(
    documents: Iterable[Placed],
    materials: Materials,
    known: Known,
    embedder: Embedder,
    staging: Staging,
    progress: Progress,
) -> tuple[list[bytes], int]:
    """The text digest of every passage in order, and how many texts had to be embedded.

    Equal texts share a vector. The order of the work depends on the texts alone, so a build that
    was interrupted forms the same batches as one that was not.
    """
    digests: list[bytes] = []
    missing: dict[bytes, Cut] = {}
    for document in documents:
        for cut in materials.cuts(document):
            digests.append(cut.digest)
            if cut.digest not in missing and not known.has(cut.digest):
                missing[cut.digest] = cut
    # texts of like length in one batch need little padding
    queue = sorted(missing.values(), key=lambda cut: (cut.length, cut.digest))
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
    return digests, len(queue)
