"""The bundled collection's traces in a real Phoenix: the span tree, filters, and the link to it."""

from typing import Any

import httpx2
import pytest

from atlas_search.core.domain import LEGS
from atlas_search.core.telemetry.span import NAME_JOINT
from tests.servers import wait_for

pytestmark = [pytest.mark.phoenix, pytest.mark.thorough]

PROJECT = "atlas-test"
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
QUERY = """
query ($project: String!, $condition: String!) {
  getProjectByName(name: $project) {
    spans(first: 1000, filterCondition: $condition) { edges { node { spanId name } } }
  }
}
"""


def spans_of(phoenix: str, trace_id: str, root: str) -> list[dict[str, Any]]:
    """The spans of a trace, once its root, which ends last, has arrived."""

    def arrived() -> list[dict[str, Any]] | None:
        address = f"{phoenix}/v1/projects/{PROJECT}/spans"
        response = httpx2.get(address, params={"trace_id": trace_id, "limit": 100})
        # 404 until the project's first span arrives
        spans = response.json()["data"] if response.is_success else []
        for span in spans:
            span["name"] = span["name"].partition(NAME_JOINT)[0]
        return spans if root in {span["context"]["span_id"] for span in spans} else None

    return wait_for(arrived, 60, f"the spans of {trace_id}")


@pytest.fixture(scope="module")
def answers(phoenix: str, server: str) -> list[dict[str, Any]]:
    """An answer from all corpora, and one from a single corpus, both in Phoenix."""
    own = [
        httpx2.post(f"{server}/api/ask", json={"question": QUESTION, **body}, timeout=60).json()
        for body in ({}, {"corpus_filter": "legal_uk", "session_id": "alone"})
    ]
    for answer in own:
        spans_of(phoenix, answer["trace_id"], answer["span_id"])
    return own


def filtered(phoenix: str, condition: str) -> set[str]:
    """The ids of the spans that Phoenix' own filter keeps."""
    body = {"query": QUERY, "variables": {"project": PROJECT, "condition": condition}}
    answer = httpx2.post(f"{phoenix}/graphql", json=body, timeout=60).json()
    assert "errors" not in answer, answer
    edges = answer["data"]["getProjectByName"]["spans"]["edges"]
    return {edge["node"]["spanId"] for edge in edges}


def test_the_tree_has_its_kinds_and_parents(phoenix: str, answers: list[dict[str, Any]]) -> None:
    spans = spans_of(phoenix, answers[0]["trace_id"], answers[0]["span_id"])
    names = {span["context"]["span_id"]: span["name"] for span in spans}
    assert len(spans) == len(TREE)
    assert {
        span["name"]: (span["span_kind"], names.get(span["parent_id"])) for span in spans
    } == TREE
    assert {span["status_code"] for span in spans} == {"OK"}


@pytest.mark.parametrize(
    ("condition", "every", "alone"),
    [
        ("attributes['corpus_filter'] == 'legal_uk'", False, True),
        ("attributes['corpus_filter'] == 'all'", True, False),
        ("attributes['candidates']['legal_us'] == {candidates}", True, False),
        ("attributes['kept']['legal_us'] == {kept}", True, False),
        ("attributes['cited']['legal_us'] == {cited}", True, False),
        ("attributes['imbalance']['kept'] > 0", True, False),
        ("attributes['session']['id'] == 'alone'", False, True),
        ("llm.token_count.total > 0", False, False),  # or calls would count twice
    ],
)
def test_roots_are_filtered_by_what_they_say(
    phoenix: str, answers: list[dict[str, Any]], condition: str, *, every: bool, alone: bool
) -> None:
    counts = answers[0]["retrieval"]["per_corpus"]["legal_us"]
    ids = filtered(phoenix, f"'ask' in name and {condition.format(**counts)}")
    assert [answer["span_id"] in ids for answer in answers] == [every, alone]


def test_a_session_is_found_by_every_span(phoenix: str, answers: list[dict[str, Any]]) -> None:
    ids = filtered(phoenix, "attributes['session']['id'] == 'alone' and name == 'rerank'")
    assert len(ids) == 1


def test_phoenix_opens_the_trace_at_the_link_that_the_page_shows(
    phoenix: str, server: str, answers: list[dict[str, Any]]
) -> None:
    config = httpx2.get(f"{server}/api/config").json()
    assert (config["tracing"], config["phoenix_url"]) == (True, phoenix)
    link = f"{phoenix}/redirects/traces/{answers[0]['trace_id']}"
    assert httpx2.get(link, follow_redirects=True).is_success
