"""Nothing leaves the server that was read from a damaged store."""

from http import HTTPStatus

from flask import Response, request

from atlas_search.core.errors import DamagedStore
from atlas_search.server.access.rules import RULES, rule_key
from atlas_search.server.present_guard import READY
from atlas_search.server.problems import problem_response
from atlas_search.server.store_watch import Guard

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
    """Whether nothing of the store is asked: a route for anyone, or which methods one has."""
    if request.url_rule is None or request.method == "OPTIONS":
        return True
    return RULES.get(rule_key(request.method, request.url_rule.rule)) == "anyone"


def withhold(guard: Guard, response: Response) -> Response:
    """A problem in place of what was read while the store was damaged."""
    if response.is_streamed or not response.status_code < HTTPStatus.BAD_REQUEST:
        return response
    try:
        require_whole(guard)
    except DamagedStore as error:
        return problem_response(error)
    return response
