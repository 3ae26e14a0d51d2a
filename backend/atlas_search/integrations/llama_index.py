"""A retriever for LlamaIndex."""

from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from atlas_search.integrations.retrieval import Retriever, Source


class AtlasRetriever(BaseRetriever):
    """The passages of a collection that speak to a query, best first, as nodes.

    The collection is an `atlas` at hand (`Atlas` or `AtlasClient`), one on a server at `url`, or
    one that is opened here by its name. `options` are those of `Atlas.search`. A node has the exact
    span of its passage, and in its metadata marker and link.
    """

    def __init__(
        self,
        atlas: Source | None = None,
        *,
        collection: str = "",
        url: str = "",
        key: str = "",
        k: int | None = None,
        options: dict[str, Any] | None = None,
    ):
        super().__init__()
        self._k = k
        self._retriever = Retriever(atlas, collection=collection, url=url, key=key, options=options)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [
            NodeWithScore(
                node=TextNode(
                    id_=each.id,
                    text=each.text,
                    metadata=each.metadata,
                    start_char_idx=each.metadata["start"],
                    end_char_idx=each.metadata["end"],
                ),
                score=each.score,
            )
            for each in self._retriever.retrieve(query_bundle.query_str, self._k)
        ]
