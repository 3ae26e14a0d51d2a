"""`/api/page-image` and `/api/page-boxes`: pages of PDFs, and where a text stands on them."""

import json
import threading
from http import HTTPStatus
from typing import Any

from cachetools import LRUCache
from flask import Response, request
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel, ConfigDict, Field

from atlas_search.core.domain import Document
from atlas_search.core.errors import NotFound
from atlas_search.server.catalogue import ById
from atlas_search.server.pages.drawing import drawn
from atlas_search.server.pages.original import original
from atlas_search.server.serving import Serve
from atlas_search.server.waiting import waiting

WIDEST = 1600  # pixels
KEPT_BYTES = 32_000_000

_PICTURE: dict[str | int | HTTPStatus, Any] = {
    200: {"content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}},
    304: {"description": "It is the picture that the caller has"},
}


class PageQuery(BaseModel):
    """Which page."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    collection: str = Field("", description="Name of a collection; the configured one if absent")
    page: int = Field(ge=1, le=1_000_000, description="Of the file, from 1")


class ImageQuery(PageQuery):
    """Which page, and how large."""

    width: int = Field(1000, ge=100, le=WIDEST, description="Pixels; a very high page gets fewer")


class BoxesQuery(PageQuery):
    """Which characters of the document; those on other pages are left out."""

    start: int = Field(ge=0, le=10**10)
    end: int = Field(ge=0, le=10**10)


class BoxOut(BaseModel):
    """A rectangle from its left upper corner, in shares of the page's width and height."""

    left: float
    top: float
    width: float
    height: float


class BoxesOut(BaseModel):
    """Where the characters stand: a box for each line, in reading order."""

    page: int
    boxes: list[BoxOut]


def pages_blueprint(serve: Serve, whole: Serve) -> APIBlueprint:
    """Pages as pictures. `serve` gives what the caller may see, `whole` the collection."""
    blueprint = APIBlueprint("pages", __name__, url_prefix="/api", abp_tags=[Tag(name="catalogue")])
    kept: LRUCache[tuple[bytes, int, object], bytes] = LRUCache(KEPT_BYTES, getsizeof=len)
    lock = threading.Lock()

    def draw(document: Document, page: int, **job: object) -> bytes:
        services, stop = whole().services, waiting()
        origin = serve().services.store.origin_of(document.id)
        _page_start(document, page)
        manifest = services.store.manifest
        with original(origin, manifest, services.settings, stop.check) as file:
            key = (origin.content, page, job.get("width"))
            with lock:
                found = kept.get(key) if "width" in job else None
            if found is None:
                found = drawn(file, page=page - 1, **job)
                if "width" in job and len(found) <= KEPT_BYTES:
                    with lock:
                        kept[key] = found
            return found

    @blueprint.get("/page-image/<any_id:id>", summary="A page of a PDF", responses=_PICTURE)
    def get_image(path: ById, query: ImageQuery) -> Response:
        atlas = serve()
        made = draw(atlas.document(path.id), query.page, width=query.width)
        response = Response(made, content_type="image/png")
        # another key of the same browser asks again, and is answered by its own rights
        response.headers["Cache-Control"] = "private, no-cache"
        response.add_etag()
        response.make_conditional(request)
        return response

    @blueprint.get(
        "/page-boxes/<any_id:id>",
        summary="Where characters stand on a page of a PDF",
        responses={200: BoxesOut},
    )
    def get_boxes(path: ById, query: BoxesQuery) -> dict[str, object]:
        document = serve().document(path.id)
        first = _page_start(document, query.page)
        text = document.text[first : _page_end(document, query.page)]
        start, end = max(0, query.start - first), min(len(text), query.end - first)
        made = draw(document, query.page, text=text, start=start, end=end) if start < end else b"[]"
        boxes = [BoxOut(left=a, top=b, width=c, height=d) for a, b, c, d in json.loads(made)]
        return BoxesOut(page=query.page, boxes=boxes).model_dump(mode="json")

    return blueprint


def _page_start(document: Document, page: int) -> int:
    if page > len(document.pages):
        raise NotFound(f"The document has {len(document.pages)} pages, no page {page}.")
    return document.pages[page - 1]


def _page_end(document: Document, page: int) -> int:
    return document.pages[page] if page < len(document.pages) else len(document.text)
