"""The API in process: shapes, citations, and what can be chosen."""

import json

import pytest
from flask.testing import FlaskClient

from atlas_search.services import Services

QUESTION = "Can a local authority sue a newspaper for libel?"


def ask(client: FlaskClient, **body: object) -> dict:
    response = client.post("/api/ask", json={"question": QUESTION} | body)
    assert response.status_code == 200, response.text
    return response.get_json()


def test_an_answer_is_cited_verified_and_counted(client: FlaskClient, services: Services) -> None:
    answer = ask(client)
    assert answer["decision"] == "ANSWER"
    assert answer["reason"]["code"] == "answered"
    assert 1 <= len(answer["sentences"]) <= 3
    assert answer["validation"] == {
        "citation_valid": True,
        "errors": [],
        "warnings": [],
        "sentence_groundedness": 1.0,
        "answer_grounded": True,
        "verified_by": "citations",
        "struck": [],
    }
    for sentence in answer["sentences"]:
        for index in sentence["citations"]:
            citation = answer["citations"][index]
            document = services.store.document(citation["document_id"])
            assert document.text[citation["start"] : citation["end"]] == citation["quote"]
            assert citation["quote"] == sentence["text"]
            assert f"{sentence['text']} {citation['marker']}" in answer["answer"]
    cited = {citation["passage_id"] for citation in answer["citations"]}
    counts = answer["retrieval"]["per_corpus"]
    assert sum(corpus["cited"] for corpus in counts.values()) == len(cited)
    assert answer["composite_target"] == "k10_extractive_sentences_atlas_demo"
    assert answer["passages"] is None
    assert answer["cache_hit"] is False


def test_context_comes_when_asked_for(client: FlaskClient) -> None:
    passages = ask(client, include_context=True)["passages"]
    assert len(passages) == 10
    assert passages[0]["marker"] == f"[{passages[0]['document_id']} p{passages[0]['page']}]"


def test_ids_given_by_the_client_come_back(client: FlaskClient) -> None:
    answer = ask(client, qa_id="q-1", session_id="s-1")
    assert (answer["qa_id"], answer["session_id"]) == ("q-1", "s-1")


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("What is quantum chromodynamics?", "no_evidence"),
        ("What was decided in Shelby County v. Holder?", "not_held"),
        ("What did Miller v. California decide about obscenity?", "not_held"),
        ("the", "no_subject"),
        ("Who was the first person to climb a mountain in Wales?", "not_held"),
    ],
)
def test_weak_evidence_gives_no_answer_and_a_reason(
    client: FlaskClient, question: str, code: str
) -> None:
    answer = ask(client, question=question)
    assert answer["decision"] == "ABSTAIN"
    assert answer["reason"]["code"] == code
    assert answer["answer"] is None
    assert answer["citations"] == answer["sentences"] == []


def test_sources_that_are_all_too_old_give_no_answer(client: FlaskClient) -> None:
    answer = ask(
        client,
        corpus_filter="legal_uk",
        filters={"date": {"to": "1932"}},
        question="Does a manufacturer owe the consumer a duty of care?",
        freshness_days=365,
    )
    assert answer["reason"]["code"] == "stale_evidence"


def test_a_corpus_filter_reaches_search_and_answer(client: FlaskClient) -> None:
    for chosen in ("legal_us", ["legal_us"]):
        answer = ask(client, corpus_filter=chosen, include_context=True)
        assert answer["retrieval"]["corpora"] == ["legal_us"]
        assert {passage["corpus"] for passage in answer["passages"]} == {"legal_us"}


def test_search_returns_signals_and_exact_highlights(client: FlaskClient) -> None:
    response = client.post("/api/search", json={"question": QUESTION, "k": 5})
    document = response.get_json()
    assert len(document["passages"]) == 5
    first = document["passages"][0]
    assert first["corpus"] == "legal_uk"
    assert set(first["signals"]) >= {"semantic", "bm25", "phrase", "proximity", "title"}
    (highlight,) = first["highlights"]
    assert "libel" in first["text"][highlight["start"] : highlight["end"]]
    assert document["retrieval"]["legs"] == ["dense", "lexical"]
    assert document["timings_ms"]["total"] > 0


def test_the_target_of_a_request_decides(client: FlaskClient) -> None:
    for target, reranker, kept in (("k10_lexical", "lexical", 10), ("k15_quota", "fused", 15)):
        body = {"question": QUESTION, "target": target}
        document = client.post("/api/search", json=body).get_json()
        assert document["retrieval"]["reranker"] == reranker
        assert len(document["passages"]) == kept


def test_what_can_be_chosen_and_what_runs(client: FlaskClient) -> None:
    corpora = client.get("/api/corpora").get_json()
    assert corpora["all"] == [corpus["id"] for corpus in corpora["corpora"]]
    assert corpora["filter_fields"]["tags"]["documents"] == 84
    targets = client.get("/api/targets").get_json()
    assert targets["default"] == "k10_extractive"
    assert [target["name"] for target in targets["targets"]] == [
        "k10_extractive",
        "k10_lexical",
        "k15_quota",
        "k5_mistral",
        "k5_openai",
    ]
    config = client.get("/api/config").get_json()
    assert config["collection"] == "atlas_demo"
    assert config["tracing"] is False
    assert client.get("/api/health").get_json()["status"] == "ok"


def test_passages_and_documents_are_found_by_id(client: FlaskClient) -> None:
    passage_id = ask(client)["citations"][0]["passage_id"]
    passage = client.get(f"/api/passages/{passage_id}").get_json()
    document = client.get(f"/api/documents/{passage['document_id']}").get_json()
    assert document["text"][passage["start"] : passage["end"]] == passage["text"]
    assert passage_id in [p["passage_id"] for p in document["passages"]]


def test_the_openapi_document_lists_every_route(client: FlaskClient) -> None:
    paths = client.get("/api/openapi.json").get_json()["paths"]
    assert {
        "/api/ask",
        "/api/ask/stream",
        "/api/ask/{qa_id}",
        "/api/ask/{qa_id}/export",
        "/api/ask/{qa_id}/link",
        "/api/ask/{qa_id}/stream",
        "/api/cache/clear",
        "/api/collections",
        "/api/collections/{name}/rollback",
        "/api/documents",
        "/api/ingest",
        "/api/jobs",
        "/api/jobs/{job_id}",
        "/api/jobs/{job_id}/events",
        "/api/sources",
        "/api/stats",
        "/api/feedback",
        "/api/feedback/export",
        "/api/feedback/{qa_id}",
        "/api/export",
        "/api/sessions/{session_id}/export",
        "/api/shared/{token}",
        "/api/validate",
        "/api/search",
        "/api/facets",
        "/api/citations",
        "/api/zotero",
        "/api/page-image/{id}",
        "/api/page-boxes/{id}",
        "/api/suggestions",
        "/api/concordance",
        "/api/trends",
        "/api/collocates",
        "/api/keywords",
        "/api/counts",
        "/api/corpora",
        "/api/targets",
        "/api/config",
        "/api/config/reranker",
        "/api/live",
        "/api/ready",
        "/api/health",
        "/api/passages/{id}",
        "/api/documents/{id}",
        "/metrics",
    } == set(paths)
    assert client.get("/api/swagger").status_code == 200


def events(text: str) -> list[tuple[int, str, dict]]:
    frames = [frame for frame in text.split("\n\n") if frame and not frame.startswith(":")]
    parsed = []
    for frame in frames:
        fields = dict(line.split(": ", 1) for line in frame.splitlines())
        parsed.append((int(fields["id"]), fields["event"], json.loads(fields["data"])))
    return parsed


def test_the_stream_sends_references_then_tokens_then_the_whole_answer(
    client: FlaskClient,
) -> None:
    response = client.post("/api/ask/stream", json={"question": QUESTION})
    assert response.content_type.startswith("text/event-stream")
    sent = events(response.text)
    assert [number for number, *_ in sent] == list(range(1, len(sent) + 1))
    names = [name for _, name, _ in sent]
    assert names[0] == "references"
    assert names[-1] == "complete"
    assert set(names[1:-1]) == {"token", "sentence"}
    checked = [data for _, name, data in sent if name == "sentence"]
    assert [data["number"] for data in checked] == list(range(1, len(checked) + 1))
    assert all(data["grounded"] and data["markers"] for data in checked)
    text = "".join(data["text"] for _, name, data in sent if name == "token")
    complete = sent[-1][2]
    assert text.strip() == complete["answer"]
    assert len(sent[0][2]["passages"]) == 10


def test_the_stream_and_the_document_agree(client: FlaskClient) -> None:
    body = {"question": QUESTION, "session_id": "same"}
    streamed = events(client.post("/api/ask/stream", json=body).text)[-1][2]
    at_once = client.post("/api/ask", json=body).get_json()
    for document in (streamed, at_once):
        for name in ("timings_ms", "trace_id", "span_id", "created", "qa_id"):
            del document[name]
    assert streamed == at_once


def test_chat_history_does_not_change_what_is_found(client: FlaskClient) -> None:
    history = [{"role": "user", "content": "Tell me about abortion in New Zealand."}] * 3
    alone = ask(client, include_context=True)
    later = ask(client, include_context=True, chat_history=history)
    assert [p["passage_id"] for p in alone["passages"]] == [
        p["passage_id"] for p in later["passages"]
    ]


@pytest.mark.parametrize("year", [1957, "1957", 1957.0])
def test_a_year_can_be_given_as_a_number_or_a_text(client: FlaskClient, year: object) -> None:
    for date in ({"from": year, "to": year}, year, [year]):
        body = {"question": "medical negligence", "filters": {"date": date}, "k": 3}
        passages = client.post("/api/search", json=body).get_json()["passages"]
        dates = {passage["date"] for passage in passages}
        assert dates == {"1957-02-26"}


def test_a_question_about_now_is_not_answered_from_superseded_sources(
    client: FlaskClient,
) -> None:
    tried = "test of dishonesty in criminal proceedings in England and Wales?"
    now = ask(client, question=f"What is the current {tried}")
    assert now["citations"]
    assert "legal_uk.r-v-ghosh-1982" not in {c["document_id"] for c in now["citations"]}
    then = ask(client, question="What two-stage test of dishonesty did R v Ghosh lay down?")
    assert "legal_uk.r-v-ghosh-1982" in {c["document_id"] for c in then["citations"]}
    warnings = then["validation"]["warnings"]
    assert any("superseded by Ivey v Genting" in warning for warning in warnings)


def test_explain_lists_every_candidate_with_its_legs_and_signals(client: FlaskClient) -> None:
    body = {"question": QUESTION, "explain": True, "corpus_filter": "legal_us"}
    found = client.post("/api/search", json=body).get_json()
    counts = found["retrieval"]["per_corpus"]["legal_us"]
    candidates = found["candidates"]
    assert [c["rank"] for c in candidates] == list(range(1, counts["candidates"] + 1))
    for leg in ("dense", "lexical"):
        ranks = [c["legs"][leg]["rank"] for c in candidates if leg in c["legs"]]
        assert sorted(ranks) == list(range(1, counts[leg] + 1))
    assert all(c["legs"] and c["corpus"] == "legal_us" for c in candidates)
    scores = [c["score"] for c in candidates]
    assert scores == sorted(scores, reverse=True)
    by_id = {c["passage_id"]: c for c in candidates}
    for passage in found["passages"]:
        assert passage["signals"] == by_id[passage["passage_id"]]["signals"]
    assert client.post("/api/search", json={"question": QUESTION}).get_json()["candidates"] is None


def test_facets_count_the_documents_found_under_the_filter(client: FlaskClient) -> None:
    body = {"question": QUESTION, "facets": ["status", "date"]}
    facets = client.post("/api/search", json=body).get_json()["facets"]
    assert {"value": "repealed", "documents": 1} in facets["status"]
    assert {"value": "1966", "documents": 1} in facets["date"]
    pairs = [(-count["documents"], count["value"]) for count in facets["date"]]
    assert pairs == sorted(pairs)
    body["filters"] = {"date": {"from": "1960", "to": "1969"}}
    narrowed = client.post("/api/search", json=body).get_json()["facets"]["date"]
    assert narrowed
    assert all("1960" <= count["value"] <= "1969" for count in narrowed)
    every = client.post("/api/search", json={"question": QUESTION, "facets": True}).get_json()
    assert {"status", "date", "author", "content_type"} <= every["facets"].keys()


def test_age_is_counted_from_the_day_the_caller_gives(client: FlaskClient) -> None:
    body = {"question": "Katz telephone booth", "freshness_days": 366 * 3, "k": 5}
    now, then = (
        client.post("/api/search", json=body | extra).get_json()["retrieval"]["freshness"]
        for extra in ({}, {"as_of": "1968-01-01"})
    )
    assert now["violations"] > then["violations"]
