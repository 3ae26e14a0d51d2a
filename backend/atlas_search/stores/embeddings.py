"""The vectors of all passages by row, with the digests of their texts.

Chroma finds neighbours; these files give the exact vector of any passage at once, and let a later
build, of this or another text collection, take over what has been embedded.
"""

import os
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import xxhash
from numpy.typing import NDArray

from atlas_search.core.errors import DamagedStore
from atlas_search.stores.arrays import map_array
from atlas_search.stores.cosines import cosines
from atlas_search.stores.order import RECENT, Order
from atlas_search.stores.ragged import IntArray
from atlas_search.stores.spliced import Splice, Spliced
from atlas_search.stores.staged import text_digest as text_digest

VECTORS, DIGESTS, TOKENS, SUMS = "vectors.npy", "digests.npy", "tokens.npy", "sums.npy"
SPREAD = 2
"""Times as many vectors that follow each other are compared sooner than some of them are copied."""


class Embeddings:
    """Mapped from disk: unit vectors (n, d), text digests (n, 32), the model's token counts (n),
    and the XXH3 of each vector (n), so that one can be taken from a large file that was not read.
    """

    def __init__(
        self,
        vectors: NDArray[np.float32],
        digests: NDArray[np.uint8],
        tokens: IntArray,
        sums: NDArray[np.uint64] | None = None,
    ):
        """An earlier Atlas wrote no sums."""
        self.vectors = vectors
        self.digests = digests
        self.tokens = tokens
        self.sums = sums

    def is_whole(self, row: int) -> bool:
        """Whether a vector is as it was written, by its sum; False where an earlier Atlas wrote
        none."""
        return self.sums is not None and _sum(self.vectors[row]) == int(self.sums[row])

    @property
    def pieces(self) -> Sequence["Embeddings"]:
        """Those that lie in files of their own: this one."""
        return (self,)

    def similarities(self, rows: IntArray, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """The cosine similarities of `vector` and those of ascending `rows`."""
        return _similarities(self.vectors, rows, vector)

    def rows_of(self, digests: Collection[bytes]) -> dict[bytes, int]:
        """The first row of each of these texts that there is."""
        if not digests or not len(self.digests):
            return {}
        # the first eight bytes tell nearly all apart
        begin = np.ascontiguousarray(self.digests[:, :8]).view(np.uint64)[:, 0]
        wanted = np.array([int.from_bytes(d[:8], sys.byteorder) for d in digests], dtype=np.uint64)
        found: dict[bytes, int] = {}
        for row in np.flatnonzero(np.isin(begin, wanted)).tolist():
            digest = self.digests[row].tobytes()
            if digest in digests:
                found.setdefault(digest, row)
        return found

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Map the files of `folder`. Raises DamagedStore if one is missing or unreadable."""
        try:
            vectors, digests, tokens = (map_array(folder / n) for n in (VECTORS, DIGESTS, TOKENS))
            sums = map_array(folder / SUMS) if (folder / SUMS).exists() else None
            found = cls(vectors, digests, tokens, sums)
        except (OSError, ValueError, EOFError) as error:
            raise DamagedStore(
                f"The vectors in {folder} cannot be read ({error}). Run `atlas store repair`."
            ) from error
        if not len(found.vectors) == len(found.digests) == len(found.tokens):
            raise DamagedStore(f"The files in {folder} disagree. Run `atlas store repair`.")
        return found

    @classmethod
    def create(cls, folder: Path, count: int, dimension: int) -> Self:
        """New files for `count` passages, to be filled row by row."""
        folder.mkdir(parents=True)
        shapes = {
            VECTORS: ("<f4", (count, dimension)),
            DIGESTS: ("u1", (count, 32)),
            TOKENS: ("<i4", (count,)),
            SUMS: ("<u8", (count,)),
        }
        return cls(
            *(_new_array(folder / name, kind, shape) for name, (kind, shape) in shapes.items())
        )

    def flush(self) -> None:
        """Bring what was filled in to disk, with its sums."""
        if self.sums is not None:
            self.sums[:] = [_sum(vector) for vector in self.vectors]
        for array in (self.vectors, self.digests, self.tokens, self.sums):
            if isinstance(array, np.memmap):
                array.flush()


class SplicedEmbeddings:
    """Those of a version that was not written whole, as `Embeddings`."""

    def __init__(self, splice: Splice, base: Embeddings, recent: Embeddings):
        self.pieces: Sequence[Embeddings] = (base, recent)
        self.vectors = Spliced(splice, base.vectors, recent.vectors)
        self.digests = Spliced(splice, base.digests, recent.digests)
        self.tokens: IntArray = Spliced(splice, base.tokens, recent.tokens)[:]
        self._splice = splice

    def similarities(self, rows: IntArray, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """See Embeddings."""
        places = self._splice.at(rows)
        found = np.empty(len(rows), dtype=np.float32)
        is_recent = places >= self._splice.first
        for piece, own, first in zip(
            self.pieces, (~is_recent, is_recent), (0, self._splice.first), strict=True
        ):
            found[own] = _similarities(piece.vectors, places[own] - first, vector)
        return found


AnyEmbeddings = Embeddings | SplicedEmbeddings


def read_embeddings(folder: Path, order: Order | None) -> AnyEmbeddings:
    """Those in `folder`, of a version with an `order` if it was not written whole.

    Raises DamagedStore.
    """
    base = Embeddings.read(folder)
    if order is None:
        return base
    return SplicedEmbeddings(order.splice, base, Embeddings.read(folder / RECENT))


def read_vectors(folder: Path, order: Order | None) -> NDArray[np.float32] | Spliced:
    """The vectors alone, whatever else is damaged. Raises OSError, ValueError or EOFError."""
    base: NDArray[np.float32] = map_array(folder / VECTORS)
    if order is None:
        return base
    return Spliced(order.splice, base, map_array(folder / RECENT / VECTORS))


def _similarities(
    vectors: NDArray[np.float32], rows: IntArray, vector: NDArray[np.float32]
) -> NDArray[np.float32]:
    first, end = (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, 0)
    if end - first > SPREAD * len(rows):
        return cosines(vectors[rows], vector)
    every = cosines(vectors[first:end], vector)
    return every if len(every) == len(rows) else every[rows - first]


def _new_array(path: Path, kind: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """A mapped file of zeros, with its room taken: a full disk would end the process later."""
    array = np.lib.format.open_memmap(path, "w+", np.dtype(kind), shape)
    with path.open("r+b") as file:
        os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    return array


def _sum(vector: NDArray[np.float32]) -> int:
    return xxhash.xxh3_64_intdigest(np.ascontiguousarray(vector).data)
