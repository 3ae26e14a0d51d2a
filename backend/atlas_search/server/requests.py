"""The bodies of requests: what a server adds to those of `search`, `answer` and `words`.

Fields and bounds are in `search/request.py`, `answer/request.py` and `words/request.py`.
"""

from pydantic import BaseModel, ConfigDict, Field

from atlas_search.answer.request import AskRequest
from atlas_search.search.request import FacetsRequest, SearchRequest
from atlas_search.words.request import (
    CollocatesRequest,
    ConcordanceRequest,
    CountsRequest,
    FrequenciesRequest,
    KeywordsRequest,
    TrendsRequest,
)


class Strict(BaseModel):
    """A model that refuses fields it does not know, and never changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CollectionQuery(Strict):
    """A query about one of the collections that are served."""

    collection: str = Field("", description="Name of a collection; the configured one if absent")


class StrictBody(Strict):
    """A request body: no other fields, and no values of other types."""

    model_config = ConfigDict(strict=True, validate_by_name=False)


class SilentBody(StrictBody):
    """A body that may ask not to be traced."""

    telemetry: bool = Field(
        True, description="`false`: nothing of the request is traced, nor its text noted elsewhere"
    )


class CollectionBody(SilentBody):
    """A body about one of the collections that are served."""

    collection: str | None = Field(
        None, description="Name of a collection that is served; the configured one if absent"
    )


class FacetsBody(FacetsRequest, CollectionBody):
    """A scope, without a question."""


class SearchBody(SearchRequest, CollectionBody):
    """A search for passages alone."""


class AskBody(AskRequest, CollectionBody):
    """A question to be answered."""

    include_context: bool = False


class ConcordanceBody(ConcordanceRequest, CollectionBody):
    """Words to be shown in their context."""


class TrendsBody(TrendsRequest, CollectionBody):
    """Words to be counted over time, or by a field."""


class CountsBody(CountsRequest, CollectionBody):
    """Words to be counted at once, or by a field."""


class CollocatesBody(CollocatesRequest, CollectionBody):
    """Words whose neighbours are wanted."""


class KeywordsBody(KeywordsRequest, CollectionBody):
    """Texts whose words are compared with those of other texts."""


class FrequenciesBody(FrequenciesRequest, CollectionBody):
    """Texts whose words are counted."""
