"""The other routes: what can be chosen, documents, checks, refusals, a stream, the description."""

import json
from collections.abc import Mapping
from typing import Any

from tests.conftest import TODAY
from tests.faces.answers import LABELS, LIBEL
from tests.faces.plain import brief, cut_all
from tests.faces.world import Face, World

MARKER = "[legal_uk.derbyshire-county-council-v-times-newspapers-1993 p1]"
DERBYSHIRE = "legal_uk.derbyshire-county-council-v-times-newspapers-1993"

READ: Mapping[str, str] = {
    "corpora": "/api/corpora",
    "targets": "/api/targets",
    "config": "/api/config",
    "collections": "/api/collections",
    "stats": "/api/stats",
    "sources": "/api/sources",
    "live": "/api/live",
    "ready": "/api/ready",
    "health": "/api/health",
    "feedback": "/api/feedback",
    "suggestions": "/api/suggestions",
    "suggestions-some": "/api/suggestions?corpus=legal_us&corpus=legal_uk&limit=9",
    "documents": "/api/documents?limit=12",
    "documents-titled": "/api/documents?title=v&corpus=legal_uk&sort=-date&limit=5&offset=2",
    "documents-filtered": "/api/documents?filters=%7B%22content_type%22%3A%22pdf%22%7D&sort=title",
    "document-txt": f"/api/documents/{DERBYSHIRE}",
    "document-pdf": "/api/documents/legal_uk.constitutional-reform-act-2005",
    "document-docx": "/api/documents/legislation_nz.constitution-act-1986",
    "document-epub": "/api/documents/legal_uk.sources-of-united-kingdom-constitutional-law",
    "document-md": "/api/documents/legal_us.brandenburg-v-ohio-1969",
    "passage": f"/api/passages/{DERBYSHIRE}:0-430",
    "page-boxes": "/api/page-boxes/legal_uk.constitutional-reform-act-2005?page=1&start=0&end=60",
}

CHECKS: Mapping[str, Mapping[str, Any]] = {
    "valid": {"answer": f"A local authority cannot sue for libel. {MARKER}"},
    "no-token": {"answer": "A local authority cannot sue for libel."},
    "unknown": {"answer": "Nobody can. [legal_uk.no-such-case-1900 p1] [legal_uk.r-v-r-1991 p99]"},
    "wrong-quotation": {"answer": f'It said "councils may sue whom they please". {MARKER}'},
    "given": {
        "answer": "Twelve ships came. [a p1] The toll is a penny. [b s10(1)] All paid. [a p1]",
        "passages": [
            {"document_id": "a", "page": 1, "text": "Twelve ships came on the tide."},
            {"document_id": "b", "page": 2, "text": "The toll is a penny.", "locator": "s 10(1)"},
        ],
    },
    "ids": {
        "answer": f"The threat of libel actions would chill free speech. {MARKER}",
        "passages": [f"{DERBYSHIRE}:0-430"],
    },
    "limit": {
        "answer": f"One. [a p1] Two. [a p2] Three. {MARKER}",
        "citation_limit": 1,
    },
    "refusal": {"answer": "The passages do not say who won the match."},
}

ASKED = {"question": LIBEL}
REFUSED: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "no-question": ("POST", "/api/search", {"json": {}}),
    "wrong-type": ("POST", "/api/ask", {"json": {"question": 7}}),
    "number-as-text": ("POST", "/api/search", {"json": {**ASKED, "k": "5"}}),
    "no-word": ("POST", "/api/search", {"json": {"question": " ? "}}),
    "unknown-field": ("POST", "/api/ask", {"json": {**ASKED, "colour": "red"}}),
    "unknown-corpus": ("POST", "/api/ask", {"json": {**ASKED, "corpus_filter": "sea"}}),
    "unknown-collection": ("POST", "/api/search", {"json": {**ASKED, "collection": "sea"}}),
    "unknown-target": ("POST", "/api/ask", {"json": {**ASKED, "target": "sea"}}),
    "unknown-filter": ("POST", "/api/search", {"json": {**ASKED, "filters": {"colour": "red"}}}),
    "unknown-facet": ("POST", "/api/search", {"json": {**ASKED, "facets": ["colour"]}}),
    "bad-range": (
        "POST",
        "/api/search",
        {"json": {**ASKED, "filters": {"date": {"from": "soon"}}}},
    ),
    "bad-day": ("POST", "/api/ask", {"json": {**ASKED, "as_of": "tomorrow"}}),
    "no-json": ("POST", "/api/ask", {"data": "{", "content_type": "application/json"}),
    "no-type": ("POST", "/api/ask", {"data": "{}", "content_type": "text/plain"}),
    "not-allowed": (
        "PUT",
        "/api/config/reranker",
        {
            "json": {"settings": {"RERANKER": "none"}},
            "environ_base": {"REMOTE_ADDR": "192.0.2.7"},  # not the server's machine
        },
    ),
    "jobs": ("GET", "/api/jobs", {}),
    "no-document": ("GET", "/api/documents/farm.none", {}),
    "no-passage": ("GET", "/api/passages/farm.none:0-4", {}),
    "no-answer": ("GET", "/api/ask/none", {}),
    "no-link": ("GET", "/api/shared/none", {}),
    "no-route": ("GET", "/api/none", {}),
    "no-page": ("GET", f"/api/page-image/{DERBYSHIRE}?page=1&width=300", {}),
    "no-method": ("PUT", "/api/search", {"json": ASKED}),
    "open-phrase": ("POST", "/api/counts", {"json": {"query": '"wool'}}),
    "small-near": ("POST", "/api/concordance", {"json": {"query": "sue near/5 libel"}}),
    "unknown-by": ("POST", "/api/trends", {"json": {"query": "libel", "by": "colour"}}),
    "nothing-to-export": ("POST", "/api/export", {"json": {"format": "csv"}}),
    "bad-limit": ("GET", "/api/suggestions?limit=99", {}),
    "other-host": ("POST", "/api/search", {"json": ASKED, "base_url": "http://sea.example"}),
    "other-origin": ("POST", "/api/search", {"json": ASKED, "headers": {"Origin": "http://x.org"}}),
}

STREAMS: Mapping[str, Mapping[str, Any]] = {
    "answer": {"question": LIBEL, "k": 4},
    "compare": {"question": LABELS["q054"], "mode": "compare", "k": 4},
    "declined": {"question": LABELS["q075"], "k": 4},
}


def faces() -> dict[str, Face]:
    return (
        {f"routes/{name}.json": _reading(path) for name, path in READ.items()}
        | {
            f"checks/{name}.json": _opening("POST", "/api/validate", {"json": body})
            for name, body in CHECKS.items()
        }
        | {f"refused/{name}.json": _opening(*given) for name, given in REFUSED.items()}
        | {f"streams/{name}.json": _streaming(body) for name, body in STREAMS.items()}
        | {"openapi.json": description}
    )


def description(world: World) -> object:
    """The description of the API, but for the version of Atlas."""
    found = world.client.get("/api/openapi.json").get_json()
    del found["info"]["version"]
    return world.plain(found, frozenset())


def _reading(path: str) -> Face:
    return lambda world: cut_all(world.open("GET", path))


def _opening(method: str, path: str, options: Mapping[str, Any]) -> Face:
    return lambda world: world.open(method, path, **options)


def _streaming(body: Mapping[str, Any]) -> Face:
    def seen(world: World) -> object:
        given = {"as_of": TODAY.isoformat(), **body}
        sent = world.client.post("/api/ask/stream", json=given).get_data(as_text=True)
        return [_event(world, frame) for frame in sent.split("\n\n") if frame.strip()]

    return seen


def _event(world: World, frame: str) -> dict[str, Any]:
    fields = dict(line.split(": ", 1) for line in frame.split("\n") if ": " in line)
    if "data" in fields:
        fields["data"] = brief(world.plain(json.loads(fields["data"])))
    return fields
