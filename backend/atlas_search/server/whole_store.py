"""Nothing leaves the server that was read from a damaged store."""

from http import HTTPStatus

from flask import Response, request

from atlas_search.core.errors import DamagedStore
from atlas_search.server.problems import problem_response
from atlas_search.server.store_watch import Guard

# of these, the manifest that is in memory is enough
_WITHOUT_STORE = frozenset(
    f"/api/{name}"
    for name in ("live", "health", "config", "corpora", "targets", "openapi.json", "swagger")
)
# nor do these answer from it; going back to an earlier version may be what mends it
_ABOUT_STORES = ("/api/collections", "/api/jobs")


def require_whole(guard: Guard) -> None:
    """Raise DamagedStore for a request that would be answered from a damaged store."""
    path = request.path
    if path in _WITHOUT_STORE or path.startswith(_ABOUT_STORES):
        return
    if path.startswith("/api/"):
        guard.require_whole()


def withhold(guard: Guard, response: Response) -> Response:
    """A problem in place of what was read while the store was damaged."""
    if response.is_streamed or not response.status_code < HTTPStatus.BAD_REQUEST:
        return response
    try:
        require_whole(guard)
    except DamagedStore as error:
        return problem_response(error)
    return response
