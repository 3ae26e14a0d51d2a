"""LlamaIndex: a VectorStoreIndex over Chroma and a BM25Retriever for each corpus, fused."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import QueryBundle, TextNode
from llama_index.retrievers.bm25 import BM25Retriever
from llama_index.vector_stores.chroma import ChromaVectorStore

from benchmarks.performance.systems.chroma import HNSW, client
from benchmarks.performance.systems.worker import DEPTH, KEPT, Passages

AT_HAND: list[list[float]] = [[]]


class AtHand(BaseEmbedding):
    """The vector of the question that is being asked; nodes bring theirs."""

    def _get_query_embedding(self, query: str) -> list[float]:
        return AT_HAND[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return AT_HAND[0]

    def _get_text_embedding(self, text: str) -> list[float]:
        raise NotImplementedError


class SYSTEM:
    """See System."""

    packages = (
        "llama-index-core", "llama-index-retrievers-bm25", "llama-index-vector-stores-chroma",
        "bm25s", "chromadb",
    )  # fmt: skip
    note = "BM25Retriever cannot change: a changed corpus gets a new one."

    def build(self, corpora: Mapping[str, Passages], folder: Path) -> None:
        """See System."""
        opened = client(folder)
        self._nodes, self._indexes, self._words = {}, {}, {}
        for corpus, passages in corpora.items():
            collection = opened.create_collection(
                f"corpus-{corpus}", configuration={"hnsw": HNSW}, embedding_function=None
            )
            store = ChromaVectorStore(chroma_collection=collection)
            nodes = _nodes(passages)
            self._nodes[corpus] = {node.node_id: node for node in nodes}
            self._indexes[corpus] = VectorStoreIndex(
                nodes,
                storage_context=StorageContext.from_defaults(vector_store=store),
                embed_model=AtHand(),
                insert_batch_size=5000,
            )
            for node in nodes:
                node.embedding = None  # Chroma has it
            self._index_words(corpus)
        self._fuse()

    def _index_words(self, corpus: str) -> None:
        self._words[corpus] = BM25Retriever.from_defaults(
            nodes=list(self._nodes[corpus].values()), similarity_top_k=DEPTH
        )

    def _fuse(self) -> None:
        self._dense = {
            corpus: index.as_retriever(similarity_top_k=DEPTH)
            for corpus, index in self._indexes.items()
        }
        self._fusion = QueryFusionRetriever(
            [*self._dense.values(), *self._words.values()],
            llm=MockLLM(),
            mode="reciprocal_rerank",
            similarity_top_k=KEPT,
            num_queries=1,  # no further questions
            use_async=False,
        )

    def ask(self, question: str, vector: Any) -> list[tuple[str, str]]:
        """See System."""
        AT_HAND[0] = np.asarray(vector).tolist()
        found = self._fusion.retrieve(QueryBundle(question))
        return [(each.node.metadata["id"], each.node.get_content()) for each in found]

    def nearest(self, corpus: str, vector: Any) -> list[str]:
        """See System."""
        given = QueryBundle("", embedding=np.asarray(vector).tolist())
        return [each.node.metadata["id"] for each in self._dense[corpus].retrieve(given)]

    def change(self, corpus: str, gone: Sequence[str], passages: Passages) -> None:
        """See System."""
        index, nodes = self._indexes[corpus], _nodes(passages)
        index.delete_nodes(list(gone))
        index.insert_nodes(nodes)
        for id_ in gone:
            del self._nodes[corpus][id_]
        self._nodes[corpus] |= {node.node_id: node for node in nodes}
        self._index_words(corpus)
        self._fuse()


def _nodes(passages: Passages) -> list[TextNode]:
    return [
        TextNode(
            id_=row["id"],
            text=row["text"],
            embedding=vector.tolist(),
            metadata={"id": row["id"], "document": row["document"]},
            # the words of ids are no words of the text
            excluded_embed_metadata_keys=["id", "document"],
            excluded_llm_metadata_keys=["id", "document"],
        )
        for row, vector in zip(passages.rows, passages.vectors, strict=True)
    ]
