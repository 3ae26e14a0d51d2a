"""What each route asks of its caller. A route without a rule is closed to everyone."""

from typing import Literal

Right = Literal["anyone", "reader", "administrator"]
"""`anyone` learns nothing of the collection; a `reader` may ask; an `administrator` may change."""

RULES: dict[str, Right] = {
    "GET /": "anyone",
    "GET /static/<path:name>": "anyone",
    # the description of the API and its browsable page
    "GET /api/": "anyone",
    "GET /api/openapi.json": "anyone",
    "GET /api/swagger": "anyone",
    "GET /api/swagger/<path:filename>": "anyone",
    "GET /api/oauth2-redirect.html": "anyone",
    "GET /api/static/<path:filename>": "anyone",
    "GET /api/health": "reader",
    "GET /api/corpora": "reader",
    "GET /api/targets": "reader",
    "GET /api/config": "reader",
    "GET /api/passages/<any_id:id>": "reader",
    "GET /api/documents/<any_id:id>": "reader",
    "POST /api/search": "reader",
    "POST /api/ask": "reader",
    "POST /api/ask/stream": "reader",
    "GET /api/ask/<qa_id>": "reader",
    "GET /api/ask/<qa_id>/stream": "reader",
    "GET /api/ask/<qa_id>/export": "reader",
    "DELETE /api/ask/<qa_id>": "reader",
    "GET /api/sessions/<session_id>/export": "reader",
    "POST /api/export": "reader",
    "POST /api/validate": "reader",
    "GET /api/collections": "reader",
    "POST /api/collections/<name>/rollback": "administrator",
    "GET /api/stats": "reader",
    "GET /api/documents": "reader",
    "POST /api/ingest": "administrator",
    "DELETE /api/documents/<any_id:id>": "administrator",
    # a job tells the names of files
    "GET /api/jobs": "administrator",
    "GET /api/jobs/<job_id>": "administrator",
    "GET /api/jobs/<job_id>/events": "administrator",
    "DELETE /api/jobs/<job_id>": "administrator",
    "PUT /api/config/reranker": "administrator",
    "POST /api/cache/clear": "administrator",
}


def rule_key(method: str, route: str) -> str:
    """The key of RULES for a request's method and the pattern of its path."""
    return f"{'GET' if method == 'HEAD' else method} {route}"
