"""Answers and sessions as files, and run bundles."""

from typing import Annotated, Literal
from urllib.parse import quote

from flask import Response, request
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from flask_openapi3.types import ResponseDict
from pydantic import BaseModel, ConfigDict, Field

from atlas_search.core.errors import NotFound, RequestError
from atlas_search.documents.bundle import bundle_of
from atlas_search.documents.export import (
    FORMATS,
    LIST_FORMATS,
    Exported,
    Format,
    export,
    export_citations,
    known_format,
)
from atlas_search.documents.references import Base
from atlas_search.server.access.caller import present_caller
from atlas_search.server.ask import ByAnswer, finished_run, own_run
from atlas_search.server.collections import Collections, chosen_collection
from atlas_search.server.problems import Problem
from atlas_search.server.runs import Runs
from atlas_search.server.schemas.citations import MAX_CITATIONS, BoundedCitation
from atlas_search.server.schemas.requests import Identifier
from atlas_search.server.waiting import waiting

MAX_ANSWERS = 500

_FILE: ResponseDict = {
    200: {
        "description": "The file; `Content-Disposition` names it",
        "content": {
            media: {"schema": {} if media.endswith("json") else {"type": "string"}}
            for media in (kind.media_type.partition(";")[0] for kind in FORMATS.values())
        },
        "headers": {"Content-Disposition": {"schema": {"type": "string"}}},
    }
}


class ExportBody(BaseModel):
    """Answers as `POST /api/ask` sent them."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    format: Format
    collection: str | None = Field(None, description="Name of a collection that is served")
    answers: Annotated[list[dict[str, object]], Field(max_length=MAX_ANSWERS)] = []
    citations: Annotated[
        list[BoundedCitation],
        Field(max_length=MAX_CITATIONS, description="In place of answers, for a bibliography"),
    ] = []


class FormatQuery(BaseModel):
    """What kind of file is wanted."""

    format: Format = "markdown"


class AnswerFormatQuery(BaseModel):
    """What kind of file is wanted; `bundle` can be replayed by `atlas replay`."""

    format: Format | Literal["bundle"] = "markdown"


class BySession(BaseModel):
    """A session's id in the path."""

    session_id: Identifier


def export_blueprint(collections: Collections, runs: Runs) -> APIBlueprint:
    """Answers to take home."""
    blueprint = APIBlueprint("export", __name__, url_prefix="/api", abp_tags=[Tag(name="export")])

    @blueprint.post("/export", summary="Answers as a file", responses=_FILE)
    def post_export(body: ExportBody) -> Response:
        if not body.citations:
            return _file(export(body.answers, body.format, *_base(collections), waiting()))
        if body.answers or body.format not in LIST_FORMATS:
            raise RequestError(
                "Citations alone become a bibliography: give no `answers`, and one of the formats "
                f"{', '.join(LIST_FORMATS)}."
            )
        cited = [(each, chosen_collection()) for each in body.citations]
        return _file(export_citations(cited, body.format, Base(*_base(collections))))

    @blueprint.get(
        "/ask/<qa_id>/export",
        summary="A recent answer as a file",
        responses=_FILE | {409: Problem},
    )
    def get_answer(path: ByAnswer, query: AnswerFormatQuery) -> Response:
        run = finished_run(own_run(runs, path.qa_id))
        if query.format == "bundle" and run.answer and run.manifest:
            bundle = bundle_of(run.answer, run.manifest)
            name = f"atlas-run-{path.qa_id}.json"
            return _file(Exported(bundle.to_json(), "application/json", name))
        return _file(export([run.document], known_format(query.format), *_base(collections)))

    @blueprint.get(
        "/sessions/<session_id>/export",
        summary="The recent answers of a session as a file",
        responses=_FILE,
    )
    def get_session(path: BySession, query: FormatQuery) -> Response:
        found = runs.of_session(path.session_id, present_caller().owner)
        documents = [run.document for run in found]
        if not documents:
            raise NotFound(f"No answer of the session {path.session_id} is kept any more.")
        return _file(export(documents, query.format, *_base(collections), waiting()))

    return blueprint


def _base(collections: Collections) -> tuple[str, str]:
    """The page's address for permalinks, and the collection it shows unasked."""
    settings = collections.settings_of(collections.default)
    address = settings.atlas_public_url or request.host_url
    return address.rstrip("/"), collections.default


def _file(exported: Exported) -> Response:
    return Response(
        exported.text,
        content_type=exported.media_type,
        headers={"Content-Disposition": f'attachment; filename="{quote(exported.file_name)}"'},
    )
