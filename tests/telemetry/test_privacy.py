"""Privacy of traces: TRACE_CONTENT, `telemetry`, Global Privacy Control and sampling."""

import json
from pathlib import Path
from typing import Any

import pytest

from atlas_search.core.telemetry.names import silence, silent
from tests.chat_server import Reply
from tests.openai_server import refusal
from tests.orchard import ASKED, HISTORY, MARK, QUESTION, Orchard, orchard

REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "ask": ("/api/ask", ASKED),
    "stream": ("/api/ask/stream", ASKED),
    "compare": ("/api/ask", ASKED | {"mode": "compare"}),
    "follow-up": ("/api/ask", ASKED | {"chat_history": HISTORY, "target": "model"}),
    "model": ("/api/ask", ASKED | {"target": "model"}),
    "search": ("/api/search", ASKED | {"explain": True, "facets": True}),
    "concordance": ("/api/concordance", {"query": "qzj*"}),
    "trends": ("/api/trends", {"query": "qzj* OR qzjquery"}),
    "collocates": ("/api/collocates", {"query": "qzj* OR qzjquery", "min_count": 1}),
    "keywords": ("/api/keywords", {"corpus_filter": "hill", "min_count": 1}),
    "frequencies": ("/api/frequencies", {"pattern": "qzj*"}),
    "validate": ("/api/validate", {"answer": "The qzjvalid [hill.qzjfile-ladder p1]."}),
}
REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "corpus": ("/api/ask", ASKED | {"corpus_filter": "qzjcorpus"}),
    "target": ("/api/search", ASKED | {"target": "qzjtarget"}),
    "filter": ("/api/ask", ASKED | {"filters": {"qzjfield": "qzjvalue"}}),
    "query": ("/api/counts", {"query": '"qzjunclosed'}),
    "point": ("/api/concordance", {"query": "a", "point": {"by": "qzjfield", "value": "qzj"}}),
    "against": ("/api/keywords", {"corpus_filter": "hill", "against": "qzjcorpus"}),
    "field": ("/api/ask", ASKED | {"qzjfield": 1}),
    "validate": ("/api/validate", {"answer": "qzj", "passages": ["qzjpassage p9"]}),
}


def ask_all(own: Orchard) -> None:
    """Ask in every way, also so that it fails."""
    for path, body in REQUESTS.values():
        assert own.post(path, body).status_code == 200, body
    for path, body in REFUSED.values():
        assert own.post(path, body).status_code in (400, 404, 422), body
    for fault in (
        refusal(400, f"Your prompt is bad: {QUESTION}"),
        refusal(401, f"Wrong key for {QUESTION}"),
        Reply(500, {"error": {"message": QUESTION}}),
    ):
        own.model.then(*[fault] * 9)
        assert own.post("/api/ask", ASKED | {"target": "model"}).status_code >= 400
        own.model.told.clear()


@pytest.mark.parametrize("content", [True, False])
@pytest.mark.thorough
def test_spans_hold_words_of_people_and_sources_only_with_content(
    built: Path, *, content: bool
) -> None:
    with orchard(built, trace_content=content) as own:
        ask_all(own)
        text, spans = own.said(), own.spans()
    assert "traceback" not in text
    assert (MARK in text) is content
    if content:
        for word in ("question", "passage", "title", "answer", "history", "file"):
            assert f"{MARK}{word}" in text
    names = {name for span in spans for name in span.attributes}
    for name in ("llm.prompt_template.template", "llm.output_messages.0.message.content"):
        assert (name in names) is content
    # ids, scores and versions say nothing of a question
    assert {
        "decision",
        "kept.hill",
        "gen_ai.prompt.name",
        "llm.prompt_template.version",
        "retrieval.documents.0.document.id",
        "retrieval.documents.0.document.metadata",
        "reranker.output_documents.0.document.score",
    } <= names


@pytest.mark.parametrize("wish", ["telemetry", "Sec-GPC"])
def test_a_request_that_wants_no_telemetry_leaves_no_trace(
    built: Path, tmp_path: Path, wish: str
) -> None:
    log = tmp_path / "audit.jsonl"
    body = {"telemetry": False} if wish == "telemetry" else {}
    headers = {"Sec-GPC": "1"} if wish == "Sec-GPC" else {}
    with orchard(built, audit_log=log) as own:
        for path, asked in (*REQUESTS.values(), *REFUSED.values()):
            answer = own.post(path, asked | body, headers=headers)
            if path == "/api/ask" and answer.status_code == 200:
                assert answer.json["trace_id"] == ""
            if path == "/api/ask/stream":
                assert '"trace_id": ""' in answer.text
        assert own.spans() == []
        assert not silent()
        assert MARK not in log.read_text().replace("qzjcorpus", "")
        assert own.post("/api/ask", ASKED).json["trace_id"]
        assert own.spans()
    last = json.loads(log.read_text().splitlines()[-1])
    assert last["question"] == QUESTION


@pytest.mark.parametrize("value", [None, 0, "no"])
def test_a_wish_that_is_malformed_is_refused_and_heeded(built: Path, value: object) -> None:
    with orchard(built) as own:
        assert own.post("/api/ask", ASKED | {"telemetry": value}).status_code == 400
        assert own.spans() == []


def test_a_body_that_cannot_be_read_is_refused_as_ever(built: Path) -> None:
    with orchard(built) as own:
        for data in (b'{"telemetry": ', b'{"telemetry":' + b"[" * 100_000, b"\xff telemetry"):
            sent = own.client.post("/api/ask", data=data, content_type="application/json")
            assert sent.status_code == 400
        long = b'{"telemetry": false, "question": "' + b"x" * 3_000_000
        sent = own.client.post("/api/ask", data=long, content_type="application/json")
        assert sent.status_code == 413


def test_a_wish_in_other_letters_is_the_same_wish(built: Path) -> None:
    spelt = json.dumps(ASKED)[:-1] + ', "\\u0074elemetry": false}'
    with orchard(built) as own:
        sent = own.client.post("/api/ask", data=spelt, content_type="application/json")
        assert sent.status_code == 200
        assert own.spans() == []


def test_a_kept_answer_has_the_trace_of_whoever_gets_it(built: Path) -> None:
    plain, quiet = ASKED, ASKED | {"telemetry": False}
    with orchard(built, query_cache_enabled=True) as own:
        first, second = own.post("/api/ask", plain).json, own.post("/api/ask", quiet).json
        third = own.post("/api/ask", plain).json
    assert second["cache_hit"] is third["cache_hit"] is True
    assert second["trace_id"] == ""
    assert third["trace_id"] not in ("", first["trace_id"])


def test_of_a_sample_of_none_nothing_is_sent_and_no_answer_leads_to_it(built: Path) -> None:
    with orchard(built, trace_sampling=0) as own:
        assert own.post("/api/ask", ASKED).json["trace_id"] == ""
        assert own.spans() == []


def test_of_a_sample_each_trace_is_whole_or_not_there(built: Path) -> None:
    with orchard(built, trace_sampling=0.5) as own:
        answers = [own.post("/api/ask", ASKED).json for _ in range(24)]
        spans = own.spans()
    traced = {answer["trace_id"] for answer in answers} - {""}
    assert 0 < len(traced) < 24
    sizes = {id_: sum(span.trace_id == id_ for span in spans) for id_ in traced}
    assert len(set(sizes.values())) == 1
    assert len(spans) == sum(sizes.values())


def test_a_program_can_ask_in_silence(built: Path) -> None:
    with orchard(built) as own:
        with silence():
            assert own.atlas.ask(QUESTION).trace_id == ""
            *_, answer = own.atlas.stream(QUESTION)
            assert answer.trace_id == ""
            own.atlas.search(QUESTION)
        assert own.spans() == []
        assert own.atlas.ask(QUESTION).trace_id
