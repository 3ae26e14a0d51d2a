"""Guards against damage, with as much detail as the sender of the present request may see."""

from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus

from flask import Response, g, request
from werkzeug.exceptions import HTTPException

from atlas_search.core.errors import DamagedStore
from atlas_search.server.access.caller import RULES, present_caller, rule_key
from atlas_search.server.collections import Collections, chosen_collection, visible
from atlas_search.server.problems import problem_response
from atlas_search.server.serving import UNGUARDED, Guard

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
