"""A key's part of a collection is as the collection would be if it had never held the rest.

Every route is asked, with every option. Each request is also sent to a collection that never held
the hidden corpus: the response must be the same.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import pytest
from flask.testing import FlaskClient

from atlas_search import Atlas
from atlas_search.core.errors import MissingModel, RequestError, UnknownCorpus, UnknownFilterField
from atlas_search.documents.export import FORMATS
from atlas_search.server.access.caller import RULES
from atlas_search.server.access.keys import KeyFile, add_key
from tests.hash_embedder import HashEmbedder
from tests.server.two_corpora import (
    COLLECTION,
    OPEN,
    PLANTED,
    QUESTION,
    SECRET_QUESTION,
    TOKEN,
    VAULT,
    Signed,
    build_open,
    client_of,
    guard,
)
from tests.servers import app_of

DOCUMENT = f"{VAULT}.zqxfile"
AS_OF = "2026-05-01"
CHANGING = {  # differ from one time or one build to the next
    *("timings_ms", "created", "trace_id", "collection_version", "version", "content_digest"),
    *("qa_id", "session_id", "seconds", "cache_hit", "attempts", "url", "expires", "since"),
    "span_id",
}
CHANGING_TEXT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.+Z]+|\d{8}T[\d.]+-\w+|[0-9a-f]{12,}|\d+ ms")


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


def questions_to(path: str, *more: dict[str, Any]) -> list[Case]:
    return [Case(path, body, names) for body, names in bodies(*more)]


def words_of(path: str, *more: dict[str, Any]) -> list[Case]:
    """Words looked for in every way."""
    open_words = [
        Case(path, {"query": query} | options)
        for query in ("the OR parish", "*e* NEAR/5 the")
        for options in ({}, {"form": "stem"}, *more)
    ]
    probes = [{"query": "zqx*"}, *({"query": "the"} | probe for probe in PROBES[2:])]
    return [*open_words, *(Case(path, probe, True) for probe in probes)]


def told(method: str, names_hidden: bool = False, **params: Any) -> Case:
    """A message of MCP."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return Case("/mcp", message, names_hidden)


def called(name: str, names_hidden: bool = False, **arguments: Any) -> Case:
    return told("tools/call", names_hidden, name=name, arguments=arguments)


def chatted(path: str, turns: str) -> list[Case]:
    return [
        Case(
            f"/v1/{path}",
            {"model": "certain", "stream": stream, "atlas": {"as_of": AS_OF}}
            | {turns: [{"role": "user", "content": text}]},
            text == SECRET_QUESTION,
        )
        for text in (QUESTION, SECRET_QUESTION)
        for stream in (False, True)
    ]


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
    "POST /api/search": questions_to(
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
    "POST /api/concordance": words_of(
        "/api/concordance",
        {"limit": 1000},
        {"sort": "left"},
        {"sort": "date", "sample": 2, "seed": 3},
        {"point": {"by": "author", "value": "Alma Reed"}},
    ),
    "POST /api/trends": words_of(
        "/api/trends", {"by": "decade"}, {"by": "author"}, {"by": "year", "by_corpus": True}
    ),
    "POST /api/collocates": words_of(
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
    "POST /api/frequencies": [
        Case("/api/frequencies", {"limit": 1000}),
        Case("/api/frequencies", {"form": "stem", "pattern": "p*", "function_words": False}),
        Case("/api/frequencies", {"pattern": "zqx*"}, True),
        *(Case("/api/frequencies", probe, True) for probe in PROBES[2:]),
    ],
    "POST /api/counts": words_of("/api/counts", {"by": "corpus"}, {"by": "author"}),
    "POST /api/ask": questions_to("/api/ask", *ANSWERS),
    "POST /api/ask/stream": questions_to("/api/ask/stream", *ANSWERS),
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
    "DELETE /api/shared/<token>": [Case("/api/shared/q1")],
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
    "GET /api/collections/<name>/files/<path:file>": [
        Case("/api/collections/parish/files/manifest.json"),
        Case("/api/collections/parish/files/x/records.sqlite"),
    ],
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
    "POST /api/ingest": [
        Case("/api/ingest", {"path": "."}),
        Case("/api/ingest", {"zotero": "library"}),
    ],
    "GET /api/ingest/zotero": [Case("/api/ingest/zotero")],
    "DELETE /api/documents/<any_id:id>": [Case(f"/api/documents/{DOCUMENT}", None, True)],
    "GET /api/jobs": [Case("/api/jobs")],
    "GET /api/jobs/<job_id>": [Case("/api/jobs/x")],
    "GET /api/jobs/<job_id>/events": [Case("/api/jobs/x/events")],
    "DELETE /api/jobs/<job_id>": [Case("/api/jobs/x")],
    "PUT /api/config/reranker": [Case("/api/config/reranker", {"settings": {}})],
    "POST /api/cache/clear": [Case("/api/cache/clear", {})],
    "POST /mcp": [
        told("tools/list"),
        told("resources/list"),
        told("resources/templates/list"),
        told("resources/read", uri=f"atlas://{COLLECTION}/{OPEN}.bridge"),
        told("resources/read", True, uri=f"atlas://{COLLECTION}/{DOCUMENT}#0-20"),
        called("list_corpora"),
        called("search", query=QUESTION),
        called("search", True, query=QUESTION, corpora=[VAULT]),
        called("ask", question=QUESTION, as_of=AS_OF),
        called("ask", True, question=SECRET_QUESTION, as_of=AS_OF),
        called("concordance", query="the OR parish"),
        called("concordance", True, query="zqx*"),
        called("trends", query="the", by="author"),
        called("counts", query="the", by="corpus"),
        *(
            called(name, id_ == DOCUMENT, **{field: id_})
            for name, field in {"fetch": "id", "outline": "document_id"}.items()
            for id_ in (f"{OPEN}.bridge", DOCUMENT)
        ),
        called("quote", True, id=f"{DOCUMENT}:0-133"),
    ],
    "GET /v1/models": [Case("/v1/models")],
    "POST /v1/chat/completions": chatted("chat/completions", "messages"),
    "POST /v1/responses": chatted("responses", "input"),
}
ASK_FIRST = {rule for rule in RULES if {"qa_id", "session_id"} & set(re.split("[<:>]", rule))} | {
    "POST /api/feedback"
}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Atlas]:
    """A collection that was built of the open corpus, and of nothing else."""
    with build_open(tmp_path_factory.mktemp("alone"), HashEmbedder()) as opened:
        yield opened


class Visitors(NamedTuple):
    """The narrow key; the key that sees all; and the narrow one at the collection without the
    vault."""

    narrow: Signed
    whole: Signed
    without: Signed


@pytest.fixture(scope="module")
def visitors(parish: Atlas, alone: Atlas, tmp_path_factory: pytest.TempPathFactory) -> Visitors:
    """All three, after the one that sees everything has asked, so whatever is kept is kept."""
    keys_file = tmp_path_factory.mktemp("keys") / "keys.json"
    narrow = add_key(KeyFile(keys_file), "narrow", corpora={COLLECTION: [OPEN]}).text
    whole = Signed(client_of(parish, keys_file), add_key(KeyFile(keys_file), "whole").text)
    for body, _ in bodies():
        assert whole.post("/api/ask", body).status_code in (200, 400)
    without = Signed(client_of(alone, keys_file), narrow)
    return Visitors(Signed(whole.client, narrow), whole, without)


def test_every_route_that_knows_the_collection_is_asked() -> None:
    of_the_page = {
        rule
        for rule, right in RULES.items()
        if right == "anyone" and not {"openapi.json", "health", "shared"} & set(rule.split("/"))
    }
    assert set(CASES) == set(RULES) - of_the_page


@pytest.mark.parametrize("rule", CASES)
def test_the_hidden_corpus_is_nowhere(rule: str, visitors: Visitors) -> None:
    number = list(CASES).index(rule)  # each has an answer and a session of its own
    if rule in ASK_FIRST:
        run = {"qa_id": f"q{number}", "session_id": f"s{number}"}
        for client in (visitors.narrow, visitors.without):
            assert client.post("/api/ask", {"question": QUESTION} | run).status_code == 200
    for case in CASES[rule]:
        path = re.sub(r"(?<=/)([qs])1\b", rf"\g<1>{number}", case.path)
        body = case.body and {
            name: f"q{number}" if name == "qa_id" else value for name, value in case.body.items()
        }
        response, other = (
            client.open(rule.split()[0], path, json=body, buffered=True)
            for client in (visitors.narrow, visitors.without)
        )
        assert response.status_code == other.status_code, case
        assert headers(response) == headers(other), case
        assert settled(response.data) == settled(other.data), case
        if not case.names_hidden and "zqxfield" not in str(case.body):
            text = f"{response.headers}{response.get_data(as_text=True)}"
            assert PLANTED not in text.casefold(), case


def test_the_requests_would_show_it_to_who_sees_everything(visitors: Visitors) -> None:
    shown = {
        rule
        for rule, cases in CASES.items()
        for case in cases
        if not case.names_hidden
        and rule not in ASK_FIRST
        and PLANTED
        in visitors.whole.open(rule.split()[0], case.path, json=case.body)
        .get_data(as_text=True)
        .casefold()
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
        "POST /mcp",
        "POST /v1/chat/completions",
        "POST /v1/responses",
    } <= shown


def test_traces_are_for_administrators(visitors: Visitors) -> None:
    assert visitors.whole.get("/api/config").get_json()["phoenix_url"] is None
    for signed in (visitors.narrow, visitors.whole):
        answer = signed.post("/api/ask", {"question": QUESTION}).get_json()
        assert (answer["trace_id"], answer["span_id"]) == ("", "")
        assert signed.post("/api/search", {"question": QUESTION}).get_json()["trace_id"] == ""


def test_a_key_without_a_corpus_here_is_told_so(parish: Atlas, keys_file: Path) -> None:
    for corpora in ({"parish": ["gone"]}, {"another": [OPEN]}):
        key = add_key(KeyFile(keys_file), f"to {next(iter(corpora))}", corpora=corpora).text
        client = client_of(parish, keys_file)
        response = Signed(client, key).post("/api/search", {"question": QUESTION})
        assert response.status_code == 403
        assert "sees no corpus" in response.get_json(force=True)["detail"]


# in Python


@pytest.fixture(scope="module")
def part(parish: Atlas) -> Atlas:
    return parish.permitted([OPEN])


def test_a_part_is_made_once_and_the_whole_is_itself(parish: Atlas, part: Atlas) -> None:
    assert parish.permitted({OPEN, "another"}) is part
    assert parish.permitted({OPEN, VAULT}) is parish
    assert parish.permitted([]).corpora == ()


@pytest.mark.parametrize("question", [QUESTION, SECRET_QUESTION, "Who is the zqxwarde?", "Zqxfile"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"exact": True},
        {"facets": True},
        {"fuzzy": True},
        {"require": ["zqxamulet"]},
        {"exclude": ["granite bridge"]},
        {"filters": {"author": "Alma Reed"}},
        {"filters": {"date": {"from": "1977"}}},
        {"filters": {"document_id": DOCUMENT}},
    ],
)
def test_a_search_finds_what_it_would_find_alone(
    part: Atlas, alone: Atlas, question: str, options: Mapping[str, Any]
) -> None:
    own, other = (
        of.search(question, as_of=date(2026, 5, 1), **options).to_dict() for of in (part, alone)
    )
    apart = {"timings_ms": 0, "trace_id": ""}
    assert own | apart == other | apart


@pytest.mark.parametrize(
    ("error", "options"),
    [
        (UnknownCorpus, {"corpora": [VAULT]}),
        (UnknownFilterField, {"filters": {"zqxfield": "zqxvalue"}}),
        (UnknownFilterField, {"facets": ["zqxfield"]}),
    ],
)
def test_it_refuses_as_for_what_does_not_exist(
    part: Atlas, alone: Atlas, error: type[RequestError], options: Mapping[str, Any]
) -> None:
    messages = set()
    for of in (part, alone):
        with pytest.raises(error) as refusal:
            of.search(QUESTION, **options)
        messages.add(str(refusal.value))
    assert len(messages) == 1


def test_all_means_its_corpora_even_where_all_was_something_else(parish: Atlas) -> None:
    assert parish.permitted([OPEN]).services.default_corpora == (OPEN,)
    folder = parish.services.settings.collection_folder
    with Atlas.open(folder, embedder=HashEmbedder(), multi_corpus_metadata=VAULT) as other:
        assert other.services.default_corpora == (VAULT,)
        assert other.permitted([OPEN]).services.default_corpora == (OPEN,)


def test_a_kept_answer_is_not_given_to_who_sees_another_part(parish: Atlas, part: Atlas) -> None:
    parish.services.answerer.cache.clear()
    # chosen by name, both ask for the same corpus, but how many there are differs
    whole = parish.ask(QUESTION, corpora=[OPEN])
    again = part.ask(QUESTION, corpora=[OPEN])
    assert not again.cache_hit
    assert whole.to_dict()["scope"]["all_corpora"] == 2
    assert again.to_dict()["scope"]["all_corpora"] == 1
    assert part.ask(QUESTION, corpora=[OPEN]).cache_hit


def test_who_asks_for_the_first_time_is_not_told_that_another_asked(
    guarded: Atlas, client: FlaskClient, keys_file: Path, whole: Signed
) -> None:
    guarded.services.answerer.cache.clear()
    other = Signed(client, add_key(KeyFile(keys_file), "other").text)
    whole.post("/api/ask", {"question": QUESTION})
    hits = other.get("/api/stats").get_json()["server"]["cache"]
    events = other.post("/api/ask/stream", {"question": QUESTION}).get_data(as_text=True)
    told = json.loads(events.split("event: complete\ndata: ")[1])
    again = other.post("/api/ask", {"question": QUESTION}).get_json()
    assert (told["cache_hit"], again["cache_hit"]) == (False, True)
    assert (told["usage"]["attempts"], again["usage"]["attempts"]) == (1, 0)
    assert "rank" in told["timings_ms"]
    assert other.get("/api/stats").get_json()["server"]["cache"] == hits


# paths


class Gone(HashEmbedder):
    """An embedder whose model is gone; its name is the folder."""

    def __init__(self, name: str):
        super().__init__(name)
        self.fingerprint = HashEmbedder().fingerprint

    def embed_query(self, text: str) -> NoReturn:
        raise MissingModel(f"The model in {self.info.name} cannot be loaded.")


def test_a_reader_with_a_key_learns_no_path_of_the_server(
    parish: Atlas, keys_file: Path, whole_key: str, tmp_path: Path
) -> None:
    services = guard(parish, keys_file, atlas_state_directory=tmp_path / "state").services
    target = services.targets["certain"].model_copy(update={"rerank_model": str(tmp_path / "m")})
    searcher = replace(services.searcher, embedder=Gone(str(tmp_path / "model")))
    broken = Atlas(
        replace(
            services,
            targets=dict(services.targets) | {"own": target},
            answerer=replace(services.answerer, searcher=searcher),
        )
    )
    client = app_of(broken).test_client()
    (tmp_path / "state").mkdir()
    for name in ("shared.sqlite", "feedback.sqlite"):
        (tmp_path / "state" / name).write_bytes(b"damaged " * 1000)
    ask = {"question": "Who sings?", "telemetry": False}

    def seen_by(key: str) -> dict[str, str]:
        signed = Signed(client, key)
        replies = {
            path: signed.get(path)
            for path in ("/api/health", "/api/targets", "/api/config", "/api/stats", "/api/ready")
        }
        replies |= {path: signed.get(path) for path in ("/api/feedback", f"/api/shared/{'x' * 43}")}
        replies |= {path: signed.post(path, ask) for path in ("/api/search", "/api/ask/stream")}
        return {path: reply.get_data(as_text=True) for path, reply in replies.items()}

    readers, keepers = seen_by(whole_key), seen_by(TOKEN)
    root = str(parish.services.settings.chroma_persist_directory.parent)
    assert [path for path, text in readers.items() if str(tmp_path) in text or root in text] == []
    assert "an administrator" in readers["/api/ask/stream"]
    told = {path for path, text in keepers.items() if str(tmp_path) in text}
    assert told >= {"/api/health", "/api/feedback", "/api/search", "/api/targets"}
    assert "an administrator" in readers["/api/feedback"]


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
    if line.startswith("data: {"):  # of a server-sent event
        return _settled(json.loads(line.removeprefix("data: ")))
    return CHANGING_TEXT.sub("", line)


def _settled(value_of: object) -> object:
    if isinstance(value_of, dict):
        # the scores of the keyword index weigh words by the whole collection
        index = {"score"} if value_of.keys() == {"rank", "score"} else set()
        kept = {name: _settled(of) for name, of in value_of.items() if name not in CHANGING}
        return {name: of for name, of in kept.items() if name not in index}
    if isinstance(value_of, str):
        return CHANGING_TEXT.sub("", value_of)
    return [_settled(item) for item in value_of] if isinstance(value_of, list) else value_of
