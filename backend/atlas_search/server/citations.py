"""Citations in a style, and the reader's Zotero."""

from datetime import UTC, datetime
from urllib.parse import urlsplit
from uuid import uuid4

from flask import request
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag

from atlas_search.core.errors import NotAllowed
from atlas_search.core.settings import Settings
from atlas_search.documents.references import Base, references_of, zotero_items
from atlas_search.documents.styles import cite
from atlas_search.providers.zotero import LOCAL, is_running, save_items
from atlas_search.server.access.listening import is_loopback
from atlas_search.server.collections import chosen_collection
from atlas_search.server.schemas.citations import (
    CiteBody,
    CitedOut,
    SavedOut,
    StyledOut,
    WrittenOut,
    ZoteroBody,
    ZoteroOut,
)

_ELSEWHERE = (
    "Zotero runs on the reader's machine, and this server on another one. Export the list as RIS "
    "and import it in Zotero, or set ZOTERO_ADDRESS on the server."
)


def citations_blueprint(settings: Settings) -> APIBlueprint:
    """Citations to paste, and to send to Zotero."""
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
    """Where the reader's Zotero is: on this machine, if the reader is at it; else empty."""
    if settings.zotero_address:
        return settings.zotero_address.rstrip("/")
    return LOCAL if _is_beside(settings) else ""


def _is_beside(settings: Settings) -> bool:
    """Whether server and reader are on one machine.

    A proxy on this machine comes from it too: where one is set up, nobody can know.
    """
    proxied = (
        settings.atlas_access == "proxy" or settings.trusted_proxies or settings.atlas_public_url
    )
    origin = urlsplit(request.headers.get("Origin", "")).hostname
    named = urlsplit(f"//{request.host}").hostname
    listening = settings.atlas_address or settings.atlas_host
    hosts = [listening, request.remote_addr or "", named or "", *([origin] if origin else [])]
    return not proxied and all(map(is_loopback, hosts))
