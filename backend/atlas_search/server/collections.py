"""Several collections served by one server, each opened when it is first asked for, and
`/api/collections`: their versions, their files, and going back to an earlier version.

Their guards against damage say as much as the sender of the present request may see.
"""

import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO

from flask import Response, g, has_request_context, request
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel, Field
from werkzeug.exceptions import HTTPException

from atlas_search.atlas import Atlas
from atlas_search.building.kept_files import INGEST, kept_sources
from atlas_search.building.materials import Live
from atlas_search.building.sources import is_sheet
from atlas_search.core.errors import (
    AtlasError,
    Conflict,
    DamagedStore,
    MissingStore,
    NotFound,
    SourceError,
    UnknownCollection,
    shown,
)
from atlas_search.core.ids import COLLECTION_HEADER, is_collection_name
from atlas_search.core.settings import Settings
from atlas_search.readers.files import files_reader
from atlas_search.server.access.caller import RULES, present_caller, rule_key
from atlas_search.server.api import OptionalBody
from atlas_search.server.problems import Problem, problem_response
from atlas_search.server.serving import Guard, Serving
from atlas_search.stores.manifest import FILE_NAME, Manifest
from atlas_search.stores.versions import rollback, versions

log = logging.getLogger(__name__)


def built_collections(root: Path) -> list[str]:
    """The names of the built collections below a folder; none if there is no such folder."""
    folders = root.iterdir() if root.is_dir() else ()
    return sorted(folder.name for folder in folders if _is_built(root, folder.name))


def _is_built(root: Path, name: str) -> bool:
    return is_collection_name(name) and (root / name / FILE_NAME).is_file()


class OpenCollections:
    """At most `limit` collections, each opened by `opening` when it is first asked for.

    The one that was idle longest makes room once another is open. Safe to use from several threads:
    none is opened twice, and while one is being opened only those who want it wait.
    """

    def __init__(self, opening: Callable[[str], Serving], limit: int):
        self._opening = opening
        self._limit = limit
        self._open: OrderedDict[str, Serving] = OrderedDict()
        self._doors: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()
        self._closed = False

    def serve(self, name: str) -> Serving:
        """A collection, open. Raises what opening it raises."""
        with self._lock:
            door = self._doors.setdefault(name, threading.Lock())
        with door:
            return self._used(name) or self._take_in(name, self._opening(name))

    def get(self, name: str) -> Serving | None:
        """A collection if it is open; it does not count as used."""
        return self._open.get(name)

    def all(self) -> list[Serving]:
        """Return the open collections; none counts as used."""
        with self._lock:
            return list(self._open.values())

    def close(self) -> None:
        """Forget all of them, and each that is still being opened."""
        with self._lock:
            self._closed = True
            self._shrink(0)

    def _used(self, name: str) -> Serving | None:
        with self._lock:
            if name in self._open:
                self._open.move_to_end(name)
            return self._open.get(name)

    def _take_in(self, name: str, serving: Serving) -> Serving:
        with self._lock:
            self._open[name] = serving
            self._shrink(0 if self._closed else self._limit)
        return serving

    def _shrink(self, limit: int) -> None:
        while len(self._open) > limit:
            self._open.popitem(last=False)[1].forget()


EVERY = "*"


def chosen_collection() -> str:
    """The collection that the present request names: in its body, its query or its header."""
    if not has_request_context():
        return ""
    body = None
    with suppress(RecursionError):  # what is no JSON is told when the body is read
        body = request.get_json(silent=True)
    named = body.get("collection") if isinstance(body, dict) else None
    return (
        (named if isinstance(named, str) else "")
        or request.args.get("collection", "")
        or request.headers.get(COLLECTION_HEADER, "")
    )


class ServedCollections:
    """The configured collection, always open, and those that COLLECTIONS names beside it.

    They share models, tracer and kept answers. Of the others at most COLLECTIONS_OPEN are open:
    the one that was idle longest is closed once the requests that use it are done. Called once per
    request, so that all of it sees one version.
    """

    def __init__(self, first: Serving):
        """Serve the collections that the settings of `first` name; it is closed with them."""
        self._first = first
        self._settings = settings = first().services.settings
        self._root = settings.chroma_persist_directory
        self._named = {name.strip() for name in settings.collections.split(",")} - {""}
        self._others = OpenCollections(self._open, settings.collections_open)
        self._follows = False

    def __call__(self, name: str = "") -> Atlas:
        """A collection, open; without a name the one that the request chooses.

        Raises UnknownCollection, listing the served ones.
        """
        name = name or chosen_collection()
        if name:
            self._check(name)
        if name in ("", self.default):
            return self._first()
        return self._others.serve(name)()

    @property
    def default(self) -> str:
        """The name of the collection of requests that choose none."""
        return self._settings.chroma_collection_name

    def names(self) -> list[str]:
        """The collections that can be chosen, the default first, the others sorted."""
        built = built_collections(self._root) if EVERY in self._named else ()
        return [self.default, *sorted({*self._named, *built} - {EVERY, self.default})]

    def serving(self, name: str) -> Serving | None:
        """A collection if it is in memory; it does not count as used."""
        return self._first if name == self.default else self._others.get(name)

    def problem(self, name: str = "") -> str:
        """The reason why a collection's newest version is not served; empty if it is."""
        serving = self.serving(name or chosen_collection() or self.default)
        return serving.problem if serving else ""

    def settings_of(self, name: str, *, new: bool = False) -> Settings:
        """The settings with which a collection is served; a `new` one need not be there yet.

        Raises UnknownCollection.
        """
        name = name or chosen_collection() or self.default
        if name == self.default:
            return self._settings
        if not (new and EVERY in self._named and is_collection_name(name)):
            self._check(name)
        # MULTI_CORPUS_METADATA names corpora of the configured collection
        own = {"chroma_collection_name": name, "multi_corpus_metadata": ""}
        return self._settings.model_copy(update=own)

    def refresh(self, name: str) -> None:
        """Serve the newest version of a collection now."""
        if serving := self.serving(name):
            serving.refresh()

    def held(self) -> list[Manifest]:
        """The manifest of each collection in memory; none counts as used."""
        every = (self._first, *self._others.all())
        return [serving().services.store.manifest for serving in every]

    def follow(self) -> None:
        """Begin to look for new versions of what is open."""
        self._follows = True
        self._first.follow()

    def close(self) -> None:
        """Stop looking, and release everything."""
        self._others.close()
        self._first.close()

    def _check(self, name: str) -> None:
        """Raise UnknownCollection for one that is not served, or not to the present caller."""
        served = {self.default, *self._named} - {EVERY}
        is_served = name in served or (EVERY in self._named and _is_built(self._root, name))
        if not (is_served and visible([name])):
            listed = ", ".join(visible(self.names())) or "none"
            raise UnknownCollection(
                f"There is no collection {shown([name])} here. Served: {listed}."
            )

    def _open(self, name: str) -> Serving:
        try:
            serving = Serving(self.settings_of(name), beside=self._first().services)
        except MissingStore as error:  # which names other collections, and their folder
            raise MissingStore(f"The collection {name} is served, but not built.") from error
        if self._follows:
            serving.follow()
        return serving


def visible(names: Iterable[str]) -> list[str]:
    """The collections of which the present caller may know; all of them outside of a request."""
    if not (has_request_context() and "caller" in g):
        return list(names)
    caller = present_caller()
    # an empty set: they see no corpus of it
    return [name for name in names if caller.is_known and caller.sees(name) != frozenset()]


READY = "/api/ready"
"""Says to anyone whether the server can answer, and no more."""


def present_guard(collections: ServedCollections) -> Guard:
    """The guard of the collection that the present request chooses, for a thread of its own too.

    It guards none that its sender may not see, and nothing for a body that is too large.
    """
    return Guard(_present(collections), "caller" in g and present_caller().sees_traces)


def _present(collections: ServedCollections) -> Serving | None:
    with suppress(HTTPException):  # from reading its body
        chosen = chosen_collection()
        name = chosen or collections.default
        if visible([name]) or (request.path == READY and not chosen):
            return collections.serving(name)
    return None


# of these, the manifest that is in memory is enough
_WITHOUT_STORE = frozenset(f"/api/{name}" for name in ("config", "corpora", "targets"))
# nor do these answer from it; going back to an earlier version may be what mends it
_ABOUT_STORES = ("/api/collections", "/api/jobs")


def require_whole(collections: ServedCollections) -> None:
    """Raise DamagedStore for a request that would be answered from a damaged store."""
    path = request.path
    if _is_for_anyone() and path != READY:
        return
    if path in _WITHOUT_STORE or path.startswith(_ABOUT_STORES):
        return
    if path.startswith("/api/"):
        present_guard(collections).require_whole()


def _is_for_anyone() -> bool:
    """Check that nothing of the store is asked: a route for anyone, or a question for methods."""
    if request.url_rule is None or request.method == "OPTIONS":
        return True
    return RULES.get(rule_key(request.method, request.url_rule.rule)) == "anyone"


def withhold(collections: ServedCollections, response: Response) -> Response:
    """Replace a response by a problem if the store was damaged while it was read."""
    if response.is_streamed or not response.status_code < HTTPStatus.BAD_REQUEST:
        return response
    try:
        require_whole(collections)
    except DamagedStore as error:
        return problem_response(error)
    return response


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
