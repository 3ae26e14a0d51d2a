"""What each route asks of its caller. A route without a rule is closed to everyone."""

import re
from functools import cache
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
    # for what watches the server and has no key: whether it is well; more only to a reader
    "GET /api/live": "anyone",
    "GET /api/ready": "anyone",
    "GET /api/health": "anyone",
    "GET /metrics": "reader",  # and of keys only those of administrators who see every corpus
    "GET /api/corpora": "reader",
    "GET /api/targets": "reader",
    "GET /api/config": "reader",
    "GET /api/passages/<any_id:id>": "reader",
    "GET /api/documents/<any_id:id>": "reader",
    "GET /api/page-image/<any_id:id>": "reader",
    "GET /api/page-boxes/<any_id:id>": "reader",
    "POST /api/search": "reader",
    "POST /api/facets": "reader",
    "GET /api/suggestions": "reader",
    "POST /api/concordance": "reader",
    "POST /api/trends": "reader",
    "POST /api/collocates": "reader",
    "POST /api/keywords": "reader",
    "POST /api/counts": "reader",
    "POST /api/ask": "reader",
    "POST /api/ask/stream": "reader",
    "GET /api/ask/<qa_id>": "reader",
    "GET /api/ask/<qa_id>/stream": "reader",
    "GET /api/ask/<qa_id>/export": "reader",
    "DELETE /api/ask/<qa_id>": "reader",
    "POST /api/ask/<qa_id>/link": "reader",
    "GET /api/shared/<token>": "anyone",  # whoever has the link
    "GET /api/sessions/<session_id>/export": "reader",
    "POST /api/export": "reader",
    "POST /api/citations": "reader",
    "GET /api/zotero": "reader",
    "POST /api/zotero": "reader",
    "POST /api/validate": "reader",
    "POST /api/feedback": "reader",
    "GET /api/feedback": "reader",
    "GET /api/feedback/export": "administrator",
    "GET /api/feedback/<rated_id:qa_id>": "reader",
    "DELETE /api/feedback/<rated_id:qa_id>": "reader",
    "GET /api/collections": "reader",
    "POST /api/collections/<name>/rollback": "administrator",
    "GET /api/stats": "reader",
    "GET /api/sources": "reader",
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

FREE = frozenset(
    rule for rule, right in RULES.items() if right == "anyone" and rule != "GET /api/shared/<token>"
) | {"GET /metrics"}
"""Not counted: the page and what it loads, and what watches whether the server is well."""

ANSWERED = frozenset({"POST /api/ask", "POST /api/ask/stream"})
"""May take a language model, which costs."""

SENT_AS_WRITTEN = ANSWERED | {"GET /api/ask/<qa_id>/stream", "GET /api/jobs/<job_id>/events"}
"""Keep a thread of the server until the answer, or the job, ends."""

WHOLE = frozenset(
    {
        "GET /api/feedback/export",
        "POST /api/collections/<name>/rollback",
        "POST /api/ingest",
        "DELETE /api/documents/<any_id:id>",
        "GET /api/jobs",
        "GET /api/jobs/<job_id>",
        "GET /api/jobs/<job_id>/events",
        "DELETE /api/jobs/<job_id>",
        "POST /api/cache/clear",
    }
)
"""Change, or tell of, every corpus: not for an administrator whose key sees some."""


@cache
def described_route(rule: str) -> str:
    """A route as the description of the API writes it: `/api/jobs/{job_id}`."""
    return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule)


def rule_key(method: str, route: str) -> str:
    """The key of RULES for a request's method and the pattern of its path."""
    return f"{'GET' if method == 'HEAD' else method} {route}"
