"""Links to single answers, for readers without a key."""

from datetime import UTC, datetime
from typing import Literal

from flask import Response, json, request
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from markdown_it import MarkdownIt
from pydantic import BaseModel, Field

from atlas_search.core.settings import Settings
from atlas_search.documents.answer import AnswerDocument
from atlas_search.documents.export import Format, export
from atlas_search.documents.references import Base
from atlas_search.server.access.caller import present_caller
from atlas_search.server.access.shared import SharedAnswers
from atlas_search.server.ask import ByAnswer, finished_run, own_run
from atlas_search.server.bodies import OptionalBody
from atlas_search.server.runs import Runs

HOUR = 3600
LONGEST_HOURS = 24 * 90
SharedFormat = Literal[Format, "html"]
_ALONE = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"
"""What a shared page may load and do: nothing."""


class LinkBody(OptionalBody):
    """How long a link is good."""

    hours: int = Field(24 * 7, ge=1, le=LONGEST_HOURS, description="Hours until it expires")


class LinkOut(BaseModel):
    """A link, and when it expires; whoever has it may read the answer."""

    url: str
    expires: str


class ByToken(BaseModel):
    """The secret of a link in the path."""

    token: str  # any: what cannot be a link is answered as one that is not known


class SharedQuery(BaseModel):
    """How the answer is wanted; as the API gives it if absent, `html` to be read."""

    format: SharedFormat | None = None


def share_blueprint(settings: Settings, runs: Runs, shared: SharedAnswers) -> APIBlueprint:
    """Links to answers."""
    blueprint = APIBlueprint("share", __name__, url_prefix="/api", abp_tags=[Tag(name="share")])

    def base() -> str:
        return settings.atlas_public_url or request.host_url

    @blueprint.post("/ask/<qa_id>/link", summary="A link to an answer", responses={200: LinkOut})
    def post_link(path: ByAnswer, body: LinkBody) -> dict[str, object]:
        run = finished_run(own_run(runs, path.qa_id))
        # a trace shows what others asked
        document = {**run.document, "trace_id": "", "span_id": ""}
        link = shared.share(document, present_caller().owner, body.hours * HOUR)
        return LinkOut(
            url=f"{base().rstrip('/')}/api/shared/{link.token}",
            expires=datetime.fromtimestamp(link.expires, UTC).isoformat(timespec="seconds"),
        ).model_dump(mode="json")

    @blueprint.get(
        "/shared/<token>", summary="The answer behind a link", responses={200: AnswerDocument}
    )
    def get_shared(path: ByToken, query: SharedQuery) -> Response:
        document = shared.read(path.token)
        base_of = Base(base(), settings.chroma_collection_name)
        text, media_type = _as(query.format, document, base_of)
        return Response(
            text,
            content_type=media_type,
            headers={
                "Cache-Control": "no-store",
                "X-Robots-Tag": "noindex",
                "Content-Security-Policy": _ALONE,
            },
        )

    return blueprint


def _as(format: SharedFormat | None, document: dict[str, object], base: Base) -> tuple[str, str]:
    """The answer in a format, and its media type."""
    if format is None:
        return json.dumps(document), "application/json"
    if format == "html":
        return _page(export([document], "markdown", *base).text), "text/html; charset=utf-8"
    exported = export([document], format, *base)
    return exported.text, exported.media_type


def _page(markdown: str) -> str:
    body = MarkdownIt("commonmark", {"html": False}).disable("image").render(markdown)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Atlas</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<style>body{max-width:44rem;margin:2rem auto;padding:0 1rem;"
        "font:1.05rem/1.55 Georgia,serif}</style></head><body>\n"
        f"{body}</body></html>\n"
    )
