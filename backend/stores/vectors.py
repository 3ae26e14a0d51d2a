"""Vectors in Chroma: one collection per corpus, ids only, cosine. The only module that knows it."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import chromadb
import numpy as np
from chromadb.api.client import Client
from chromadb.api.collection_configuration import (
    CreateCollectionConfiguration,
    CreateHNSWConfiguration,
)
from chromadb.config import Settings
from numpy.typing import NDArray

from backend.errors import DamagedStore

HNSW = CreateHNSWConfiguration(
    space="cosine",
    # the default of 100 finds 77% of the true 200 nearest in 180,000 passages, 1000 finds 98%;
    # it must be set at creation, a loaded index ignores a later change
    ef_search=1000,
    ef_construction=200,
    max_neighbors=16,
)
BATCH = 5000  # Chroma refuses more than 5461 at once
OVERFETCH = 16  # Chroma returns ties in any order; the caller orders them by id and cuts


class Neighbours(NamedTuple):
    """Passage ids with their cosine similarity, best first."""

    ids: list[str]
    similarities: NDArray[np.float64]


def _client(folder: Path) -> Client:
    client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
    assert isinstance(client, Client)  # its declared type lacks `close`
    return client


def _name(corpus: str) -> str:
    return f"corpus-{corpus}"


def write_vectors(
    folder: Path, corpora: Sequence[tuple[str, Sequence[str], NDArray[np.float32]]]
) -> None:
    """Write (corpus, passage ids, unit vectors of shape (n, d)) triples into a new folder."""
    client = _client(folder)
    for corpus, ids, vectors in corpora:
        collection = client.create_collection(
            _name(corpus),
            configuration=CreateCollectionConfiguration(hnsw=HNSW),
            embedding_function=None,
        )
        for start in range(0, len(ids), BATCH):
            batch = slice(start, start + BATCH)
            collection.upsert(ids=list(ids[batch]), embeddings=vectors[batch])
    client.close()


class Vectors:
    """The vectors of an existing store."""

    def __init__(self, folder: Path, corpora: Sequence[str]):
        self._client = _client(folder)
        present = {collection.name for collection in self._client.list_collections()}
        missing = [corpus for corpus in corpora if _name(corpus) not in present]
        if missing:
            raise DamagedStore(
                f"{folder} has no vectors for {', '.join(missing)}. "
                "Build the collection again with `--force`."
            )
        self._collections = {
            corpus: self._client.get_collection(_name(corpus), embedding_function=None)
            for corpus in corpora
        }

    def count(self, corpus: str) -> int:
        """Vectors stored for `corpus`."""
        return self._collections[corpus].count()

    def nearest(
        self,
        corpus: str,
        vector: NDArray[np.float32],
        depth: int,
        within: Sequence[str] | None = None,
    ) -> Neighbours:
        """Up to `depth` + OVERFETCH neighbours of `vector`, only `within` these ids if given."""
        if within is not None and not within:
            return Neighbours([], np.empty(0))
        found = self._collections[corpus].query(
            query_embeddings=vector[None, :],
            ids=list(within) if within is not None else None,
            n_results=depth + OVERFETCH,
            include=["distances"],
        )
        distances = found["distances"]
        return Neighbours(found["ids"][0], 1.0 - np.asarray(distances[0] if distances else []))

    def close(self) -> None:
        """Release the files."""
        self._client.close()
