"""`POST /api/facets`: what a scope holds, before anything is asked of it."""

from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel, Field

from atlas_search.documents.search import ValueOut
from atlas_search.server.schemas.requests import FacetsBody, plain_filters
from atlas_search.server.serving import Serve
from atlas_search.server.waiting import waiting


class FieldCountsOut(BaseModel):
    """The most frequent values of a field, under all filters but its own."""

    values: list[ValueOut]
    left_out: int = Field(description="Values that are not listed")


class FacetYearOut(BaseModel):
    """Documents dated within one year."""

    year: int
    documents: int


class FacetDatesOut(BaseModel):
    """Documents by year, under all filters but that of `date`."""

    years: list[FacetYearOut] = Field(description="In order; years without a document are left out")
    several_years: int = Field(description="Documents whose date is not within one year")
    undated: int


class FacetsOut(BaseModel):
    """A scope in numbers, all of them exact."""

    documents: int
    passages: int
    fields: dict[str, FieldCountsOut]
    dates: FacetDatesOut


def facets_blueprint(serve: Serve) -> APIBlueprint:
    """The counts."""
    blueprint = APIBlueprint("facets", __name__, url_prefix="/api", abp_tags=[Tag(name="search")])

    @blueprint.post("/facets", summary="Count what a scope holds", responses={200: FacetsOut})
    def post_facets(body: FacetsBody) -> dict[str, object]:
        found = serve().facets(
            body.fields,
            corpora=body.corpus_filter,
            filters=plain_filters(body.filters),
            require=body.require,
            exclude=body.exclude,
            stop=waiting(),
        )
        return found.to_dict()

    return blueprint
