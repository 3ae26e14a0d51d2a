"""LangChain: Chroma and BM25Retriever for each corpus, in an EnsembleRetriever."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from langchain_chroma import Chroma
from langchain_classic.retrievers import EnsembleRetriever
from langchain_community.retrievers import BM25Retriever
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from benchmarks.performance.systems.chroma import HNSW, batches, client
from benchmarks.performance.systems.worker import DEPTH, KEPT, Passages


class AtHand(Embeddings):
    """The vector of the question that is being asked."""

    vector: list[float]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Never asked: vectors are added with their texts."""
        raise NotImplementedError

    def embed_query(self, text: str) -> list[float]:
        """See Embeddings."""
        return self.vector


class SYSTEM:
    """See System."""

    packages = (
        "langchain-core", "langchain-chroma", "langchain-community", "langchain-classic",
        "rank-bm25", "chromadb",
    )  # fmt: skip
    note = (
        "BM25Retriever cannot change: a changed corpus gets a new one. "
        "Vectors go to Chroma's collection, since the vector store takes texts only."
    )

    def build(self, corpora: Mapping[str, Passages], folder: Path) -> None:
        """See System."""
        opened = client(folder)
        self._at_hand = AtHand()
        self._stores, self._words, self._documents = {}, {}, {}
        for corpus, passages in corpora.items():
            self._stores[corpus] = Chroma(
                collection_name=f"corpus-{corpus}",
                client=opened,
                embedding_function=self._at_hand,
                collection_configuration={"hnsw": HNSW},
            )
            self._documents[corpus] = {}
            self._add(corpus, passages)
            self._index_words(corpus)
        self._make_ensemble()

    def _add(self, corpus: str, passages: Passages) -> None:
        for batch in batches(len(passages.rows)):
            rows = passages.rows[batch]
            self._stores[corpus]._collection.upsert(
                ids=[row["id"] for row in rows],
                embeddings=passages.vectors[batch],
                documents=[row["text"] for row in rows],
                metadatas=[_metadata(row) for row in rows],
            )
        for row in passages.rows:
            self._documents[corpus][row["id"]] = Document(
                page_content=row["text"], metadata=_metadata(row)
            )

    def _index_words(self, corpus: str) -> None:
        self._words[corpus] = BM25Retriever.from_documents(
            list(self._documents[corpus].values()), k=DEPTH
        )

    def _make_ensemble(self) -> None:
        dense = [s.as_retriever(search_kwargs={"k": DEPTH}) for s in self._stores.values()]
        retrievers = [*dense, *self._words.values()]
        weights = [1 / len(retrievers)] * len(retrievers)
        self._ensemble = EnsembleRetriever(retrievers=retrievers, weights=weights, id_key="id")

    def ask(self, question: str, vector: Any) -> list[tuple[str, str]]:
        """See System."""
        self._at_hand.vector = np.asarray(vector).tolist()
        found = self._ensemble.invoke(question)[:KEPT]
        return [(document.metadata["id"], document.page_content) for document in found]

    def nearest(self, corpus: str, vector: Any) -> list[str]:
        """See System."""
        found = self._stores[corpus].similarity_search_by_vector(
            np.asarray(vector).tolist(), k=DEPTH
        )
        return [document.metadata["id"] for document in found]

    def change(self, corpus: str, gone: Sequence[str], passages: Passages) -> None:
        """See System."""
        self._stores[corpus].delete(ids=list(gone))
        for id_ in gone:
            del self._documents[corpus][id_]
        self._add(corpus, passages)
        self._index_words(corpus)
        self._make_ensemble()


def _metadata(row: Mapping[str, str]) -> dict[str, str]:
    return {name: row[name] for name in ("id", "corpus", "document")}
