"""`/api/collections`: the collections that are served, their files, and going back to an earlier
version."""

import logging
import os
from contextlib import closing
from functools import partial
from typing import BinaryIO

from flask import Response
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel, Field

from atlas_search.building.kept_files import INGEST, kept_sources
from atlas_search.building.materials import Live
from atlas_search.building.sources import is_sheet
from atlas_search.core.errors import AtlasError, Conflict, NotFound, SourceError
from atlas_search.core.settings import Settings
from atlas_search.readers.files import files_reader
from atlas_search.server.access.caller import present_caller
from atlas_search.server.api import OptionalBody
from atlas_search.server.collections import ServedCollections, visible
from atlas_search.server.problems import Problem
from atlas_search.stores.manifest import FILE_NAME, Manifest
from atlas_search.stores.versions import rollback, versions

log = logging.getLogger(__name__)


def kept_beside(settings: Settings) -> list[str]:
    """The kept files that the live version does not have, or has with another length, in order.

    Empty, and logged, where that cannot be found out.
    """
    folder = settings.collection_folder
    if not settings.kept_folder.is_dir():
        return []
    try:
        sources = kept_sources(settings.kept_folder, None, files_reader().suffixes)
        files = [file for file in sources.files if not is_sheet(file.location)]
        with closing(Live(folder, Manifest.read(folder))) as live:
            held = {s.name: s.bytes for s in live.sources if s.origin == INGEST}
        return [f.name for f in files if held.get(f.name) != f.path.stat().st_size]
    except (AtlasError, OSError):
        log.exception("The kept files of %s cannot be compared.", settings.chroma_collection_name)
        return []


MOST_NAMED = 100  # files in one response
PIECE = 1 << 16  # bytes of a file in memory at once


class VersionOut(BaseModel):
    """A version on disk; `bytes` are those of its parts."""

    version: str
    live: bool
    created: str
    documents: int
    passages: int
    bytes: int


class CollectionOut(BaseModel):
    """A collection that can be chosen; `versions` are newest first.

    Who sees only some of its corpora learns no more than its name.
    """

    name: str
    default: bool = Field(description="Whether requests that choose none get it")
    open: bool = Field(description="Whether it is in memory")
    version: str = Field(description="The live version; empty if it cannot be read")
    documents: int
    passages: int
    versions: list[VersionOut]
    problem: str = Field(description="Why it, or its newest version, is not served")


class RolledBackOut(CollectionOut):
    """The collection as it is then, and what the next ingest would bring back or change again."""

    kept_files_beside: list[str] = Field(
        description="Kept files that the version does not have, or has with another length: the "
        f"first {MOST_NAMED}. The next ingest builds them"
    )
    more_kept_files_beside: int = Field(description="How many there are beyond those")


class CollectionsOut(BaseModel):
    """The collections that can be chosen, the default first; it is empty for who may not see it."""

    default: str
    collections: list[CollectionOut]


class ByName(BaseModel):
    """A collection's name in the path."""

    name: str


class FilePath(ByName):
    """A file of a collection in the path: its manifest, or one of the live version."""

    file: str = Field(description=f"`{FILE_NAME}`, or `<version>/<name>` as that names it")


class RollbackBody(OptionalBody):
    """The version to go back to."""

    version: str = Field("", description="A version on disk; the one before the live one if absent")


def collections_blueprint(collections: ServedCollections) -> APIBlueprint:
    """The collections resource."""
    blueprint = APIBlueprint(
        "collections", __name__, url_prefix="/api", abp_tags=[Tag(name="collections")]
    )

    @blueprint.get(
        "/collections", summary="Collections to choose from", responses={200: CollectionsOut}
    )
    def get_collections() -> dict[str, object]:
        names, caller = visible(collections.names()), present_caller()
        entries = [
            _collection(collections, name, whole=caller.sees(name) is None) for name in names
        ]
        default = collections.default if collections.default in names else ""
        return CollectionsOut(default=default, collections=entries).model_dump(mode="json")

    @blueprint.post(
        "/collections/<name>/rollback",
        summary="Make an earlier version live",
        responses={200: RolledBackOut, 409: Problem},
    )
    def post_rollback(path: ByName, body: RollbackBody) -> dict[str, object]:
        settings = collections.settings_of(path.name)
        folder = settings.collection_folder
        Manifest.read(folder)  # a missing collection is said as such, and gets no folder
        try:
            rollback(folder, body.version)
        except SourceError as error:
            raise Conflict(str(error)) from error
        collections.refresh(path.name)
        beside = kept_beside(settings)
        return RolledBackOut(
            **_collection(collections, path.name).model_dump(),
            kept_files_beside=beside[:MOST_NAMED],
            more_kept_files_beside=len(beside[MOST_NAMED:]),
        ).model_dump(mode="json")

    @blueprint.get(
        "/collections/<name>/files/<path:file>",
        summary="A file of the live version, for `atlas store pull`",
        responses={
            200: {"content": {"application/octet-stream": {"schema": {"type": "string"}}}},
            404: Problem,
        },
    )
    def get_file(path: FilePath) -> Response:
        file = _open_file(collections.settings_of(path.name), path.file)
        pieces = iter(partial(file.read, PIECE), b"")
        response = Response(pieces, mimetype="application/octet-stream")
        response.content_length = os.fstat(file.fileno()).st_size
        response.call_on_close(file.close)
        return response

    return blueprint


def _open_file(settings: Settings, name: str) -> BinaryIO:
    """Open the manifest, or a file that it names. Raises NotFound."""
    folder = settings.collection_folder
    live = Manifest.read(folder)
    if name not in {FILE_NAME, *(f"{live.version}/{each}" for each in live.files)}:
        raise NotFound(f"The live version, {live.version}, has no such file. Read {FILE_NAME}.")
    try:
        return (folder / name).open("rb")
    except FileNotFoundError:
        raise NotFound(f"{name} is gone: another version is live by now.") from None


def _collection(collections: ServedCollections, name: str, *, whole: bool = True) -> CollectionOut:
    """A collection; its name alone, unless it is seen as a `whole`."""
    folder = collections.settings_of(name).collection_folder
    live: Manifest | None = None
    problem = collections.problem(name) if whole else ""
    try:
        live = Manifest.read(folder) if whole else None
    except AtlasError as error:
        problem = str(error)
    return CollectionOut(
        name=name,
        default=name == collections.default,
        open=collections.serving(name) is not None,
        version=live.version if live else "",
        documents=live.documents if live else 0,
        passages=live.passages if live else 0,
        versions=[
            VersionOut(
                version=each.version,
                live=live is not None and each.version == live.version,
                created=each.created,
                documents=each.documents,
                passages=each.passages,
                bytes=sum(each.sizes.values()),
            )
            for each in (versions(folder) if whole else ())
        ],
        problem=problem,
    )
