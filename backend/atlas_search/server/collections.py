"""Several collections served by one server, each opened when it is first asked for.

Their guards against damage say as much as the sender of the present request may see.
"""

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Protocol

from flask import Response, g, has_request_context, request
from werkzeug.exceptions import HTTPException

from atlas_search.atlas import Atlas
from atlas_search.core.errors import DamagedStore, MissingStore, UnknownCollection, shown
from atlas_search.core.ids import COLLECTION_HEADER, is_collection_name
from atlas_search.core.settings import Settings
from atlas_search.providers.embedding import Embedder
from atlas_search.server.access.caller import RULES, present_caller, rule_key
from atlas_search.server.problems import problem_response
from atlas_search.server.serving import UNGUARDED, Guard, Serve, Serving
from atlas_search.stores.manifest import FILE_NAME, Manifest

SETTLING_SECONDS = 3.0  # some disks note the time of a change in steps of two seconds


@dataclass(frozen=True)
class _Listing:
    """A folder's listing when it had `changed` last; `unbuilt` are manifests that may yet come."""

    changed: int
    built: frozenset[str]
    unbuilt: tuple[Path, ...]


_NONE = _Listing(-1, frozenset(), ())


class BuiltCollections:
    """The built collections below `root`, which is listed only when something came or went.

    Safe to use from several threads.
    """

    def __init__(self, root: Path):
        self._root = root
        self._listing = _NONE

    def names(self) -> frozenset[str]:
        """Return their names; none if there is no such folder."""
        changed = _changed(self._root)
        listing = self._listing
        if listing.changed != changed or any(path.is_file() for path in listing.unbuilt):
            listing = _list(self._root, changed)
            # what comes within the same step of the clock changes nothing that can be seen
            settled = time.time() - changed / 1e9 > SETTLING_SECONDS
            self._listing = listing if settled else _NONE
        return listing.built


def _changed(root: Path) -> int:
    try:
        return os.stat(root).st_mtime_ns
    except OSError:
        return 0


def _list(root: Path, changed: int) -> _Listing:
    children = root.iterdir() if root.is_dir() else ()
    manifests = [path / FILE_NAME for path in children if is_collection_name(path.name)]
    built = {path for path in manifests if path.is_file()}
    return _Listing(
        changed,
        frozenset(path.parent.name for path in built),
        tuple(path for path in manifests if path not in built),
    )


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


class Collections(Protocol):
    """The served collections. Called once per request, so that all of it sees one version."""

    def __call__(self, name: str = "") -> Atlas:
        """A collection, open; without a name the one that the request chooses.

        Raises UnknownCollection, listing the served ones.
        """

    @property
    def default(self) -> str:
        """The name of the collection of requests that choose none."""

    def names(self) -> list[str]:
        """The collections that can be chosen, the default first, the others sorted."""

    def problem(self, name: str = "") -> str:
        """The reason why a collection's newest version is not served; empty if it is."""

    def settings_of(self, name: str, *, new: bool = False) -> Settings:
        """The settings with which a collection is served; a `new` one need not be there yet.

        Raises UnknownCollection.
        """

    def refresh(self, name: str) -> None:
        """Serve the newest version of a collection now."""

    def held(self) -> list[Manifest]:
        """The manifest of each collection in memory; none counts as used."""

    def is_open(self, name: str) -> bool:
        """Return True if a collection is in memory."""

    def guard(self, name: str = "") -> Guard:
        """The guard that keeps answers back from damage; a NoGuard where none is open."""


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


@dataclass(frozen=True)
class OneCollection:
    """A single collection that `serve` gives; `fault` says why its newest version is not served."""

    serve: Serve
    fault: Callable[[], str] = lambda: ""
    guarded: Guard = UNGUARDED

    def __call__(self, name: str = "") -> Atlas:
        atlas = self.serve()
        _check(name or chosen_collection(), [atlas.services.settings.chroma_collection_name])
        return atlas

    @property
    def default(self) -> str:
        return self.serve().services.settings.chroma_collection_name

    def names(self) -> list[str]:
        return [self.default]

    def problem(self, name: str = "") -> str:  # noqa: ARG002
        return self.fault()

    def settings_of(self, name: str, *, new: bool = False) -> Settings:  # noqa: ARG002
        own = self.serve().services.settings
        if (name or chosen_collection()) != own.chroma_collection_name:
            _check(name or chosen_collection(), self.names())
        return own

    def refresh(self, name: str) -> None:
        """Do nothing: `serve` follows by itself."""

    def held(self) -> list[Manifest]:
        return [self.serve().services.store.manifest]

    def is_open(self, name: str) -> bool:  # noqa: ARG002
        return True

    def guard(self, name: str = "") -> Guard:  # noqa: ARG002
        return self.guarded


class ServedCollections:
    """The configured collection, always open, and those that COLLECTIONS names beside it.

    They share models, tracer and kept answers. Of the others at most COLLECTIONS_OPEN are open:
    the one that was idle longest is closed once the requests that use it are done.
    """

    def __init__(self, settings: Settings, embedder: Embedder | None = None):
        self._settings = settings
        self._first = Serving(settings, embedder)
        self._built = BuiltCollections(settings.chroma_persist_directory)
        self._others = OpenCollections(self._open, settings.collections_open)
        self._follows = False

    def __call__(self, name: str = "") -> Atlas:
        name = name or chosen_collection()
        if name:
            _check(name, self.names())
        if name in ("", self.default):
            return self._first()
        return self._others.serve(name)()

    @property
    def default(self) -> str:
        return self._settings.chroma_collection_name

    def names(self) -> list[str]:
        names = {name.strip() for name in self._settings.collections.split(",")} - {""}
        if EVERY in names:
            names |= self._built.names()
        return [self.default, *sorted(names - {EVERY, self.default})]

    def problem(self, name: str = "") -> str:
        name = name or chosen_collection() or self.default
        if name == self.default:
            return self._first.problem
        serving = self._others.get(name)
        return serving.problem if serving else ""

    def settings_of(self, name: str, *, new: bool = False) -> Settings:
        name = name or chosen_collection() or self.default
        every = EVERY in (part.strip() for part in self._settings.collections.split(","))
        if name == self.default:
            return self._settings
        if not (new and every and is_collection_name(name)):
            _check(name, self.names())
        # MULTI_CORPUS_METADATA names corpora of the configured collection
        own = {"chroma_collection_name": name, "multi_corpus_metadata": ""}
        return self._settings.model_copy(update=own)

    def refresh(self, name: str) -> None:
        if serving := self._first if name == self.default else self._others.get(name):
            serving.refresh()

    def held(self) -> list[Manifest]:
        every = (self._first, *self._others.all())
        return [serving().services.store.manifest for serving in every]

    def is_open(self, name: str) -> bool:
        return name == self.default or self._others.get(name) is not None

    def guard(self, name: str = "") -> Guard:
        name = name or chosen_collection() or self.default
        serving = self._first if name == self.default else self._others.get(name)
        return serving.guard if serving else UNGUARDED

    def follow(self) -> None:
        """Begin to look for new versions of what is open."""
        self._follows = True
        self._first.follow()

    def close(self) -> None:
        """Stop looking, and release everything."""
        self._others.close()
        self._first.close()

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


def _check(name: str, served: list[str]) -> None:
    known = visible(served)
    if name and name not in known:
        listed = ", ".join(known) or "none"
        raise UnknownCollection(f"There is no collection {shown([name])} here. Served: {listed}.")


READY = "/api/ready"
"""Says to anyone whether the server can answer, and no more."""


@dataclass(frozen=True)
class ToldGuard:
    """A guard that says which files are damaged, or only that some are."""

    guard: Guard
    tells_files: bool

    def require_whole(self) -> None:
        try:
            self.guard.require_whole()
        except DamagedStore as error:
            raise self._reword(error) from error

    def cause(self, error: Exception) -> Exception:
        cause = self.guard.cause(error)
        return self._reword(cause) if isinstance(cause, DamagedStore) else cause

    def _reword(self, error: DamagedStore) -> DamagedStore:
        if self.tells_files:
            return error
        return DamagedStore(
            "The collection is damaged, and no question is answered from it. An administrator's "
            "health, and the log, say more."
        )


@dataclass(frozen=True)
class PresentGuard:
    """The guard of whichever collection the present request chooses.

    There is none for one that its sender may not see, nor for a body that is too large.
    """

    collections: Collections

    def require_whole(self) -> None:
        self.now().require_whole()

    def cause(self, error: Exception) -> Exception:
        return self.now().cause(error)

    def now(self) -> Guard:
        """Return a guard for a thread of its own, which has no request."""
        return ToldGuard(self._guard(), "caller" in g and present_caller().sees_traces)

    def _guard(self) -> Guard:
        with suppress(HTTPException):  # from reading its body
            name = chosen_collection()
            if name or request.path != READY:
                name = name or self.collections.default
                return self.collections.guard(name) if visible([name]) else UNGUARDED
            return self.collections.guard()
        return UNGUARDED


# of these, the manifest that is in memory is enough
_WITHOUT_STORE = frozenset(f"/api/{name}" for name in ("config", "corpora", "targets"))
# nor do these answer from it; going back to an earlier version may be what mends it
_ABOUT_STORES = ("/api/collections", "/api/jobs")


def require_whole(guard: Guard) -> None:
    """Raise DamagedStore for a request that would be answered from a damaged store."""
    path = request.path
    if _is_for_anyone() and path != READY:
        return
    if path in _WITHOUT_STORE or path.startswith(_ABOUT_STORES):
        return
    if path.startswith("/api/"):
        guard.require_whole()


def _is_for_anyone() -> bool:
    """Check that nothing of the store is asked: a route for anyone, or a question for methods."""
    if request.url_rule is None or request.method == "OPTIONS":
        return True
    return RULES.get(rule_key(request.method, request.url_rule.rule)) == "anyone"


def withhold(guard: Guard, response: Response) -> Response:
    """Replace a response by a problem if the store was damaged while it was read."""
    if response.is_streamed or not response.status_code < HTTPStatus.BAD_REQUEST:
        return response
    try:
        require_whole(guard)
    except DamagedStore as error:
        return problem_response(error)
    return response
