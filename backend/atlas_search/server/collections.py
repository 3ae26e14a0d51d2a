"""Several collections served by one server, each opened when it is first asked for.

Their guards against damage say as much as the sender of the present request may see.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path

from flask import Response, g, has_request_context, request
from werkzeug.exceptions import HTTPException

from atlas_search.atlas import Atlas
from atlas_search.core.errors import DamagedStore, MissingStore, UnknownCollection, shown
from atlas_search.core.ids import COLLECTION_HEADER, is_collection_name
from atlas_search.core.settings import Settings
from atlas_search.server.access.caller import RULES, present_caller, rule_key
from atlas_search.server.problems import problem_response
from atlas_search.server.serving import Guard, Serving
from atlas_search.stores.manifest import FILE_NAME, Manifest


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
