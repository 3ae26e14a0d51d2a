"""Routes of answers, sessions and citations as files, and of citations for Zotero."""

from datetime import UTC, datetime
from typing import Annotated, Literal
from urllib.parse import quote
from uuid import uuid4

from flask import Response, request
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from flask_openapi3.types import ResponseDict
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from atlas_search.answer.request import Identifier
from atlas_search.core.errors import NotAllowed, NotFound, RequestError
from atlas_search.core.settings import Settings
from atlas_search.core.wire import CitationOut, Facts
from atlas_search.documents.export import (
    FORMATS,
    LIST_FORMATS,
    Exported,
    Format,
    export,
    export_citations,
    known_format,
)
from atlas_search.documents.references import Base, references_of, zotero_items
from atlas_search.documents.styles import StyleName, cite
from atlas_search.providers.zotero import LOCAL, is_running, save_items
from atlas_search.server.access.caller import is_beside, present_caller
from atlas_search.server.ask import ByAnswer, finished_run, own_run
from atlas_search.server.collections import ServedCollections, chosen_collection
from atlas_search.server.limits import waiting
from atlas_search.server.problems import Problem
from atlas_search.server.requests import StrictBody
from atlas_search.server.runs import Runs

MAX_CITATIONS = 1000
LONGEST = 2_000  # characters of a title, a place and the like; a quotation may be longer


def _plain(metadata: object) -> object:
    """Refuse what is no text, number or list of texts before it is made to fit."""
    values = metadata.values() if isinstance(metadata, dict) else ()
    for value in values:
        texts = value if isinstance(value, list) else [""]
        plain = isinstance(value, str | int | float | list) and not isinstance(value, bool)
        if not plain or not all(isinstance(text, str) for text in texts):
            raise ValueError("a value is a text, a number or a list of texts")
    return metadata


class GivenCitation(CitationOut):
    """A citation as an answer has it; what has a default may be left out."""

    model_config = ConfigDict(json_schema_extra={})

    metadata: Annotated[Facts, BeforeValidator(_plain)] = Field(
        default_factory=dict, description="The document's"
    )
    page: int = Field(strict=True)
    line: int | None = Field(None, strict=True)
    start: int = Field(strict=True)
    end: int = Field(strict=True)


def _bounded(cited: GivenCitation) -> GivenCitation:
    fields = (cited.title, cited.locator, cited.printed_page, cited.section, cited.date)
    if any(len(field or "") > LONGEST for field in fields):
        raise ValueError(f"a title, a place or a date is longer than {LONGEST} characters")
    return cited


BoundedCitation = Annotated[GivenCitation, AfterValidator(_bounded)]

Citations = Annotated[
    list[BoundedCitation],
    Field(
        min_length=1,
        max_length=MAX_CITATIONS,
        description="As answers have them: of a passage or a document, what they say of it",
    ),
]


class CiteBody(StrictBody):
    """Citations, and how to write them."""

    style: StyleName
    citations: Citations


class WrittenOut(BaseModel):
    """A citation as plain text, and as HTML whose only markup is `<i>`."""

    text: str
    html: str


class StyledOut(BaseModel):
    """A citation in a style."""

    reference: WrittenOut = Field(
        description="A footnote with its place; where `in_text` holds the place, the entry of the "
        "list of works"
    )
    in_text: WrittenOut | None = Field(description="What stands in the text; null of footnotes")


class CitedOut(BaseModel):
    """The citations in the style, in the order in which they were sent."""

    style: StyleName
    citations: list[StyledOut]


class ZoteroBody(StrictBody):
    """Items for Zotero."""

    citations: Citations


class ZoteroOut(BaseModel):
    """The reader's Zotero, if this server can reach it."""

    state: Literal["ready", "not_running", "elsewhere"] = Field(
        description="`elsewhere`: the reader and the server are not on the same machine"
    )


class SavedOut(BaseModel):
    """The number of items that Zotero has taken."""

    saved: int


_ELSEWHERE = (
    "Zotero runs on the reader's machine, and this server on another one. Export the list as RIS "
    "and import it in Zotero, or set ZOTERO_ADDRESS on the server."
)


def citations_blueprint(settings: Settings) -> APIBlueprint:
    """The routes of citations to paste, and to send to Zotero."""
    blueprint = APIBlueprint(
        "citations", __name__, url_prefix="/api", abp_tags=[Tag(name="citations")]
    )

    @blueprint.post("/citations", summary="Citations in a style", responses={200: CitedOut})
    def post_citations(body: CiteBody) -> dict[str, object]:
        today = datetime.now(UTC).date()
        styled = [cite(cited, body.style, today) for cited in body.citations]
        return CitedOut(
            style=body.style,
            citations=[
                StyledOut(
                    reference=WrittenOut(**vars(reference)),
                    in_text=WrittenOut(**vars(in_text)) if in_text else None,
                )
                for reference, in_text in styled
            ],
        ).model_dump()

    @blueprint.get("/zotero", summary="Whether Zotero can be reached", responses={200: ZoteroOut})
    def get_zotero() -> dict[str, object]:
        address = _address(settings)
        if not address:
            return ZoteroOut(state="elsewhere").model_dump()
        return ZoteroOut(state="ready" if is_running(address) else "not_running").model_dump()

    @blueprint.post("/zotero", summary="Put documents into Zotero", responses={200: SavedOut})
    def post_zotero(body: ZoteroBody) -> dict[str, object]:
        address = _address(settings)
        if not address:
            raise NotAllowed(_ELSEWHERE)
        page = (settings.atlas_public_url or request.host_url).rstrip("/")
        base = Base(page, settings.chroma_collection_name)
        collection = chosen_collection()
        items = zotero_items(references_of([(c, collection) for c in body.citations], base))
        save_items(address, items, uuid4().hex, page)
        return SavedOut(saved=len(items)).model_dump()

    return blueprint


def _address(settings: Settings) -> str:
    """The address of the reader's Zotero: this machine if the reader is at it; else empty."""
    if settings.zotero_address:
        return settings.zotero_address.rstrip("/")
    return LOCAL if is_beside(settings, request.environ) else ""


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


class ExportBody(StrictBody):
    """Answers as `POST /api/ask` sent them."""

    format: Format
    collection: str | None = Field(None, description="Name of a collection that is served")
    answers: list[dict[str, object]] = Field([], max_length=MAX_ANSWERS)
    citations: list[BoundedCitation] = Field(
        [], max_length=MAX_CITATIONS, description="In place of answers, for a bibliography"
    )
    notes: list[str] = Field(
        [], max_length=MAX_CITATIONS, description="One for each citation, or empty"
    )


class FormatQuery(BaseModel):
    """The kind of file wanted."""

    format: Format = "markdown"


class AnswerFormatQuery(BaseModel):
    """The kind of file wanted; `bundle` can be replayed by `atlas replay`."""

    format: Format | Literal["bundle"] = "markdown"


class BySession(BaseModel):
    """A session's id in the path."""

    session_id: Identifier


def export_blueprint(collections: ServedCollections, runs: Runs) -> APIBlueprint:
    """The routes of answers as files."""
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
        base = Base(*_base(collections))
        return _file(export_citations(cited, body.format, base, body.notes))

    @blueprint.get(
        "/ask/<qa_id>/export",
        summary="A recent answer as a file",
        responses=_FILE | {409: Problem},
    )
    def get_answer(path: ByAnswer, query: AnswerFormatQuery) -> Response:
        run = finished_run(own_run(runs, path.qa_id))
        if query.format == "bundle":
            name = f"atlas-run-{path.qa_id}.json"
            return _file(Exported(run.bundle, "application/json", name))
        return _file(export([run.document], known_format(query.format), *_base(collections)))

    @blueprint.get(
        "/sessions/<session_id>/export",
        summary="The recent answers of a session as a file",
        responses=_FILE,
    )
    def get_session(path: BySession, query: FormatQuery) -> Response:
        session_runs = runs.of_session(path.session_id, present_caller().owner)
        documents = [run.document for run in session_runs]
        if not documents:
            raise NotFound(f"No answer of the session {path.session_id} is kept any more.")
        return _file(export(documents, query.format, *_base(collections), waiting()))

    return blueprint


def _base(collections: ServedCollections) -> tuple[str, str]:
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
