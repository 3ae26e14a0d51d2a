"""`GET /api/sources`: what the source files gave, and what was refused of them and why."""

from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel, ConfigDict, Field

from atlas_search.server.serving import Serve
from atlas_search.stores.record_files import ReadSource

MOST = 200  # files of one page
MOST_REMARKS = 50  # on one file


class SourcesQuery(BaseModel):
    """Which page."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    collection: str = Field("", description="Name of a collection; the configured one if absent")
    limit: int = Field(50, ge=1, le=MOST)
    offset: int = Field(0, ge=0, le=10**9, description="Files to pass over")


class SourceReportOut(BaseModel):
    """A file of which something was left out or repaired."""

    source: str
    kind: str = Field(description="The kind of source it was read as")
    bytes: int
    documents: int = Field(description="Those it gave")
    refused: bool = Field(description="Whether it gave no document")
    remarks: list[str] = Field(description=f"What was left out and why; the first {MOST_REMARKS}")
    more_remarks: int = Field(description="How many there are beyond those")


class SourcesOut(BaseModel):
    """What the builds of the present version were given.

    Who sees only some corpora is told of the files whose documents are all of these; one that gave
    no document is of no corpus.
    """

    collection: str
    version: str
    files: int = Field(description="Files that were read")
    refused: int = Field(description="Of them those that gave no document")
    total: int = Field(description="Files with remarks, on all pages")
    next_offset: int | None
    sources: list[SourceReportOut] = Field(description="Those that were refused come first")


def read_sources_blueprint(serve: Serve) -> APIBlueprint:
    """The report of the builds."""
    blueprint = APIBlueprint(
        "sources", __name__, url_prefix="/api", abp_tags=[Tag(name="catalogue")]
    )

    @blueprint.get(
        "/sources", summary="What was refused of the sources, and why", responses={200: SourcesOut}
    )
    def get_sources(query: SourcesQuery) -> dict[str, object]:
        store = serve().services.store
        found = store.read_sources(query.limit, query.offset)
        end = query.offset + len(found.sources)
        return SourcesOut(
            collection=store.manifest.collection,
            version=store.manifest.version,
            files=found.files,
            refused=found.refused,
            total=found.listed,
            next_offset=end if found.sources and end < found.listed else None,
            sources=[_report(source) for source in found.sources],
        ).model_dump(mode="json")

    return blueprint


def _report(source: ReadSource) -> SourceReportOut:
    remarks = [f"{key}: {remark}" if key else remark for key, remark in source.remarks]
    return SourceReportOut(
        source=source.name,
        kind=source.origin,
        bytes=source.bytes,
        documents=source.documents,
        refused=source.documents == 0,
        remarks=remarks[:MOST_REMARKS],
        more_remarks=len(remarks[MOST_REMARKS:]),
    )
