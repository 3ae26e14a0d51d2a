"""Haystack: an InMemoryDocumentStore for each corpus, both of its retrievers, a DocumentJoiner."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from haystack import Document, Pipeline
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import (
    InMemoryBM25Retriever,
    InMemoryEmbeddingRetriever,
)
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy

from benchmarks.performance.systems.worker import DEPTH, KEPT, Passages


class SYSTEM:
    """See System."""

    packages = ("haystack-ai",)
    note = (
        "Its one document store that finds by meaning and by words is in memory, and compares "
        "every vector."
    )

    def build(self, corpora: Mapping[str, Passages], folder: Path) -> None:
        """See System."""
        self._stores = {}
        self._pipeline = Pipeline()
        self._pipeline.add_component(
            "join", DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=KEPT)
        )
        for corpus, passages in corpora.items():
            store = InMemoryDocumentStore(
                embedding_similarity_function="cosine", return_embedding=False, shared=False
            )
            store.write_documents(_documents(passages))
            self._stores[corpus] = store
            for name, kind in _RETRIEVERS.items():
                retriever = kind(document_store=store, top_k=DEPTH)
                self._pipeline.add_component(f"{name}-{corpus}", retriever)
                self._pipeline.connect(f"{name}-{corpus}", "join.documents")

    def ask(self, question: str, vector: Any) -> list[tuple[str, str]]:
        """See System."""
        embedding = np.asarray(vector).tolist()
        given: dict[str, Any] = {}
        for corpus in self._stores:
            given[f"meaning-{corpus}"] = {"query_embedding": embedding}
            given[f"words-{corpus}"] = {"query": question}
        found = self._pipeline.run(given)["join"]["documents"]
        return [(document.id, document.content) for document in found]

    def nearest(self, corpus: str, vector: Any) -> list[str]:
        """See System."""
        retriever = self._pipeline.get_component(f"meaning-{corpus}")
        found = retriever.run(query_embedding=np.asarray(vector).tolist())
        return [document.id for document in found["documents"]]

    def change(self, corpus: str, gone: Sequence[str], passages: Passages) -> None:
        """See System."""
        self._stores[corpus].delete_documents(list(gone))
        self._stores[corpus].write_documents(_documents(passages), DuplicatePolicy.OVERWRITE)


_RETRIEVERS = {"meaning": InMemoryEmbeddingRetriever, "words": InMemoryBM25Retriever}


def _documents(passages: Passages) -> list[Document]:
    return [
        Document(
            id=row["id"],
            content=row["text"],
            embedding=vector.tolist(),
            meta={"document": row["document"]},
        )
        for row, vector in zip(passages.rows, passages.vectors, strict=True)
    ]
