"""Several collections served by one server, each opened when it is first asked for."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from flask import g, has_request_context, request

from atlas_search.atlas import Atlas
from atlas_search.core.collection_name import is_collection_name
from atlas_search.core.errors import MissingStore, UnknownCollection
from atlas_search.core.settings import Settings
from atlas_search.core.shown import shown
from atlas_search.providers.embedding import Embedder
from atlas_search.server.access.caller import present_caller
from atlas_search.server.serving import Serve, Serving
from atlas_search.server.store_watch import UNGUARDED, Guard
from atlas_search.stores.manifest import FILE_NAME, Manifest

HEADER = "Atlas-Collection"
EVERY = "*"


class Collections(Protocol):
    """What is served. Called once per request, so that all of it sees one version."""

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
        """Why the newest version of a collection is not served; empty if it is."""

    def settings_of(self, name: str, *, new: bool = False) -> Settings:
        """The settings with which a collection is served; a `new` one need not be there yet.

        Raises UnknownCollection.
        """

    def refresh(self, name: str) -> None:
        """Serve the newest version of a collection now."""

    def held(self) -> list[Manifest]:
        """What each collection in memory holds."""

    def is_open(self, name: str) -> bool:
        """Whether a collection is in memory."""

    def guard(self, name: str = "") -> Guard:
        """What keeps answers back from a damaged collection; a NoGuard where none is open."""


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
        or request.headers.get(HEADER, "")
    )


@dataclass(frozen=True)
class OneCollection:
    """A single collection that `serve` gives; `fault` says why its newest version is not served."""

    serve: Serve
    fault: Callable[[], str] = lambda: ""
    guarded: Guard = UNGUARDED

    def __call__(self, name: str = "") -> Atlas:
        """See Collections."""
        atlas = self.serve()
        _check(name or chosen_collection(), [atlas.services.settings.chroma_collection_name])
        return atlas

    @property
    def default(self) -> str:
        """See Collections."""
        return self.serve().services.settings.chroma_collection_name

    def names(self) -> list[str]:
        """See Collections."""
        return [self.default]

    def problem(self, name: str = "") -> str:  # noqa: ARG002
        """See Collections."""
        return self.fault()

    def settings_of(self, name: str, *, new: bool = False) -> Settings:  # noqa: ARG002
        """See Collections."""
        own = self.serve().services.settings
        if (name or chosen_collection()) != own.chroma_collection_name:
            _check(name or chosen_collection(), self.names())
        return own

    def refresh(self, name: str) -> None:
        """See Collections: `serve` follows by itself."""

    def held(self) -> list[Manifest]:
        """See Collections."""
        return [self.serve().services.store.manifest]

    def is_open(self, name: str) -> bool:  # noqa: ARG002
        """See Collections."""
        return True

    def guard(self, name: str = "") -> Guard:  # noqa: ARG002
        """See Collections."""
        return self.guarded


@dataclass
class _Place:
    """Where one collection is opened; the lock keeps two requests from opening it twice."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    serving: Serving | None = None


class ServedCollections:
    """The configured collection, always open, and those that COLLECTIONS names beside it.

    They share models, tracer and kept answers. Of the others at most COLLECTIONS_OPEN are open:
    the one that was idle longest is closed once the requests that use it are done.
    """

    def __init__(self, settings: Settings, embedder: Embedder | None = None):
        self._settings = settings
        self._first = Serving(settings, embedder)
        self._others: OrderedDict[str, _Place] = OrderedDict()
        self._lock = threading.Lock()
        self._follows = False

    def __call__(self, name: str = "") -> Atlas:
        """See Collections."""
        name = name or chosen_collection()
        if name:
            _check(name, self.names())
        if name in ("", self.default):
            return self._first()
        with self._lock:
            place = self._others.setdefault(name, _Place())
            self._others.move_to_end(name)
        with place.lock:
            serving = place.serving = place.serving or self._open(name)
        self._close_idle()
        return serving()

    @property
    def default(self) -> str:
        """See Collections."""
        return self._settings.chroma_collection_name

    def names(self) -> list[str]:
        """See Collections."""
        wanted = {name.strip() for name in self._settings.collections.split(",")} - {""}
        if EVERY in wanted:
            wanted |= set(_folders(self._settings.chroma_persist_directory))
        return [self.default, *sorted(wanted - {EVERY, self.default})]

    def problem(self, name: str = "") -> str:
        """See Collections."""
        name = name or chosen_collection() or self.default
        if name == self.default:
            return self._first.problem
        place = self._others.get(name)
        return place.serving.problem if place and place.serving else ""

    def settings_of(self, name: str, *, new: bool = False) -> Settings:
        """See Collections."""
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
        """See Collections."""
        place = self._others.get(name)
        if name == self.default:
            self._first.refresh()
        elif place and place.serving:
            place.serving.refresh()

    def held(self) -> list[Manifest]:
        """See Collections. None counts as used by being asked for."""
        with self._lock:
            others = [place.serving for place in self._others.values() if place.serving]
        return [serving().services.store.manifest for serving in (self._first, *others)]

    def is_open(self, name: str) -> bool:
        """See Collections."""
        place = self._others.get(name)
        return name == self.default or bool(place and place.serving)

    def guard(self, name: str = "") -> Guard:
        """See Collections."""
        name = name or chosen_collection() or self.default
        place = self._others.get(name)
        serving = self._first if name == self.default else place and place.serving
        return serving.guard if serving else UNGUARDED

    def follow(self) -> None:
        """Begin to look for new versions of what is open."""
        self._follows = True
        self._first.follow()

    def close(self) -> None:
        """Stop looking, and release everything."""
        with self._lock:
            places = [self._others.popitem()[1] for _ in list(self._others)]
        for place in places:
            if place.serving:
                place.serving.forget()
        self._first.close()

    def _open(self, name: str) -> Serving:
        try:
            serving = Serving(self.settings_of(name), beside=self._first().services)
        except MissingStore as error:  # which names other collections, and their folder
            raise MissingStore(f"The collection {name} is served, but not built.") from error
        if self._follows:
            serving.follow()
        return serving

    def _close_idle(self) -> None:
        with self._lock:
            extra = len(self._others) - self._settings.collections_open
            idle = [self._others.popitem(last=False)[1] for _ in range(extra)]
        for place in idle:
            with place.lock:
                if place.serving:
                    place.serving.forget()


def _folders(root: Path) -> list[str]:
    """The names of the built collections below `root`."""
    found = root.iterdir() if root.is_dir() else ()
    return [p.name for p in found if is_collection_name(p.name) and (p / FILE_NAME).is_file()]


def visible(names: Iterable[str]) -> list[str]:
    """Those collections of which the present caller may know; all outside of a request."""
    if not (has_request_context() and "caller" in g):
        return list(names)
    caller = present_caller()
    # an empty set: they see no corpus of it
    return [name for name in names if caller.is_known and caller.sees(name) != frozenset()]


def _check(name: str, served: list[str]) -> None:
    known = visible(served)
    if name and name not in known:
        listed = ", ".join(known) or "none"
        raise UnknownCollection(
            f"There is no collection {shown([name])} here. Served are: {listed}."
        )
