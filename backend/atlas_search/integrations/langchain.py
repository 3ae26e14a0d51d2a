"""A retriever and a loader for LangChain."""

from collections.abc import Iterator
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field, PrivateAttr, SecretStr

from atlas_search.atlas import Atlas
from atlas_search.client import AtlasClient
from atlas_search.integrations.retrieval import Retriever


class AtlasRetriever(BaseRetriever):
    """The passages of a collection that speak to a query, best first.

    The collection is an `atlas` at hand (`Atlas` or `AtlasClient`), one on a server at `url`, or
    one that is opened here by its name. `options` are those of `Atlas.search`: corpora, filters,
    target ... The metadata of a document has its exact span, marker and link.
    """

    atlas: Any = None
    collection: str = ""
    url: str = ""
    key: SecretStr = SecretStr("")
    k: int | None = Field(None, ge=1, le=100)
    options: dict[str, Any] = Field(default_factory=dict)
    _retriever: Retriever = PrivateAttr()

    def model_post_init(self, _: Any) -> None:
        """Open the collection, or the connection."""
        self._retriever = Retriever(
            self.atlas,
            collection=self.collection,
            url=self.url,
            key=self.key.get_secret_value(),
            options=self.options,
        )

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002
        k: int | None = None,
    ) -> list[Document]:
        return [
            Document(id=each.id, page_content=each.text, metadata=each.metadata)
            for each in self._retriever.retrieve(query, k or self.k)
        ]


class AtlasLoader(BaseLoader):
    """Every document of a collection, whole, with its metadata."""

    def __init__(self, atlas: Atlas | AtlasClient):
        self._atlas = atlas

    def lazy_load(self) -> Iterator[Document]:
        """Yield the documents in the order of their ids."""
        for document in self._atlas.documents():
            fields = document.to_dict()
            text, about = fields.pop("text"), fields.pop("metadata")
            own = {name: fields[name] for name in ("document_id", "corpus", "title", "source")}
            yield Document(id=document.id, page_content=text, metadata=about | own)
