"""`GET /api/documents`: the documents of a collection, page by page."""

import json
from typing import Annotated, Literal

import numpy as np
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from atlas_search.core.domain import MetadataValue
from atlas_search.search.request import conditions
from atlas_search.server.schemas.requests import Filters, plain_filters
from atlas_search.server.serving import Serve
from atlas_search.services import known_corpora
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.record_files import ListedDocument
from atlas_search.stores.store import Store

MOST = 200  # documents of one page
MAX_TITLE = 200  # characters that are looked for


def _read_filters(text: object) -> object:
    try:
        return json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError) as error:
        raise ValueError(
            'give filters as JSON, such as {"year": 1957}, or leave them out'
        ) from error


class ListingQuery(BaseModel):
    """Which documents, and in what order."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    collection: str = Field("", description="Name of a collection; the configured one if absent")
    corpus: list[str] = Field(default_factory=list, description="Only these corpora; repeatable")
    filters: Annotated[
        Filters, BeforeValidator(_read_filters), WithJsonSchema({"type": "string"})
    ] = Field(default_factory=dict, description="As in a search, as JSON")
    title: str = Field("", max_length=MAX_TITLE, description="Words that the title holds, all")
    sort: Literal["id", "title", "date", "-date"] = Field(
        "id", description="`-date`: the newest first; undated documents come last"
    )
    limit: int = Field(50, ge=1, le=MOST)
    offset: int = Field(0, ge=0, le=10**9, description="Documents to pass over")


class ListedOut(BaseModel):
    """A document without its text.

    `first_day` and `last_day` are those its date can mean; `kind` is the kind of source it was
    built from, and `ingest` if a server was handed its file.
    """

    document_id: str
    corpus: str
    title: str
    source: str
    kind: str
    characters: int
    passages: int
    first_day: str | None
    last_day: str | None
    metadata: dict[str, MetadataValue]


class ListingOut(BaseModel):
    """A page of documents; `next_offset` is null on the last one.

    Pages belong together as long as `version` stays the same.
    """

    collection: str
    version: str
    total: int = Field(description="Documents on all pages")
    next_offset: int | None
    documents: list[ListedOut]


def listing_blueprint(serve: Serve) -> APIBlueprint:
    """The list of documents."""
    blueprint = APIBlueprint(
        "listing", __name__, url_prefix="/api", abp_tags=[Tag(name="catalogue")]
    )

    @blueprint.get("/documents", summary="The documents, page by page", responses={200: ListingOut})
    def get_documents(query: ListingQuery) -> dict[str, object]:
        store = serve().services.store
        found = _matching(store, query)
        page = store.list_documents(found, query.sort, query.limit, query.offset)
        end = query.offset + len(page)
        return ListingOut(
            collection=store.manifest.collection,
            version=store.manifest.version,
            total=len(found),
            next_offset=end if page and end < len(found) else None,
            documents=[_listed(document) for document in page],
        ).model_dump(mode="json")

    return blueprint


def _matching(store: Store, query: ListingQuery) -> IntArray:
    """Indices of the documents asked for. Raises RequestError."""
    filters = conditions(plain_filters(query.filters), store.manifest.fields)
    wanted = known_corpora(store, query.corpus) if query.corpus else store.corpora
    documents = store.documents_of([corpus.id for corpus in wanted])
    if filters:
        within = store.scope(filters).documents
        documents = np.intersect1d(documents, within, assume_unique=True)
    return store.titled(documents, query.title) if query.title else documents


def _listed(document: ListedDocument) -> ListedOut:
    first, last = document.days
    return ListedOut(
        document_id=document.id,
        corpus=document.corpus,
        title=document.title,
        source=document.source,
        kind=document.origin,
        characters=document.characters,
        passages=document.passages,
        first_day=first or None,
        last_day=last or None,
        metadata=dict(document.metadata),
    )
