"""What a key may not see is nowhere in what it gets: every route is asked, with every option.

Each request is also sent to a collection that never held the hidden corpus: the response must be
the same.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from atlas_search import Atlas
from atlas_search.documents.export import FORMATS
from atlas_search.server.access.caller import RULES
from atlas_search.server.access.keys import add_key
from atlas_search.server.app import create_app
from tests.access.conftest import Signed, guard
from tests.access.two_corpora import (
    OPEN,
    PLANTED,
    QUESTION,
    SECRET_QUESTION,
    VAULT,
    build_open,
)
from tests.hash_embedder import HashEmbedder

DOCUMENT = f"{VAULT}.zqxfile"
AS_OF = "2026-05-01"
CHANGING = {  # differ from one time or one build to the next
    *("timings_ms", "created", "trace_id", "collection_version", "version", "content_digest"),
    *("qa_id", "session_id", "seconds", "cache_hit", "attempts", "url", "expires", "since"),
    "span_id",
}
CHANGING_TEXT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.+Z]+|\d{8}T[\d.]+-\w+|[0-9a-f]{12,}|\d+ ms")
RUN = {"qa_id": "q1", "session_id": "s1"}


class Case(NamedTuple):
    """A request. If it names hidden things itself, they may come back as they were sent."""

    path: str
    body: dict[str, Any] | None = None
    names_hidden: bool = False


QUESTIONS = [
    {},
    {"corpus_filter": [OPEN]},
    {"filters": {"author": "Alma Reed"}},
    {"filters": {"date": {"from": "1930"}}},
    {"require": ["granite bridge"]},
    {"fuzzy": True},
    {"max_per_document": 1},
]
PROBES = [
    {"question": SECRET_QUESTION},
    {"question": "Where is the zqxtowe?"},
    {"corpus_filter": [VAULT]},
    {"corpus_filter": [OPEN, VAULT]},
    {"filters": {"zqxfield": "zqxvalue"}},
    {"filters": {"author": "Zqxauthor"}},
    {"filters": {"document_id": DOCUMENT}},
    {"require": ["zqxamulet"]},
    {"exclude": ["zqxwarden"]},
]


def bodies(*more: dict[str, Any]) -> Iterator[tuple[dict[str, Any], bool]]:
    base = {"question": QUESTION, "as_of": AS_OF}
    for options in [*QUESTIONS, *more]:
        yield base | options, False
    for options in PROBES:
        yield base | options, True


def asked(path: str, *more: dict[str, Any]) -> list[Case]:
    return [Case(path, body, names) for body, names in bodies(*more)]


def counted(path: str, *more: dict[str, Any]) -> list[Case]:
    """Words looked for in every way."""
    told = [
        Case(path, {"query": query} | options)
        for query in ("the OR parish", "*e* NEAR/5 the")
        for options in ({}, {"form": "stem"}, *more)
    ]
    probes = [{"query": "zqx*"}, *({"query": "the"} | probe for probe in PROBES[2:])]
    return [*told, *(Case(path, probe, True) for probe in probes)]


PATHS = [Case("zzz"), Case(DOCUMENT, None, True), Case(f"{DOCUMENT}:0-133", None, True)]
ANSWERS = [{"mode": "compare"}, {"include_context": True}, {"clarify": True}]
CASES: dict[str, list[Case]] = {
    "GET /api/openapi.json": [Case("/api/openapi.json")],
    "GET /api/health": [Case("/api/health")],
    "GET /metrics": [Case("/metrics")],
    "GET /api/corpora": [Case("/api/corpora")],
    "GET /api/targets": [Case("/api/targets")],
    "GET /api/config": [Case("/api/config")],
    "GET /api/passages/<any_id:id>": [
        case._replace(path=f"/api/passages/{case.path}") for case in PATHS
    ],
    "GET /api/documents/<any_id:id>": [
        *(case._replace(path=f"/api/documents/{case.path}") for case in PATHS),
        Case(f"/api/documents/{OPEN}.bridge"),
    ],
    "POST /api/search": asked(
        "/api/search",
        {"facets": True},
        {"exact": True},
        {"explain": True},
        {"facets": ["zqxfield"]},
        {"k": 100, "facets": ["author", "date"], "explain": True, "exact": True},
    ),
    "POST /api/facets": [
        *(
            Case("/api/facets", options)
            for options in (
                {},
                {"corpus_filter": OPEN, "fields": ["author"]},
                {"filters": {"date": {"from": "1930"}}, "require": ["parish"]},
                {"exclude": ["toll"], "fields": False},
            )
        ),
        *(Case("/api/facets", probe, True) for probe in PROBES[2:]),
        Case("/api/facets", {"fields": ["zqxfield"]}, True),
    ],
    "GET /api/suggestions": [
        Case("/api/suggestions"),
        Case(f"/api/suggestions?corpus={OPEN}&limit=20"),
        Case(f"/api/suggestions?corpus={VAULT}", None, True),
    ],
    "POST /api/concordance": counted(
        "/api/concordance",
        {"limit": 1000},
        {"sort": "left"},
        {"sort": "date", "sample": 2, "seed": 3},
        {"point": {"by": "author", "value": "Alma Reed"}},
    ),
    "POST /api/trends": counted(
        "/api/trends", {"by": "decade"}, {"by": "author"}, {"by": "year", "by_corpus": True}
    ),
    "POST /api/collocates": counted(
        "/api/collocates",
        {"min_count": 1, "limit": 1000},
        {"min_count": 1, "sort": "log_dice", "function_words": False},
        {"min_count": 1, "left": 0, "right": 1, "case_sensitive": True},
    ),
    "POST /api/keywords": [
        Case("/api/keywords", {"min_count": 1} | options)
        for options in (
            {"require": ["parish"]},
            {"filters": {"author": "Alma Reed"}, "direction": "both", "limit": 1000},
            {"require": ["the"], "form": "stem", "direction": "less", "min_documents": 2},
            {},
        )
    ]
    + [Case("/api/keywords", {"min_count": 1} | probe, True) for probe in PROBES[2:]]
    + [Case("/api/keywords", {"require": ["parish"], "against": VAULT}, True)],
    "POST /api/counts": counted("/api/counts", {"by": "corpus"}, {"by": "author"}),
    "POST /api/ask": asked("/api/ask", *ANSWERS),
    "POST /api/ask/stream": asked("/api/ask/stream", *ANSWERS),
    "GET /api/ask/<qa_id>": [Case("/api/ask/q1")],
    "GET /api/ask/<qa_id>/stream": [Case("/api/ask/q1/stream")],
    "GET /api/ask/<qa_id>/export": [
        Case(f"/api/ask/q1/export?format={name}") for name in [*FORMATS, "bundle"]
    ],
    "GET /api/sessions/<session_id>/export": [
        Case(f"/api/sessions/s1/export?format={name}") for name in FORMATS
    ],
    "DELETE /api/ask/<qa_id>": [Case("/api/ask/q1")],
    "POST /api/export": [
        Case("/api/export", {"format": name, "answers": [{}]}) for name in FORMATS
    ],
    "POST /api/citations": [
        Case("/api/citations", {"style": "apa", "citations": [{"document_id": DOCUMENT}]}),
    ],
    "GET /api/zotero": [Case("/api/zotero")],
    "POST /api/zotero": [
        Case("/api/zotero", {"citations": [{"document_id": DOCUMENT}]}),
    ],
    "POST /api/validate": [
        Case("/api/validate", {"answer": f"It is so [{DOCUMENT} p1]."}, True),
        Case("/api/validate", {"answer": "It is so.", "passages": [f"{DOCUMENT}:0-133"]}, True),
        Case("/api/validate", {"answer": f"The parish keeps it [{OPEN}.bridge p1]."}),
    ],
    "POST /api/ask/<qa_id>/link": [Case("/api/ask/q1/link", {"hours": 1})],
    "GET /api/shared/<token>": [Case(f"/api/shared/{'x' * 43}"), Case("/api/shared/q1")],
    "POST /api/feedback": [
        Case("/api/feedback", {"qa_id": "q1", "thumb": "up"}),
        Case("/api/feedback", {"qa_id": "q1", "passages": {f"{DOCUMENT}:0-133": None}}, True),
        Case("/api/feedback", {"qa_id": "q1", "citations": {"2": "supports"}}),
    ],
    "GET /api/feedback": [Case("/api/feedback")],
    "GET /api/feedback/<rated_id:qa_id>": [Case("/api/feedback/q1")],
    "DELETE /api/feedback/<rated_id:qa_id>": [Case("/api/feedback/q1")],
    "GET /api/feedback/export": [Case("/api/feedback/export?format=ratings")],
    "GET /api/collections": [Case("/api/collections")],
    "POST /api/collections/<name>/rollback": [Case("/api/collections/parish/rollback", {})],
    "GET /api/stats": [Case("/api/stats")],
    "GET /api/sources": [Case("/api/sources")],
    "GET /api/page-image/<any_id:id>": [
        *(case._replace(path=f"/api/page-image/{case.path}?page=1") for case in PATHS),
        Case(f"/api/page-image/{OPEN}.bridge?page=1"),
    ],
    "GET /api/page-boxes/<any_id:id>": [
        *(
            case._replace(path=f"/api/page-boxes/{case.path}?page=1&start=0&end=9")
            for case in PATHS
        ),
        Case(f"/api/page-boxes/{OPEN}.bridge?page=1&start=0&end=9"),
    ],
    "GET /api/documents": [
        Case("/api/documents"),
        Case("/api/documents?title=zqx", None, True),
        Case("/api/documents?sort=-date&limit=1&offset=1"),
        Case(f"/api/documents?corpus={OPEN}&sort=title"),
        Case('/api/documents?filters={"author":"Alma Reed"}'),
        Case(f"/api/documents?corpus={VAULT}", None, True),
        Case('/api/documents?filters={"zqxfield":"zqxvalue"}', None, True),
        Case('/api/documents?filters={"author":"Zqxauthor"}', None, True),
        Case(f'/api/documents?filters={{"document_id":"{DOCUMENT}"}}', None, True),
    ],
    "POST /api/ingest": [Case("/api/ingest", {"path": "."})],
    "DELETE /api/documents/<any_id:id>": [Case(f"/api/documents/{DOCUMENT}", None, True)],
    "GET /api/jobs": [Case("/api/jobs")],
    "GET /api/jobs/<job_id>": [Case("/api/jobs/x")],
    "GET /api/jobs/<job_id>/events": [Case("/api/jobs/x/events")],
    "DELETE /api/jobs/<job_id>": [Case("/api/jobs/x")],
    "PUT /api/config/reranker": [Case("/api/config/reranker", {"settings": {}})],
    "POST /api/cache/clear": [Case("/api/cache/clear", {})],
}
ASK_FIRST = {rule for rule in RULES if {"qa_id", "session_id"} & set(re.split("[<:>]", rule))} | {
    "POST /api/feedback"
}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Atlas]:
    with build_open(tmp_path_factory.mktemp("alone"), HashEmbedder()) as opened:
        yield opened


@pytest.fixture
def without(alone: Atlas, keys_file: Path, narrow_key: str) -> Signed:
    """The same key at a collection that never held the vault."""
    guarded = guard(alone, keys_file)
    return Signed(create_app(lambda: guarded).test_client(), narrow_key)


def test_every_route_that_knows_the_collection_is_asked() -> None:
    of_the_page = {
        rule
        for rule, right in RULES.items()
        if right == "anyone" and not {"openapi.json", "health", "shared"} & set(rule.split("/"))
    }
    assert set(CASES) == set(RULES) - of_the_page


@pytest.mark.parametrize("rule", CASES)
def test_what_a_key_may_not_see_is_nowhere(
    rule: str, narrow: Signed, whole: Signed, without: Signed
) -> None:
    # somebody who sees everything was here before, so whatever is kept is kept
    for body, _ in bodies():
        whole.post("/api/ask", body)
    if rule in ASK_FIRST:
        for client in (narrow, without):
            assert client.post("/api/ask", {"question": QUESTION} | RUN).status_code == 200
    method = rule.split()[0]
    for case in CASES[rule]:
        got, other = (
            client.open(method, case.path, json=case.body, buffered=True)
            for client in (narrow, without)
        )
        assert got.status_code == other.status_code, case
        assert headers(got) == headers(other), case
        assert settled(got.data) == settled(other.data), case
        if not case.names_hidden and "zqxfield" not in str(case.body):
            assert PLANTED not in f"{got.headers}{got.get_data(as_text=True)}".casefold(), case


def test_the_requests_would_show_it_to_who_sees_everything(whole: Signed) -> None:
    shown = {
        rule
        for rule, cases in CASES.items()
        for case in cases
        if not case.names_hidden
        and rule not in ASK_FIRST
        and PLANTED
        in whole.open(rule.split()[0], case.path, json=case.body).get_data(as_text=True).casefold()
    }
    assert {
        "POST /api/search",
        "POST /api/facets",
        "POST /api/concordance",
        "POST /api/trends",
        "POST /api/collocates",
        "POST /api/keywords",
        "POST /api/ask",
        "POST /api/ask/stream",
        "GET /api/corpora",
        "GET /api/documents",
        "GET /api/stats",
        "GET /api/suggestions",
    } <= shown


def test_traces_are_for_administrators(narrow: Signed, whole: Signed, client) -> None:
    settings = whole.get("/api/config").get_json()
    assert settings["phoenix_url"] is None
    for signed in (narrow, whole):
        answer = signed.post("/api/ask", {"question": QUESTION}).get_json()
        assert (answer["trace_id"], answer["span_id"]) == ("", "")
        assert signed.post("/api/search", {"question": QUESTION}).get_json()["trace_id"] == ""


def test_a_key_without_a_corpus_here_is_told_so(client, keys_file: Path) -> None:
    for corpora in ({"parish": ["gone"]}, {"another": [OPEN]}):
        key = add_key(keys_file, f"to {next(iter(corpora))}", corpora=corpora).text
        response = Signed(client, key).post("/api/search", {"question": QUESTION})
        assert response.status_code == 403
        assert "sees no corpus" in response.get_json(force=True)["detail"]


# comparing


def headers(response: Any) -> dict[str, str]:
    return {name: value for name, value in response.headers.items() if name != "Content-Length"}


def settled(data: bytes) -> object:
    """A response without what differs from one time or one build to the next."""
    text = data.decode()
    try:
        return _settled(json.loads(text))
    except ValueError:
        return [_settled_line(line) for line in text.splitlines()]


def _settled_line(line: str) -> object:
    if line.startswith("data: "):  # of a server-sent event
        return _settled(json.loads(line.removeprefix("data: ")))
    return CHANGING_TEXT.sub("", line)


def _settled(found: object) -> object:
    if isinstance(found, dict):
        # the scores of the keyword index weigh words by the whole collection
        index = {"score"} if found.keys() == {"rank", "score"} else set()
        kept = {name: _settled(of) for name, of in found.items() if name not in CHANGING}
        return {name: of for name, of in kept.items() if name not in index}
    if isinstance(found, str):
        return CHANGING_TEXT.sub("", found)
    return [_settled(item) for item in found] if isinstance(found, list) else found
