"""Traces in a real Phoenix: the span tree with kinds, documents and scores."""

import json

import httpx2
import pytest

from atlas_search.core.domain import LEGS
from tests.servers import wait_for

pytestmark = pytest.mark.phoenix

QUESTION = "Can a local authority sue a newspaper for libel?"
CORPORA = ("legal_uk", "legal_us", "legislation_nz")
TREE = {
    "ask": ("CHAIN", None),
    "search": ("CHAIN", "ask"),
    "embed": ("EMBEDDING", "search"),
    **{f"retrieve {corpus}": ("CHAIN", "search") for corpus in CORPORA},
    **{
        f"{leg} {corpus}": ("RETRIEVER", f"retrieve {corpus}") for leg in LEGS for corpus in CORPORA
    },
    "rerank": ("RERANKER", "search"),
    "balance": ("CHAIN", "search"),
    "context": ("CHAIN", "ask"),
    "generate": ("LLM", "ask"),
    "verify": ("GUARDRAIL", "ask"),
}


def spans_of(phoenix: str, trace_id: str, count: int) -> dict[str, dict]:
    """The spans of a trace by name, once `count` of them have arrived."""

    def arrived() -> list[dict] | None:
        found = httpx2.get(
            f"{phoenix}/v1/projects/atlas-test/spans",
            params={"trace_id": trace_id, "limit": 100},
        )
        # 404 until the project's first span arrives
        spans = found.json()["data"] if found.is_success else []
        return spans if len(spans) >= count else None

    spans = wait_for(arrived, 60, f"{count} spans of {trace_id}")
    assert len(spans) == count
    return {span["name"]: span for span in spans}


@pytest.fixture(scope="module")
def answer(server: str) -> dict:
    body = {"question": QUESTION, "session_id": "conversation-1", "include_context": True}
    return httpx2.post(f"{server}/api/ask", json=body, timeout=60).json()


@pytest.fixture(scope="module")
def spans(phoenix: str, answer: dict) -> dict[str, dict]:
    return spans_of(phoenix, answer["trace_id"], len(TREE))


def test_the_span_tree_has_the_kinds_and_parents_of_the_design(spans: dict[str, dict]) -> None:
    names = {span["context"]["span_id"]: name for name, span in spans.items()}
    assert {
        name: (span["span_kind"], names.get(span["parent_id"])) for name, span in spans.items()
    } == TREE
    assert {span["status_code"] for span in spans.values()} == {"OK"}


def test_the_root_holds_question_answer_session_and_run(
    spans: dict[str, dict], answer: dict
) -> None:
    attributes = spans["ask"]["attributes"]
    assert attributes["input.value"] == QUESTION
    assert attributes["output.value"] == answer["answer"]
    assert attributes["session.id"] == "conversation-1"
    assert attributes["composite_target"] == "k10_extractive_sentences_atlas_demo"
    assert attributes["decision"] == "ANSWER"
    assert attributes["corpus_filter"] == "all"
    assert attributes["documents_searched"] == answer["scope"]["documents"] > 0
    assert attributes["passages_searched"] == answer["scope"]["passages"] > 0


def test_retrievers_hold_their_documents_with_scores_and_texts(
    spans: dict[str, dict], answer: dict
) -> None:
    corpus = spans["retrieve legal_uk"]["attributes"]
    assert corpus["large_retrieval_size"] == 200
    counts = answer["retrieval"]["per_corpus"]["legal_uk"]
    assert corpus["dense"] == counts["dense"] > 100
    attributes = spans["dense legal_uk"]["attributes"]
    assert attributes["score_is"] == "cosine"
    assert spans["lexical legal_uk"]["attributes"]["candidates"] == counts["lexical"]
    first = "retrieval.documents.0.document"
    assert attributes[f"{first}.id"].startswith("legal_uk.derbyshire-county-council")
    assert 0.5 < attributes[f"{first}.score"] <= 1.0
    assert "libel" in attributes[f"{first}.content"]
    scores = [
        attributes[f"retrieval.documents.{index}.document.score"]
        for index in range(attributes["candidates"])
    ]
    assert scores == sorted(scores, reverse=True)
    assert "retrieval.documents.5.document.content" not in attributes


def test_the_reranker_holds_the_order_it_made(spans: dict[str, dict], answer: dict) -> None:
    attributes = spans["rerank"]["attributes"]
    assert attributes["reranker.model_name"] == "fused"
    assert attributes["reranker.query"] == QUESTION
    scores = [
        attributes[f"reranker.output_documents.{index}.document.score"] for index in range(10)
    ]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == pytest.approx(answer["passages"][0]["score"], abs=1e-6)


def test_search_holds_what_was_asked_of_it_and_counts_per_corpus(
    spans: dict[str, dict], answer: dict
) -> None:
    attributes = spans["search"]["attributes"]
    assert attributes["search_type"] == "hybrid"
    assert attributes["search_k"] == 10
    assert attributes["pooling"] == "mean"
    assert attributes["corpus_filter"] == "all"
    for corpus, counts in answer["retrieval"]["per_corpus"].items():
        assert attributes[f"candidates.{corpus}"] == counts["candidates"]
        assert attributes[f"kept.{corpus}"] == counts["kept"]


def test_the_model_call_holds_its_prompt_and_the_guardrail_its_finding(
    spans: dict[str, dict],
) -> None:
    prompt = spans["generate"]["attributes"]
    assert prompt["llm.input_messages.0.message.role"] == "user"
    assert prompt["llm.input_messages.0.message.content"] == QUESTION
    assert spans["verify"]["attributes"]["citation_valid"] is True
    assert json.loads(spans["verify"]["attributes"]["output.value"])["errors"] == []


def test_a_question_without_an_answer_is_traced_without_a_model_call(
    phoenix: str, server: str
) -> None:
    body = {"question": "How long should I roast a chicken?"}
    answer = httpx2.post(f"{server}/api/ask", json=body, timeout=60).json()
    names = set(TREE) - {"context", "generate", "verify"}
    spans = spans_of(phoenix, answer["trace_id"], len(names))
    assert set(spans) == names
    assert spans["ask"]["attributes"]["reason"] == answer["reason"]["code"] == "no_evidence"


def test_a_browsers_traceparent_does_not_take_the_trace_over(phoenix: str, server: str) -> None:
    foreign = "0af7651916cd43dd8448eb211c80319c"
    header = {"traceparent": f"00-{foreign}-b7ad6b7169203331-01"}
    answer = httpx2.post(
        f"{server}/api/ask", json={"question": QUESTION}, headers=header, timeout=60
    ).json()
    assert answer["trace_id"] != foreign
    assert spans_of(phoenix, answer["trace_id"], len(TREE))["ask"]["parent_id"] is None


def test_a_streamed_answer_is_one_whole_trace(phoenix: str, server: str) -> None:
    with httpx2.stream(
        "POST", f"{server}/api/ask/stream", json={"question": QUESTION}, timeout=60
    ) as response:
        last = [line for line in response.iter_lines() if line.startswith("data: ")][-1]
    trace_id = json.loads(last.removeprefix("data: "))["trace_id"]
    assert set(spans_of(phoenix, trace_id, len(TREE))) == set(TREE)


def test_phoenix_opens_the_trace_at_the_link_the_page_shows(
    phoenix: str, server: str, answer: dict, spans: dict[str, dict]
) -> None:
    config = httpx2.get(f"{server}/api/config").json()
    assert config["tracing"] is True
    assert config["phoenix_url"] == phoenix
    assert httpx2.get(
        f"{phoenix}/redirects/traces/{answer['trace_id']}", follow_redirects=True
    ).is_success
