"""Passages as the documents of other libraries have them: a text, an id, a score, and facts."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from atlas_search.atlas import Atlas
from atlas_search.client import AtlasClient
from atlas_search.core.errors import RequestError
from atlas_search.core.wire import RankedPassageOut
from atlas_search.documents.references import permalink
from atlas_search.search.result import SearchResult

Source = Atlas | AtlasClient
"""A collection in this process or on a server."""

_LEFT_OUT = {"text", "signals", "valid", "overlap", "highlights", "duplicates", "successors"}


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
        result = self.source.search(query, **options)
        form = result.form() if isinstance(result, SearchResult) else result
        return [self._retrieved(passage) for passage in form.passages]

    def _retrieved(self, passage: RankedPassageOut) -> Retrieved:
        fields = passage.model_dump(mode="json", exclude=_LEFT_OUT, exclude_none=True)
        about = fields.pop("metadata")
        if self._base:
            fields["citation_link"] = permalink(self._base, passage.id)
        return Retrieved(passage.id, passage.text, passage.score, about | fields)
