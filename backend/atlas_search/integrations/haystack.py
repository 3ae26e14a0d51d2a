"""A retriever for Haystack."""

from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.utils import Secret, deserialize_secrets_inplace

from atlas_search.integrations.retrieval import Retriever, Source

NO_KEY = Secret.from_env_var("ATLAS_API_KEY", strict=False)


@component
class AtlasRetriever:
    """The passages of a collection that speak to a query, best first.

    The collection is an `atlas` at hand (`Atlas` or `AtlasClient`), one on a server at `url`, or
    one that is opened here by its name. `options` are those of `Atlas.search`. The metadata of a
    document has its exact span, marker and link.
    """

    def __init__(
        self,
        atlas: Source | None = None,
        *,
        collection: str = "",
        url: str = "",
        key: Secret = NO_KEY,
        top_k: int | None = None,
        options: dict[str, Any] | None = None,
    ):
        self._init = {"collection": collection, "url": url, "top_k": top_k, "options": options}
        self._key = key
        self._top_k = top_k
        secret = (key.resolve_value() or "") if url else ""
        self._retriever = Retriever(
            atlas, collection=collection, url=url, key=secret, options=options
        )

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        """Retrieve the passages."""
        found = self._retriever.retrieve(query, top_k or self._top_k)
        return {
            "documents": [
                Document(id=each.id, content=each.text, meta=each.metadata, score=each.score)
                for each in found
            ]
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the component as a pipeline's file has it; an `atlas` at hand is left out."""
        return default_to_dict(self, **self._init, key=self._key.to_dict())

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "AtlasRetriever":
        """Make the component from a pipeline's file."""
        deserialize_secrets_inplace(data["init_parameters"], ["key"])
        return default_from_dict(cls, data)
