"""Passages as the documents of other libraries have them: a text, an id, a score, and facts."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from atlas_search.atlas import Atlas
from atlas_search.client import AtlasClient
from atlas_search.core.errors import RequestError
from atlas_search.documents.references import permalink

Source = Atlas | AtlasClient
"""A collection in this process or on a server."""


class Retrieved(NamedTuple):
    """A passage. `metadata` has its exact span (`document_id`, `start`, `end`), its `marker`, its
    `citation_link` where it is known, its place, and what is known of its document."""

    id: str
    text: str
    score: float
    metadata: dict[str, Any]


class Retriever:
    """The work of the retrievers of all libraries; `options` are those of `Atlas.search`."""

    def __init__(
        self,
        source: Source | None = None,
        *,
        collection: str = "",
        url: str = "",
        key: str = "",
        options: Mapping[str, Any] | None = None,
    ):
        if source is None:
            source = AtlasClient(url, key, collection) if url else Atlas.open(collection)
        elif url or collection:
            raise RequestError("Give a source, or the collection or address to open, not both.")
        self.source = source
        self.options = dict(options or {})
        self._base = source.base if isinstance(source, AtlasClient) else ""

    def retrieve(self, query: str, k: int | None = None) -> list[Retrieved]:
        """The passages that speak to a query, best first."""
        options = self.options if k is None else {**self.options, "k": k}
        return [self._retrieved(item) for item in self.source.search(query, **options).passages]

    def _retrieved(self, item: Any) -> Retrieved:
        fields = {name: value for name, value in item.to_dict().items() if value is not None}
        about = fields.pop("metadata")
        text, score, id_ = fields.pop("text"), fields.pop("score"), fields["passage_id"]
        for name in ("signals", "valid", "overlap", "highlights", "duplicates", "successors"):
            fields.pop(name)
        if self._base:
            fields["citation_link"] = permalink(self._base, id_)
        return Retrieved(id_, text, score, about | fields | {"score": score})
