"""What the root spans say can be filtered by in a real Phoenix, and read back as it was told."""

from typing import Any

import httpx2
import pytest

from tests.servers import wait_for
from tests.test_phoenix import spans_of

pytestmark = pytest.mark.phoenix

PROJECT = "atlas-test"
SPANS_OF_SEARCH = 13  # search, embed, rerank and balance; of each of three corpora itself and legs
BALANCED = "Can a local authority sue a newspaper for libel?"

QUERY = """
query ($project: String!, $condition: String!) {
  getProjectByName(name: $project) {
    spans(first: 1000, filterCondition: $condition) { edges { node { spanId name } } }
  }
}
"""


def filtered(phoenix: str, condition: str) -> set[str]:
    """The ids of the spans that Phoenix' own filter keeps."""
    body = {"query": QUERY, "variables": {"project": PROJECT, "condition": condition}}
    answer = httpx2.post(f"{phoenix}/graphql", json=body, timeout=60).json()
    assert "errors" not in answer, answer
    edges = answer["data"]["getProjectByName"]["spans"]["edges"]
    return {edge["node"]["spanId"] for edge in edges}


@pytest.fixture(scope="module")
def answers(phoenix: str, server: str) -> list[dict[str, Any]]:
    """An answer from all corpora, and one from a single corpus, both in Phoenix."""
    found = [
        httpx2.post(f"{server}/api/ask", json=body, timeout=60).json()
        for body in (
            {"question": BALANCED},
            {"question": BALANCED, "corpus_filter": "legal_uk", "session_id": "alone"},
        )
    ]
    for answer in found:
        wait_for(lambda id_=answer["span_id"]: held(phoenix, id_), 60, "the root span")
    return found


def held(phoenix: str, span_id: str) -> bool | None:
    """True once Phoenix has a span, else None: a probe for `wait_for`."""
    found = httpx2.get(f"{phoenix}/v1/projects/{PROJECT}/spans", params={"limit": 1000})
    spans = found.json()["data"] if found.is_success else []
    return span_id in {span["context"]["span_id"] for span in spans} or None


def test_roots_are_filtered_by_corpus(phoenix: str, answers: list[dict[str, Any]]) -> None:
    every, alone = (answer["span_id"] for answer in answers)
    roots = "name == 'ask' and "
    assert alone in filtered(phoenix, roots + "attributes['corpus_filter'] == 'legal_uk'")
    assert every not in filtered(phoenix, roots + "attributes['corpus_filter'] == 'legal_uk'")
    assert every in filtered(phoenix, roots + "attributes['corpus_filter'] == 'all'")


def test_roots_are_filtered_by_the_passages_of_a_corpus(
    phoenix: str, answers: list[dict[str, Any]]
) -> None:
    every, alone = (answer["span_id"] for answer in answers)
    counts = answers[0]["retrieval"]["per_corpus"]["legal_us"]
    for stage in ("candidates", "kept", "cited"):
        same = f"name == 'ask' and attributes['{stage}']['legal_us'] == {counts[stage]}"
        assert every in filtered(phoenix, same)
        assert alone not in filtered(phoenix, same)
    uneven = "name == 'ask' and attributes['imbalance']['kept'] > 0"
    assert every in filtered(phoenix, uneven)
    assert alone not in filtered(phoenix, uneven)


def test_a_session_is_found_by_every_span(phoenix: str, answers: list[dict[str, Any]]) -> None:
    found = filtered(phoenix, "attributes['session']['id'] == 'alone' and name == 'rerank'")
    assert len(found) == 1


def test_a_bare_search_is_a_trace_with_the_id_it_returns(phoenix: str, server: str) -> None:
    found = httpx2.post(f"{server}/api/search", json={"question": BALANCED}, timeout=60).json()
    spans = spans_of(phoenix, found["trace_id"], SPANS_OF_SEARCH)
    root = spans["search"]
    assert root["parent_id"] is None
    for corpus, counts in found["retrieval"]["per_corpus"].items():
        assert root["attributes"][f"kept.{corpus}"] == counts["kept"]
    for place, passage in enumerate(found["passages"]):
        document = f"retrieval.documents.{place}.document"
        assert root["attributes"][f"{document}.id"] == passage["passage_id"]
        assert root["attributes"][f"{document}.score"] == pytest.approx(passage["score"], abs=1e-6)
        # Phoenix reads the metadata, and gives its parts back one by one
        signals = f"{document}.metadata.signals."
        assert passage["signals"] == {
            name.removeprefix(signals): value
            for name, value in root["attributes"].items()
            if name.startswith(signals)
        }
        assert root["attributes"][f"{document}.metadata.score_is"] == "fused"


def test_tokens_of_the_root_are_not_counted_twice(
    phoenix: str, answers: list[dict[str, Any]]
) -> None:
    assert answers[0]["span_id"] not in filtered(phoenix, "llm.token_count.total > 0")
