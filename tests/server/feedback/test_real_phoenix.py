"""Ratings in a real Phoenix: on the root span, and on the documents of a span."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from atlas_search.building.flow import BuildReport
from tests.conftest import free_port, require
from tests.servers import ATLAS, PHOENIX, START_SECONDS, Server, answers, running, wait_for

pytestmark = [pytest.mark.phoenix, pytest.mark.thorough]

QUESTION = "Can a local authority sue a newspaper for libel?"
PROJECT = "/v1/projects/atlas-test"
DOCUMENTS = """
query ($trace: ID!, $project: String!) {
  getProjectByName(name: $project) { trace(traceId: $trace) { spans(first: 1000) { edges { node {
    spanId name documentEvaluations { name label score documentPosition }
  } } } } }
}
"""


@pytest.fixture(scope="module")
def answer(server: str) -> dict[str, Any]:
    body = {"question": QUESTION, "include_context": True}
    return httpx2.post(f"{server}/api/ask", json=body, timeout=60).json()


def rate(server: str, answer: dict[str, Any], user: str, **rating: object) -> dict[str, Any]:
    body = {"qa_id": answer["qa_id"], "user_id": user, **rating}
    response = httpx2.post(f"{server}/api/feedback", json=body, timeout=30)
    assert response.status_code == 200, response.text
    return response.json()


def is_sent(server: str, answer: dict[str, Any], user: str) -> bool:
    results = httpx2.get(f"{server}/api/feedback/{answer['qa_id']}", params={"user_id": user})
    return bool(results.json()["sent"])


def wait_until_sent(server: str, answer: dict[str, Any], user: str, seconds: float = 60) -> None:
    wait_for(lambda: is_sent(server, answer, user) or None, seconds, "the vote in Phoenix")


def withdraw(server: str, answer: dict[str, Any], user: str) -> None:
    path = f"{server}/api/feedback/{answer['qa_id']}"
    assert httpx2.delete(path, params={"user_id": user}).is_success


def annotations(phoenix: str, answer: dict[str, Any]) -> dict[tuple[str, str], dict]:
    """The results on the root span by user and name, once those on the trace are the same."""

    def alike() -> tuple[dict] | None:
        of_trace, of_span = (_annotations(phoenix, answer, what) for what in ("trace", "span"))
        return (of_span,) if of_trace == of_span else None

    return wait_for(alike, 60, "the same annotations on trace and span")[0]


def _annotations(phoenix: str, answer: dict[str, Any], what: str) -> dict[tuple[str, str], dict]:
    query = {f"{what}_ids": answer[f"{what}_id"], "limit": 100}
    results = httpx2.get(f"{phoenix}{PROJECT}/{what}_annotations", params=query)
    return {
        (one["metadata"]["user_id"], one["name"]): {
            field: value for field, value in one["result"].items() if value is not None
        }
        for one in results.json()["data"]
    }


def wait_for_annotations(
    phoenix: str, answer: dict[str, Any], expected: Callable[[dict], bool]
) -> dict[tuple[str, str], dict]:
    def arrived() -> dict | None:
        results = annotations(phoenix, answer)
        return results if expected(results) else None

    return wait_for(arrived, 120, "the annotations")


def test_a_vote_appears_on_the_root_span_is_changed_and_withdrawn(
    phoenix: str, server: str, answer: dict[str, Any]
) -> None:
    assert answer["span_id"]
    rate(server, answer, "anna", thumb="up", scores={"clarity": 4}, tags=["a"], comment="Good.")
    rate(server, answer, "bert", thumb="up", comment="ΐ 😀 <b>\n" + "x" * 3990)
    wait_until_sent(server, answer, "anna")
    wait_until_sent(server, answer, "bert")
    results = annotations(phoenix, answer)
    assert results == {
        ("anna", "thumbs"): {"label": "up", "score": 1.0},
        ("anna", "clarity"): {"score": 4.0},
        ("anna", "tags"): {"label": "a"},
        ("anna", "comment"): {"explanation": "Good."},
        ("bert", "thumbs"): {"label": "up", "score": 1.0},
        ("bert", "comment"): {"explanation": "ΐ 😀 <b>\n" + "x" * 3990},
    }
    spans = httpx2.get(f"{phoenix}{PROJECT}/spans", params={"trace_id": answer["trace_id"]})
    (root,) = [span for span in spans.json()["data"] if span["parent_id"] is None]
    assert root["context"]["span_id"] == answer["span_id"]

    rate(server, answer, "anna", thumb="down", comment=None)
    wait_until_sent(server, answer, "anna")
    changed = annotations(phoenix, answer)
    assert changed["anna", "thumbs"] == {"label": "down", "score": 0.0}
    assert ("anna", "comment") not in changed
    assert len(changed) == 5

    withdraw(server, answer, "anna")
    wait_for_annotations(phoenix, answer, lambda results: {user for user, _ in results} == {"bert"})


def documents(
    phoenix: str, answer: dict[str, Any]
) -> dict[tuple[str, str], tuple[str, float | None]]:
    """Labels and scores by the name of the annotation and the id of the passage."""
    variables = {"trace": answer["trace_id"], "project": "atlas-test"}
    body = {"query": DOCUMENTS, "variables": variables}
    read = httpx2.post(f"{phoenix}/graphql", json=body).json()
    assert "errors" not in read, read
    nodes = [edge["node"] for edge in read["data"]["getProjectByName"]["trace"]["spans"]["edges"]]
    spans = httpx2.get(
        f"{phoenix}{PROJECT}/spans", params={"trace_id": answer["trace_id"], "limit": 100}
    ).json()["data"]
    attributes = {span["context"]["span_id"]: span["attributes"] for span in spans}
    return {
        (one["name"], _document(attributes[node["spanId"]], one["documentPosition"])): (
            one["label"],
            one["score"],
        )
        for node in nodes
        for one in node["documentEvaluations"]
    }


def _document(attributes: dict[str, Any], position: int) -> str:
    lists = ("retrieval.documents", "reranker.output_documents")
    keys = [f"{prefix}.{position}.document.id" for prefix in lists]
    return next(attributes[key] for key in keys if key in attributes)


def test_votes_on_passages_and_citations_are_on_their_documents(
    phoenix: str, server: str, answer: dict[str, Any]
) -> None:
    first, last = answer["passages"][0]["passage_id"], answer["passages"][-1]["passage_id"]
    cited = answer["citations"][0]["passage_id"]
    rate(server, answer, "cleo", passages={first: "relevant", last: "irrelevant"})
    rate(server, answer, "cleo", citations={"1": "does_not_support"})
    wait_until_sent(server, answer, "cleo")
    assert documents(phoenix, answer) == {
        ("relevance", first): ("relevant", 1.0),
        ("relevance", last): ("irrelevant", 0.0),
        ("citation_support", cited): ("does_not_support", 0.0),
    }
    rate(server, answer, "cleo", passages={last: None}, thumb="up")
    wait_until_sent(server, answer, "cleo")
    assert documents(phoenix, answer)["relevance", last] == ("withdrawn", None)


@contextmanager
def phoenix_on(port: int, folder: Path) -> Iterator[Server]:
    """A Phoenix of the test's own, which keeps what it has in the folder."""
    environment = {"PHOENIX_PORT": str(port), "PHOENIX_WORKING_DIR": str(folder)}
    command = (*ATLAS, "phoenix", "--phoenix-executable", PHOENIX)
    with running(*command, environment=environment, folder=folder) as started:
        address = started.address("Phoenix")
        wait_for(lambda: answers(f"{address}/healthz"), START_SECONDS, "Phoenix")
        yield started


@contextmanager
def atlas_before(address: str, demo: BuildReport, stores: Path, folder: Path) -> Iterator[str]:
    """A server of the bundled collection with that Phoenix; its address."""
    environment = {
        "CHROMA_PERSIST_DIRECTORY": str(stores),
        "CHROMA_COLLECTION_NAME": demo.manifest.collection,
        "ATLAS_PORT": "0",
        "PHOENIX_COLLECTOR_ENDPOINT": address,
        "PHOENIX_PROJECT_NAME": "atlas-test",
        "QUERY_CACHE_ENABLED": "0",
        "OTEL_BSP_SCHEDULE_DELAY": "200",
    }
    with running(*ATLAS, "serve", environment=environment, folder=folder) as started:
        yield started.address("Atlas")


def ask(server: str) -> dict[str, Any]:
    body = {"question": QUESTION}
    results: dict[str, Any] = httpx2.post(f"{server}/api/ask", json=body, timeout=60).json()
    return results


def test_what_is_said_while_phoenix_is_down_arrives_when_it_is_back(
    demo: BuildReport, stores: Path, tmp_path: Path
) -> None:
    require("phoenix", present=PHOENIX.exists(), remedy="`make phoenix-venv` has not run")
    port, kept, own = free_port(), tmp_path / "phoenix", tmp_path / "atlas"
    kept.mkdir()
    own.mkdir()
    address = f"http://127.0.0.1:{port}"
    with atlas_before(address, demo, stores, own) as server:
        with phoenix_on(port, kept) as process:
            before = ask(server)
            for user in ("anna", "bert", "cleo"):
                rate(server, before, user, thumb="up", comment="Good.")
                wait_until_sent(server, before, user)
            process.stop()
        assert answers(f"{address}/healthz") is None
        rate(server, before, "anna", thumb="down", comment=None, scores={"clarity": 2})
        withdraw(server, before, "bert")
        rate(server, before, "dora", thumb="up")
        meanwhile = ask(server)  # its span waits likewise
        rate(server, meanwhile, "anna", thumb="up")
        assert not any(is_sent(server, before, user) for user in ("anna", "dora"))
        assert not is_sent(server, meanwhile, "anna")
        with phoenix_on(port, kept):
            for answer, user in ((before, "anna"), (before, "dora"), (meanwhile, "anna")):
                wait_until_sent(server, answer, user, 240)
            assert annotations(address, before) == {
                ("anna", "thumbs"): {"label": "down", "score": 0.0},
                ("anna", "clarity"): {"score": 2.0},
                ("cleo", "thumbs"): {"label": "up", "score": 1.0},
                ("cleo", "comment"): {"explanation": "Good."},
                ("dora", "thumbs"): {"label": "up", "score": 1.0},
            }
            assert annotations(address, meanwhile) == {
                ("anna", "thumbs"): {"label": "up", "score": 1.0}
            }
